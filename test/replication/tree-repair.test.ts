// Damage of what a cluster has stored, and what becomes of it: whole servers, over the simulated network, in virtual
// time. The ids are those of README.md here.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Called } from '../fixtures/memory-server.ts'
import { operationsOf, type ReplicatedServer } from '../fixtures/replicated-server.ts'
import { followedServers, type ReplicatedServers } from '../fixtures/replicated-servers.ts'

const DR = 'sys/replication/dr/secondary'
const POLICIES = 12
const text = (n: number): object => ({ policy: `path "a${n}" { capabilities = ["read"] }` })
const keyOf = (n: number): string => `root/sys/policy/p${n}`

/** A pair that has some policies, and a token by which its secondary is operated. */
async function stage(seed: number) {
  const pair = await followedServers(seed)
  const { servers, primary, secondary } = pair
  for (let n = 0; n < POLICIES; n++) await primary.must('PUT', `sys/policies/acl/p${n}`, text(n))
  const token = await operationToken(primary)
  await servers.level(primary, secondary)
  await servers.requireSame(primary, secondary)
  return { ...pair, token }
}

/** A batch token of the set: its policy goes with the data. */
async function operationToken(primary: ReplicatedServer): Promise<string> {
  const policy = `path "${DR}/*" { capabilities = ["update"] }`
  await primary.must('PUT', 'sys/policies/acl/operator', { policy })
  const wanted = { type: 'batch', no_parent: true, policies: ['operator'], ttl: '24h' }
  const { body } = await primary.must('POST', 'auth/token/create-orphan', wanted)
  return String((body.auth as { readonly client_token: string }).client_token)
}

type Subtree = { readonly corrupted_index_tuples_map: Readonly<Record<string, { subpages: number[] }>> | null }
type Report = {
  readonly corrupted_root: boolean
  readonly corrupted_entries: number
  readonly checked_entries: number
  readonly corrupted_tree_map: Readonly<Record<'1' | '2', Subtree & { root_hash: string }>>
  readonly last_corruption_check_epoch: string
}
const reportOf = ({ body }: Called): Report => body.data?.merkle_corruption_report as Report
const wrongSubpages = ({ corrupted_tree_map: map }: Report): number =>
  Object.values(map['1'].corrupted_index_tuples_map ?? {}).reduce((sum, { subpages }) => sum + subpages.length, 0)

const checked = (cluster: ReplicatedServer, token?: string) =>
  token === undefined
    ? cluster.must('POST', 'sys/replication/merkle-check')
    : cluster.must('POST', `${DR}/merkle-check`, { dr_operation_token: token }, '')
const settled = (servers: ReplicatedServers, { server }: ReplicatedServer): Promise<void> =>
  servers.time.until(server.node.services.treeChecks.settled())

/** Other bytes where a policy is, and its leaf as it was. */
function alter({ tables }: ReplicatedServer, n: number): void {
  const entry = tables.entries.byKey.get(keyOf(n)) ?? assert.fail('it is there')
  const value = Buffer.from(entry.value)
  value.writeUInt8(value.readUInt8(value.length - 1) ^ 1, value.length - 1)
  tables.entries.set(keyOf(n), { ...entry, value })
}

/** The server is killed, a bit of the tree that it has saved turns, and it comes back. */
async function withSpoiledTree(servers: ReplicatedServers, cluster: ReplicatedServer, key: Buffer): Promise<void> {
  // It saves the tree.
  await servers.time.until(cluster.server.store.reindex({ mode: 'leaves', skipFlush: false, mayRepair: () => false }))
  cluster.kill()
  const { tables } = cluster
  const saved = tables.tree ?? assert.fail('it was saved')
  const page = [...saved.pages.values()].find((one) => one.class === 'replicated') ?? assert.fail('there are pages')
  const digests = Buffer.from(page.digests)
  digests.writeUInt8(digests.readUInt8(1) ^ 1, 1)
  tables.saveTree({ ...saved, pages: [{ ...page, digests }], isWhole: false, savedAtMs: 0 })
  await cluster.restart(key)
}

const shareOf = ({ server }: ReplicatedServer): Buffer => server.shares[0] ?? assert.fail('it was initialised')

