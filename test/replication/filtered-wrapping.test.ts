// Whole servers in virtual time: which wrapped answers of a performance secondary go when a filter forbids a mount. The
// mount that gave an answer decides, wherever it is now.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeTokenEntry } from '../../src/auth/token-entry.ts'
import { ID_FOLDER } from '../../src/auth/token-keys.ts'
import { performanceServers } from '../fixtures/replicated-servers.ts'

const FILTER = 'sys/replication/performance/primary/paths-filter/two'
const EXPORT = 'kept/export/encryption-key/k'

/** A key below `kept/` that the secondary exports; with `isLocal` from its own mount, which hides one of the set. */
async function exporting(seed: number, isLocal = false) {
  const all = await performanceServers(seed)
  const { servers, primary, secondary } = all
  if (isLocal) await secondary.must('POST', 'sys/mounts/kept', { type: 'transit', local: true })
  await primary.must('POST', 'sys/mounts/kept', { type: 'transit' })
  await (isLocal ? secondary : primary).must('POST', 'kept/keys/k', { exportable: true })
  const level = async () => {
    await servers.level(primary, secondary, 60_000, 'performance')
    await servers.time.pass(1_000)
  }
  await level()
  /** A wrapped answer of the secondary: the token of it. */
  const wrapped = async (): Promise<string> => {
    const asked = secondary.server.call('GET', EXPORT, undefined, secondary.rootToken, { wrapTtl: '1h' })
    const { body } = await servers.time.until(asked)
    return (body.wrap_info as { readonly token: string }).token
  }
  const unwrap = (token: string) => secondary.call('POST', 'sys/wrapping/unwrap', undefined, token)
  const move = async () => {
    await primary.must('POST', 'sys/remount', { from: 'kept', to: 'moved' })
    await level()
  }
  const deny = async (path: string) => {
    await primary.must('POST', FILTER, { mode: 'deny', paths: [path] })
    await servers.time.pass(20_000)
  }
  /** Has the token as an older version stored it, which did not note the mount. */
  const age = async (token: string) => {
    const { tokens } = secondary.server.node
    const entryOf = (of: string) => servers.time.until(tokens.entryOf(of))
    const id = tokens.idOf(token)
    const { answerOf, ...older } = (await entryOf(id)) ?? assert.fail('there is no such token')
    assert.ok(answerOf !== undefined)
    await servers.time.until(tokens.view.transaction(async (tx) => tx.put(ID_FOLDER + id, encodeTokenEntry(older))))
    assert.equal((await entryOf(id))?.answerOf, undefined)
  }
  return { ...all, wrapped, unwrap, move, deny, age }
}

test('an answer that a mount gave before it was moved goes when the mount is forbidden', async () => {
  const { secondary, wrapped, unwrap, move, deny } = await exporting(41)
  const first = await wrapped()
  const again = await secondary.must('POST', 'sys/wrapping/rewrap', { token: await wrapped() })
  const { token: second } = again.body.wrap_info as unknown as { readonly token: string }
  await move()
  await deny('moved')
  assert.equal((await secondary.call('GET', 'moved/keys/k')).status, 404)
  for (const token of [first, second]) assert.equal((await unwrap(token)).status, 400)
})

test('an answer of a local mount stays when a mount of the set at the same path is forbidden', async () => {
  const { wrapped, unwrap, deny } = await exporting(42, true)
  const token = await wrapped()
  await deny('kept')
  assert.equal((await unwrap(token)).status, 200)
})

test('an answer of a mount that was moved stays when its successor at the path is forbidden', async () => {
  const { primary, wrapped, unwrap, move, deny } = await exporting(43)
  const token = await wrapped()
  await move()
  await primary.must('POST', 'sys/mounts/kept', { type: 'transit' })
  await deny('kept')
  assert.equal((await unwrap(token)).status, 200)
})

test('an answer that an older version wrapped goes by its path', async () => {
  const { wrapped, unwrap, deny, age } = await exporting(44)
  const token = await wrapped()
  await age(token)
  await deny('kept')
  assert.equal((await unwrap(token)).status, 400)
})
