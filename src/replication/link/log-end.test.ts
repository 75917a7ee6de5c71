import assert from 'node:assert/strict'
import { test } from 'node:test'
import { clock, folder, scope } from '../../../test/conformance/storage-clause.ts'
import { newStore } from '../../../test/fixtures/followed-pair.ts'
import { type Store, systemScope } from '../../storage/contract.ts'
import { HistoryGone } from '../../storage/errors.ts'
import { LogEnd } from './log-end.ts'

const put = (store: Store, where: typeof systemScope, key: string): Promise<void> =>
  store.transaction(async (tx) => tx.put(where, key, Buffer.from('value')))

test('the log ends at the last change that is for the family, at the time of its commit', async () => {
  const store = newStore(1)
  const [dr, shared] = [new LogEnd(store, 'dr'), new LogEnd(store, 'performance')]
  assert.deepEqual(await dr.now(), { lastIndex: 0, committedAtMs: 0 })
  const committedAtMs = clock.nowMs()
  await put(store, scope, `${folder}replicated`)
  await put(store, systemScope, 'root/core/local-mounts/a')
  await put(store, systemScope, 'root/core/reload/ignored')
  const { lastReplicatedIndex, lastLocalIndex } = await store.position()
  assert.ok(lastLocalIndex > lastReplicatedIndex && (await store.lastIndex()) > lastLocalIndex)
  assert.deepEqual(await shared.now(), { lastIndex: lastReplicatedIndex, committedAtMs })
  assert.deepEqual(await dr.now(), { lastIndex: lastLocalIndex, committedAtMs })
})

test('the time of a record that is kept no more is not known', async () => {
  const store = newStore(1)
  await put(store, scope, `${folder}replicated`)
  const records = () => Promise.reject(new HistoryGone('Records up to 1 are gone'))
  const end = await new LogEnd({ position: () => store.position(), records }, 'dr').now()
  assert.deepEqual(end, { lastIndex: 1, committedAtMs: 0 })
})
