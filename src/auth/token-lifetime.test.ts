import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { type LifetimeRequest, lifetime } from './token-lifetime.ts'

const base: LifetimeRequest = {
  ttlSeconds: 0,
  periodSeconds: 0,
  explicitMaxTtlSeconds: 0,
  defaultTtlSeconds: 1000,
  maxTtlSeconds: 5000,
  issuedAtMs: 0,
  nowMs: 0,
}

const ROWS: readonly { name: string; given: Partial<LifetimeRequest>; ttl: number | undefined; warns?: boolean }[] = [
  { name: 'nothing asked: the default', given: {}, ttl: 1000 },
  { name: 'what was asked', given: { ttlSeconds: 60 }, ttl: 60 },
  { name: 'more than the maximum is capped', given: { ttlSeconds: 6000 }, ttl: 5000, warns: true },
  { name: 'an explicit maximum caps', given: { ttlSeconds: 600, explicitMaxTtlSeconds: 100 }, ttl: 100, warns: true },
  {
    name: 'a renewal reaches no further than the maximum',
    given: { ttlSeconds: 1000, nowMs: 4_500_000 },
    ttl: 500,
    warns: true,
  },
  { name: 'T-01: two seconds before the end', given: { ttlSeconds: 60, nowMs: 4_998_000 }, ttl: 2, warns: true },
  { name: 'T-01: one second before the end', given: { ttlSeconds: 60, nowMs: 4_999_000 }, ttl: 1, warns: true },
  { name: 'T-01: half a second before the end', given: { ttlSeconds: 60, nowMs: 4_999_500 }, ttl: 1, warns: true },
  { name: 'T-01: at the end', given: { ttlSeconds: 60, nowMs: 5_000_000 }, ttl: undefined },
  { name: 'T-01: after the end', given: { ttlSeconds: 60, nowMs: 5_000_500 }, ttl: undefined },
  { name: 'T-06: a period has no overall end', given: { periodSeconds: 300, nowMs: 90_000_000 }, ttl: 300 },
  { name: 'T-06: a period is held to the maximum', given: { periodSeconds: 9000 }, ttl: 5000, warns: true },
  {
    name: 'T-06: a period ends at an explicit maximum',
    given: { periodSeconds: 300, explicitMaxTtlSeconds: 1000, nowMs: 900_000 },
    ttl: 100,
    warns: true,
  },
]

for (const { name, given, ttl, warns = false } of ROWS) {
  test(`lifetime: ${name}`, () => {
    const life = lifetime({ ...base, ...given })
    assert.equal(life?.ttlSeconds, ttl)
    assert.equal((life?.warnings.length ?? 0) > 0, warns)
  })
}
