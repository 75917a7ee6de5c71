// Where a cluster and its new primary parted.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Place } from '../protocol/messages.ts'
import { partedAt } from './undone-records.ts'

const [own, one, other] = [Buffer.alloc(16, 71), Buffer.alloc(16, 72), Buffer.alloc(16, 73)]
const at = (historyId: Buffer, index: number): Place => ({ historyId, index, chain: Buffer.alloc(16, 2) })

test('both parted at the fork, and at the last place in each log that neither is its own nor that of the fork', () => {
  const followed = [at(one, 3), at(own, 10), at(other, 20), at(one, 30)]
  assert.deepEqual(partedAt(at(own, 9), followed, [{ id: own }]), [at(own, 9), at(other, 20), at(one, 30)])
  assert.deepEqual(partedAt(at(other, 21), followed, [{ id: own }]), [at(other, 21), at(one, 30)])
  assert.deepEqual(partedAt(undefined, followed, [{ id: own }, { id: other }]), [at(one, 30)])
  assert.deepEqual(partedAt(undefined, [], []), [])
})