test('a check of a sound pair finds nothing, and its roots are equal on both', async () => {
  const { servers, primary, secondary, token } = await stage(1)
  const [first, second] = [reportOf(await checked(primary)), reportOf(await checked(secondary, token))]
  for (const report of [first, second]) {
    assert.deepEqual([report.corrupted_root, report.corrupted_entries, wrongSubpages(report)], [false, 0, 0])
    assert.ok(report.checked_entries > POLICIES)
    for (const part of ['1', '2'] as const)
      assert.equal(report.corrupted_tree_map[part].corrupted_index_tuples_map, null)
  }
  await servers.level(primary, secondary)
  // Decisions 4c.19.
  const root = first.corrupted_tree_map['1'].root_hash
  assert.equal(Buffer.from(root, 'base64').length, 32)
  assert.equal(root, second.corrupted_tree_map['1'].root_hash)
  const { last_corruption_check_epoch: epoch, corrupted_merkle_tree: isCorrupted } = await secondary.status()
  assert.deepEqual(
    [isCorrupted, epoch],
    [false, String(Math.floor(Date.parse(second.last_corruption_check_epoch) / 1000))],
  )
})

test('T43: a check names what was changed behind the back of a secondary, and it is fetched anew', async () => {
  const { servers, primary, secondary, token } = await stage(2)
  const before = await secondary.entries()
  alter(secondary, 3)
  secondary.tables.entries.remove(keyOf(4))
  const copied = secondary.tables.entries.byKey.get(keyOf(5)) ?? assert.fail('it is there')
  secondary.tables.entries.set(keyOf(77), copied)
  const answer = await checked(secondary, token)
  const report = reportOf(answer)
  // The entry under another key does not have the leaf of it.
  assert.deepEqual([report.corrupted_entries, wrongSubpages(report)], [2, 3])
  assert.match(JSON.stringify(answer.body.warnings), /being repaired from the primary/)
  await settled(servers, secondary)
  await servers.time.pass(5_000)
  await servers.level(primary, secondary)
  assert.deepEqual(await secondary.entries(), before)
  await servers.requireSame(primary, secondary)
  assert.equal((await secondary.status()).corrupted_merkle_tree, false)
  assert.equal(reportOf(await checked(secondary, token)).corrupted_entries, 0)
})

test('T43: a row that went behind the back of a secondary is fetched after a reindex, without a check', async () => {
  const { servers, primary, secondary, token } = await stage(3)
  secondary.tables.entries.remove(keyOf(4))
  const answer = await secondary.must('POST', `${DR}/reindex`, { dr_operation_token: token }, '')
  assert.equal(answer.status, 200)
  assert.match(JSON.stringify(answer.body.warnings), /has begun/)
  await settled(servers, secondary)
  await servers.time.pass(5_000)
  await servers.level(primary, secondary)
  await servers.requireSame(primary, secondary)
})

test('T44: a secondary whose tree is damaged finds that by the root, and makes it anew by itself', async () => {
  const { servers, primary, secondary } = await stage(4)
  await withSpoiledTree(servers, secondary, shareOf(primary))
  const roots = (cluster: ReplicatedServer) => servers.time.until(cluster.server.store.roots())
  assert.notDeepEqual((await roots(secondary)).all, (await roots(primary)).all)
  await servers.time.pass(30_000)
  await servers.level(primary, secondary)
  await servers.requireSame(primary, secondary)
  const { state, corrupted_merkle_tree: isCorrupted } = await secondary.status()
  assert.deepEqual([state, isCorrupted], ['stream-wals', false])
})

test('T44: a primary whose tree is damaged shows it, its secondary waits, and a reindex mends both', async () => {
  const { servers, primary, secondary, token } = await stage(5)
  await withSpoiledTree(servers, primary, shareOf(primary))
  await servers.time.pass(40_000)
  const shown = await primary.status()
  assert.equal(shown.corrupted_merkle_tree, true)
  const waiting = await secondary.status()
  assert.deepEqual([waiting.state, waiting.idle_reason], ['idle', 'divergence'])
  assert.match(String(waiting.idle_sentence), /"merkle-check"/)
  const report = reportOf(await checked(primary))
  assert.deepEqual([report.corrupted_entries, wrongSubpages(report)], [0, 1])
  await primary.must('POST', 'sys/replication/reindex', {})
  await settled(servers, primary)
  const mended = await primary.status()
  assert.equal(mended.corrupted_merkle_tree, false)
  assert.ok(Number(mended.last_reindex_epoch) > 0)
  const recovered = await secondary.must('POST', `${DR}/recover`, { dr_operation_token: token }, '')
  assert.match(JSON.stringify(recovered.body.warnings), /calls its primary again/)
  await servers.level(primary, secondary, 5_000)
  await servers.time.pass(15_000)
  await servers.level(primary, secondary)
  await servers.requireSame(primary, secondary)
})

