import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { workerCounts } from './slow-pool.ts'

test('N-14 few threads make new RSA keys, whatever the machine has', () => {
  const counts = [1, 2, 3, 16].map(workerCounts)
  assert.deepEqual(
    counts.map(({ long }) => long),
    [1, 1, 2, 2],
  )
  assert.deepEqual(
    counts.map(({ short }) => short),
    [1, 2, 3, 16],
  )
})
