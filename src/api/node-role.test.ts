import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ACTIVE_PRIMARY, type DataOwner, maintains, mayChange, type NodeRole } from './node-role.ts'

const OWNERS: readonly DataOwner[] = ['set', 'cluster', 'node']
const ALL = OWNERS
const OF_CLUSTER: readonly DataOwner[] = ['cluster', 'node']
const OF_NODE: readonly DataOwner[] = ['node']

const CASES: readonly { name: string; role: Partial<NodeRole>; may: readonly DataOwner[] }[] = [
  { name: 'an active primary: everything', role: {}, may: ALL },
  { name: 'a primary of both families: everything', role: { dr: 'primary', performance: 'primary' }, may: ALL },
  { name: 'a standby: its own', role: { isStandby: true }, may: OF_NODE },
  { name: 'a fenced primary: its own', role: { isFenced: true, dr: 'primary' }, may: OF_NODE },
  { name: 'a secondary for disaster recovery: its own', role: { dr: 'secondary' }, may: OF_NODE },
  { name: 'a copy for disaster recovery in progress: its own', role: { dr: 'bootstrapping' }, may: OF_NODE },
  { name: 'a performance secondary: what is of its cluster', role: { performance: 'secondary' }, may: OF_CLUSTER },
  {
    name: 'a performance secondary that others follow for disaster recovery: what is of its cluster',
    role: { performance: 'secondary', dr: 'primary' },
    may: OF_CLUSTER,
  },
  { name: 'a performance copy in progress: its own', role: { performance: 'bootstrapping' }, may: OF_CLUSTER },
  {
    name: 'a standby of a performance secondary: its own',
    role: { performance: 'secondary', isStandby: true },
    may: OF_NODE,
  },
  {
    name: 'a secondary for disaster recovery of a performance secondary: its own',
    role: { performance: 'secondary', dr: 'secondary' },
    may: OF_NODE,
  },
]

for (const { name, role, may } of CASES) {
  test(`what a node may change: ${name}`, () => {
    const whole = { ...ACTIVE_PRIMARY, ...role }
    assert.deepEqual(
      OWNERS.filter((owner) => mayChange(whole, owner)),
      may,
    )
    assert.equal(maintains(whole, { local: false }), may.includes('set'))
    assert.equal(maintains(whole, { local: true }), may.includes('cluster'))
  })
}