test('T43: a damaged value of a primary is named and not passed on, and its flag outlives a restart', async () => {
  const { servers, primary, secondary } = await stage(6)
  const good = (await secondary.entries()).get(keyOf(3))
  const root = (await primary.status()).merkle_root
  const entry = primary.tables.entries.byKey.get(keyOf(3)) ?? assert.fail('it is there')
  alter(primary, 3)
  for (const body of [{ diff: true }, { force: true, skip_flush: true }]) {
    await primary.must('POST', 'sys/replication/dr/reindex', body)
    await settled(servers, primary)
    const { corrupted_merkle_tree: isCorrupted, merkle_root: now } = await primary.status()
    assert.deepEqual([isCorrupted, now], [true, root])
  }
  const { body } = await checked(primary)
  assert.match(JSON.stringify(body.warnings), /see whether a secondary has what is damaged/)
  await servers.time.pass(30_000)
  assert.equal((await secondary.status()).state, 'stream-wals')
  assert.equal((await secondary.entries()).get(keyOf(3)), good)
  primary.kill()
  await primary.restart(shareOf(primary))
  const { corrupted_merkle_tree: isCorrupted, last_reindex_epoch: reindexed } = await primary.status()
  assert.deepEqual([isCorrupted, Number(reindexed) > 0], [true, true])
  // A backup has the entry as it was.
  primary.tables.entries.set(keyOf(3), entry)
  assert.equal(reportOf(await checked(primary)).corrupted_entries, 0)
  assert.equal((await primary.status()).corrupted_merkle_tree, false)
})

test('T46: a reindex shows how far it is, and a second one is refused meanwhile', async () => {
  const { servers, primary } = await stage(7)
  for (let n = 0; n < 300; n++) await primary.must('PUT', `sys/policies/acl/q${n}`, text(n))
  const begun = primary.server.call('POST', 'sys/replication/reindex', { diff: true })
  const again = primary.server.call('POST', 'sys/replication/reindex', {})
  const check = primary.server.call('POST', 'sys/replication/merkle-check')
  const told = begun.then(() => primary.server.node.services.treeChecks.told())
  const answers = await servers.time.until(Promise.all([begun, again, check]))
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 400, 400],
  )
  assert.match(JSON.stringify(answers[1]?.body), /already/)
  const { reindex } = await servers.time.until(told)
  assert.equal(reindex?.stage, 'building')
  await settled(servers, primary)
  assert.equal((await primary.status()).reindex_in_progress, undefined)
})

test('recover is for those who follow, and the three of a DR secondary need its operation token', async () => {
  const { primary, secondary } = await stage(8)
  const refused = await primary.call('POST', 'sys/replication/recover')
  assert.equal(refused.status, 400)
  assert.match(JSON.stringify(refused.body), /follows no primary/)
  for (const path of ['reindex', 'recover', 'merkle-check']) {
    const call = (cluster: ReplicatedServer, body: object) => cluster.call('POST', `${DR}/${path}`, body, '')
    assert.equal((await call(secondary, {})).status, 400)
    assert.equal((await call(secondary, { dr_operation_token: 'wrong' })).status, 403)
    assert.equal((await call(primary, { dr_operation_token: 'wrong' })).status, 400)
    const withoutToken = await secondary.call('POST', `sys/replication/${path}`, {})
    assert.deepEqual(
      [withoutToken.status, JSON.stringify(withoutToken.body)],
      [400, '{"errors":["path disabled in replication DR secondary mode"]}'],
    )
  }
})

test('an alone cluster checks and makes its tree anew, too', async () => {
  const { servers, primary } = await stage(9)
  await primary.must('POST', 'sys/replication/dr/primary/disable', {})
  assert.equal(reportOf(await checked(primary)).corrupted_entries, 0)
  await primary.must('POST', 'sys/replication/reindex', { force: true })
  await settled(servers, primary)
  assert.equal(await servers.time.until(operationsOf(primary).told('dr')), undefined)
})
