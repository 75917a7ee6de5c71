import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { SeededRandom } from '../../test/conformance/seeded-random.ts'
import type { Backend } from './backend.ts'
import { HISTORY_ID_BYTES } from './backend.ts'
import { StorageError } from './contract.ts'
import { MemoryBackend } from './memory-backend.ts'
import { openStore } from './transactional-store.ts'

const clock = { nowMs: () => 1_700_000_000_000, monotonicMs: () => 0 }

test('a tree that cannot be loaded is told to who asks for it, and ends nothing else', async () => {
  const backend: Backend = new MemoryBackend(new SeededRandom(1).bytes(HISTORY_ID_BYTES))
  const wrong = new StorageError('The device does not answer')
  backend.savedTree = () => Promise.reject(wrong)
  const store = await openStore(backend, { clock })
  store.setLeafKey(Buffer.alloc(32, 1))
  // A rejection that nobody takes would end the process, and this test, in one of these turns.
  for (let turn = 0; turn < 10; turn++) await nextTurn()
  await assert.rejects(store.roots(), wrong)
  await assert.rejects(store.tree(), wrong)
  await store.close()
})
