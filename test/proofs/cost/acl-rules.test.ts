// A decision does not take longer where a token has more rules.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Acl, buildAcl } from '../../../src/auth/acl.ts'
import { parsePolicy } from '../../../src/auth/policy.ts'
import { threadCpuMs } from '../../fixtures/measured.ts'

function aclOf(rules: readonly (readonly [path: string, capability: string])[]): Acl {
  const text = rules.map(([path, capability]) => `path "${path}" { capabilities = ["${capability}"] }`).join('\n')
  return buildAcl([{ name: 'p', rules: parsePolicy(text).rules }])
}

/** The least of five. */
function cpuMsOf(acl: Acl): number {
  const checks = () => {
    for (let turn = 0; turn < 2_000; turn++) acl.check({ operation: 'read', path: `app/${turn % 5}/key` })
  }
  return Math.min(...Array.from({ length: 5 }, () => threadCpuMs(checks)))
}

test('a check costs the same with three rules and with ten thousand', () => {
  const many = Array.from({ length: 5_000 }, (_, at) => [
    [`app/${at}/*`, 'read'] as const,
    [`exact/${at}`, 'read'] as const,
  ]).flat()
  const small = cpuMsOf(
    aclOf([
      ['app/1/*', 'read'],
      ['app/2/*', 'read'],
      ['*', 'list'],
    ]),
  )
  const large = cpuMsOf(aclOf(many))
  // A walk over the rules would be thousands of times slower.
  assert.ok(large < small * 20 + 5, `${small} ms, ${large} ms`)
})
