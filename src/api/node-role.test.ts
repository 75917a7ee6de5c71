import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ACTIVE_PRIMARY, maintains, type NodeRole } from './node-role.ts'

const CASES: readonly { name: string; role: Partial<NodeRole>; shared: boolean; local: boolean }[] = [
  { name: 'an active primary: every mount', role: {}, shared: true, local: true },
  { name: 'a standby: none', role: { isStandby: true }, shared: false, local: false },
  { name: 'a secondary for disaster recovery: none', role: { isDrSecondary: true }, shared: false, local: false },
  {
    name: 'a performance secondary: its local mounts',
    role: { isPerformanceSecondary: true },
    shared: false,
    local: true,
  },
  {
    name: 'a standby of a performance secondary: none',
    role: { isPerformanceSecondary: true, isStandby: true },
    shared: false,
    local: false,
  },
  {
    name: 'a performance secondary that is followed by one for disaster recovery, on the latter: none',
    role: { isPerformanceSecondary: true, isDrSecondary: true },
    shared: false,
    local: false,
  },
]

for (const { name, role, shared, local } of CASES) {
  test(`what a node maintains by itself: ${name}`, () => {
    const whole = { ...ACTIVE_PRIMARY, ...role }
    assert.equal(maintains(whole, { local: false }), shared)
    assert.equal(maintains(whole, { local: true }), local)
  })
}
