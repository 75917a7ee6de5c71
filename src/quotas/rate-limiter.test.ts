import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { newLimitMemory } from './limit-table.ts'
import type { Grouping, RateQuota } from './quota.ts'
import { RateLimiter } from './rate-limiter.ts'

const quota = (groupBy: Grouping): RateQuota => ({
  format: 1,
  name: 'q',
  id: 'q',
  mount: '',
  path: '',
  role: '',
  rate: 1,
  secondaryRate: 1,
  intervalSeconds: 60,
  blockSeconds: 0,
  groupBy,
  inheritable: false,
})
const CLOCK = { nowMs: () => 1_700_000_000_000, monotonicMs: () => 0 }

/** Which of these requests, one after another, are allowed where each group has one. */
function allowed(groupBy: Grouping, callers: readonly (readonly [address: string, entity?: string])[]): boolean[] {
  const limiter = new RateLimiter(newLimitMemory('key'), CLOCK, () => assert.fail('there is room'))
  const one = quota(groupBy)
  return callers.map(([remoteAddress, entityId]) => limiter.charge(one, { remoteAddress, entityId }).isAllowed)
}

test('ip: each address is counted for itself, whoever asks from it', () => {
  assert.deepEqual(allowed('ip', [['10.0.0.1'], ['10.0.0.1'], ['10.0.0.2'], ['10.0.0.2', 'e'], ['10.0.0.3', 'e']]), [
    true,
    false,
    true,
    false,
    true,
  ])
})

test('none: all are counted together', () => {
  assert.deepEqual(allowed('none', [['10.0.0.1'], ['10.0.0.2'], ['10.0.0.3', 'e']]), [true, false, false])
})

test('by entity where there is one, and else by address, or together', () => {
  const callers = [
    ['10.0.0.1', 'e'],
    ['10.0.0.2', 'e'],
    ['10.0.0.2', 'f'],
    ['10.0.0.1'],
    ['10.0.0.2'],
    ['10.0.0.2'],
  ] as const
  assert.deepEqual(allowed('entity_then_ip', callers), [true, false, true, true, true, false])
  assert.deepEqual(allowed('entity_then_none', callers), [true, false, true, true, false, false])
})

test('A-08: whoever has a network of IPv6 is one caller, and IPv4 is the same in either form', () => {
  const callers = [
    ['2001:db8::1'],
    ['2001:db8:0:0:ffff::2'],
    ['2001:db8:0:1::1'],
    ['10.0.0.1'],
    ['::ffff:10.0.0.1'],
  ] as const
  for (const groupBy of ['ip', 'entity_then_ip'] as const)
    assert.deepEqual(allowed(groupBy, callers), [true, false, true, true, false], groupBy)
})
