import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryView } from '../../../test/fixtures/memory-view.ts'
import { putState, setPath } from './records.ts'
import { COMPARES, comparesInPlace, STOOD, TRANSFER_NOTE, transferPath } from './transfer-note.ts'

const PLACE = { family: 'performance', historyId: Buffer.alloc(16, 3), index: 9, chain: Buffer.alloc(16, 4) } as const
const STATE = { setId: 's', epoch: 1, clusterAddress: '', isFenced: false, sinceMs: 0 } as const

test('who takes a place in the middle of a copy or comparison is not whole before it has compared', async () => {
  for (const [mode, half, stood, expected] of [
    ['secondary', undefined, undefined, COMPARES],
    ['secondary', undefined, PLACE.index - 1, COMPARES],
    // Nothing came from the log of its primary since it was compared, which may have had less.
    ['secondary', undefined, PLACE.index, transferPath('performance')],
    ['secondary', 'dr', undefined, transferPath('performance')],
    ['secondary', 'performance', undefined, transferPath('performance')],
    ['primary', 'dr', PLACE.index, undefined],
  ] as const) {
    const view = new MemoryView()
    await view.transaction(async (tx) => {
      putState(tx, 'performance', { ...STATE, mode })
      if (half !== undefined) tx.put(transferPath(half), TRANSFER_NOTE.encode({ what: 'copy', after: 'k' }))
      if (stood !== undefined) {
        const place = { historyId: PLACE.historyId.toString('base64'), index: stood }
        tx.put(setPath('dr', 'stood'), STOOD.encode({ place }))
      }
      await comparesInPlace(tx, PLACE)
    })
    const noted = [COMPARES, transferPath('performance')].filter((path) => view.entries.has(path))
    assert.deepEqual(noted, expected === undefined ? [] : [expected], `${mode}, ${half}, ${stood}`)
    for (const path of noted)
      assert.deepEqual(TRANSFER_NOTE.decode(view.entries.get(path) ?? assert.fail()), { what: 'difference', after: '' })
  }
})
