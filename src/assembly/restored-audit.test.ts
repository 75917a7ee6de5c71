import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { RestoredAudit } from './restored-audit.ts'

const made = { uuid: 'a', path: 'file/', isDeclared: false }
const declared = { uuid: 'b', path: 'declared/', isDeclared: true }

function warningsOf(keys: readonly string[], devices = [made, declared]): readonly string[] {
  const audit = new RestoredAudit(devices)
  for (const key of keys) audit.see(`root/core/${key}`)
  return audit.warnings()
}

test('a restore that takes devices or the signing key away says so', () => {
  assert.deepEqual(warningsOf(['audit/a', 'audit-key']), [])
  assert.deepEqual(warningsOf(['local-audit/a', 'audit-key']), [])
  assert.deepEqual(warningsOf([], []), [])
  const [lost, unsigned] = warningsOf(['audit/c'])
  assert.match(lost ?? '', /lacks audit devices that were here: file\/\. /)
  assert.match(unsigned ?? '', /has no key that signs audit chains/)
  assert.equal(warningsOf(['audit/a']).length, 1)
})
