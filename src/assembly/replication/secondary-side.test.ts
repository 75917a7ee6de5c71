import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryView } from '../../../test/fixtures/memory-view.ts'
import { putState } from '../../replication/set/records.ts'
import { COMPARES, comparesInPlace, TRANSFER_NOTE, transferPath } from './secondary-side.ts'

const STATE = { setId: 's', epoch: 1, clusterAddress: '', isFenced: false, sinceMs: 0 } as const

test('who takes a place in the middle of a copy or comparison is not whole before it has compared', async () => {
  for (const [mode, half, expected] of [
    ['secondary', undefined, COMPARES],
    ['secondary', 'dr', transferPath('performance')],
    ['secondary', 'performance', transferPath('performance')],
    ['primary', 'dr', undefined],
  ] as const) {
    const view = new MemoryView()
    await view.transaction(async (tx) => {
      putState(tx, 'performance', { ...STATE, mode })
      if (half !== undefined) tx.put(transferPath(half), TRANSFER_NOTE.encode({ what: 'copy', after: 'k' }))
      await comparesInPlace(tx)
    })
    const noted = [COMPARES, transferPath('performance')].filter((path) => view.entries.has(path))
    assert.deepEqual(noted, expected === undefined ? [] : [expected], `${mode}, ${half}`)
    for (const path of noted)
      assert.deepEqual(TRANSFER_NOTE.decode(view.entries.get(path) ?? assert.fail()), { what: 'difference', after: '' })
  }
})
