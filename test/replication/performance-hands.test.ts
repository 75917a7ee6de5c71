// A set of the performance family changes hands: promotion, demotion, another primary, and leaving. Whole servers, over
// the simulated network, in virtual time. What is a cluster's own stays through all of it.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { P256 } from '../../src/crypto/forms/ec-curves.ts'
import { loadScalar } from '../../src/crypto/forms/ec-private-key.ts'
import { x25519Key } from '../../src/crypto/primitives/hpke.ts'
import { importSecret } from '../../src/crypto/primitives/secret-key.ts'
import { askPrimary } from '../../src/replication/link/knocking.ts'
import { LINK_TIMES } from '../../src/replication/link/link-times.ts'
import { SETS_FOLDER } from '../../src/replication/set/records.ts'
import { ownIdentity } from '../../src/replication/set/secondary-operations.ts'
import { systemScope } from '../../src/storage/contract.ts'
import { openRootKey, ROOT_KEY, readRecord } from '../../src/system/seal/seal-records.ts'
import { VERSION } from '../../src/version.ts'
import { has, POLICY, shareOf, write } from '../fixtures/failing-over.ts'
import type { Called } from '../fixtures/memory-server.ts'
import type { ReplicatedServer } from '../fixtures/replicated-server.ts'
import { performanceServers, type ReplicatedServers } from '../fixtures/replicated-servers.ts'
import { restoredTables, takeSnapshot } from '../simulator/replication/restoring.ts'

const PERFORMANCE = 'sys/replication/performance'
const FAMILY = 'performance'

const tokenOf = ({ body }: Called): string => (body.auth as { readonly client_token: string }).client_token
const promote = (cluster: ReplicatedServer, more: object = {}): Promise<Called> =>
  cluster.call('POST', `${PERFORMANCE}/secondary/promote`, more)
const demote = (cluster: ReplicatedServer): Promise<Called> => cluster.must('POST', `${PERFORMANCE}/primary/demote`)

const modeOf = async (cluster: ReplicatedServer): Promise<unknown> => {
  const { mode, state } = await cluster.status(FAMILY)
  return mode === 'primary' ? mode : [mode, state]
}

/** A token of a primary makes a cluster follow it. */
async function update(servers: ReplicatedServers, primary: ReplicatedServer, of: ReplicatedServer, more: object = {}) {
  const token = await servers.token(primary, of.name, {}, FAMILY)
  return of.call('POST', `${PERFORMANCE}/secondary/update-primary`, { token, ...more })
}

const level = (servers: ReplicatedServers, primary: ReplicatedServer, secondary: ReplicatedServer) =>
  servers.level(primary, secondary, 60_000, FAMILY)

/** What is a cluster's own, and no other has. */
async function ownOf(cluster: ReplicatedServer) {
  const create = async (wanted: object): Promise<string> =>
    tokenOf(await cluster.must('POST', 'auth/token/create', { ttl: '700h', policies: ['default'], ...wanted }))
  const service = await create({})
  await cluster.must('POST', 'cubbyhole/own', { of: cluster.name }, service)
  await cluster.must('POST', 'sys/mounts/own', { type: 'transit', local: true })
  await cluster.must('POST', 'own/keys/k')
  const sealed = await cluster.must('POST', 'own/encrypt/k', { plaintext: 'aGk=' })
  const { body } = await cluster.must('GET', 'auth/token/lookup-self', undefined, service)
  return {
    cluster,
    service,
    accessor: String(body.data?.accessor),
    path: String(body.data?.path),
    batch: await create({ type: 'batch', no_parent: true }),
    child: await create({ type: 'batch' }),
    ciphertext: String(sealed.body.data?.ciphertext),
  }
}

/** It is all there, and can be changed: whatever the cluster is in its set. */
async function requireOwn({ cluster, service, batch, child, ciphertext, path }: Awaited<ReturnType<typeof ownOf>>) {
  for (const token of [service, batch, child]) await cluster.must('GET', 'auth/token/lookup-self', undefined, token)
  assert.equal((await cluster.must('GET', 'cubbyhole/own', undefined, service)).body.data?.of, cluster.name)
  await cluster.must('POST', 'cubbyhole/own', { of: cluster.name }, service)
  await cluster.must('LIST', `sys/leases/lookup/${path}`)
  await cluster.must('POST', 'auth/token/create', { ttl: '1h', policies: ['default'] })
  const opened = await cluster.must('POST', 'own/decrypt/k', { ciphertext })
  assert.equal(opened.body.data?.plaintext, 'aGk=')
  await cluster.must('POST', 'own/keys/k/rotate')
}

/** A pair whose clusters both have something of their own. */
async function pair(seed: number) {
  const all = await performanceServers(seed)
  const { servers, primary, secondary } = all
  await primary.must('POST', 'sys/mounts/shared', { type: 'transit' })
  await primary.must('POST', 'shared/keys/k')
  await write(primary, 5)
  await level(servers, primary, secondary)
  return { ...all, ofPrimary: await ownOf(primary), ofSecondary: await ownOf(secondary) }
}

test('a primary that can be reached drains for a performance secondary, and loses nothing', async () => {
  const { servers, primary, secondary, ofPrimary, ofSecondary } = await pair(641)
  const promoting = promote(secondary)
  const done: string[] = []
  for (let each = 0; each < 100; each++) {
    const { status } = await primary.call('PUT', `sys/policies/acl/meanwhile${each}`, POLICY)
    if (status === 204) done.push(`meanwhile${each}`)
    await servers.time.pass(1)
  }
  const promoted = await promoting
  assert.equal(promoted.status, 200, JSON.stringify(promoted.body))
  assert.match(String(promoted.body.warnings), /former primary is not told: demote it/)
  assert.ok(done.length < 100, `${done.length} were written`)
  for (const name of done) assert.ok(await has(secondary, name), name)
  assert.equal(await modeOf(secondary), 'primary')
  await requireOwn(ofSecondary)
  await write(secondary, 3, 'new')
  await demote(primary)
  assert.deepEqual(await modeOf(primary), ['secondary', 'idle'])
  await requireOwn(ofPrimary)
  assert.equal((await update(servers, secondary, primary)).status, 200)
  await level(servers, secondary, primary)
  assert.ok(await has(primary, 'new2'))
  await requireOwn(ofPrimary)
  assert.equal((await primary.call('GET', 'auth/token/lookup-self', undefined, ofSecondary.service)).status, 403)
  await primary.must('GET', 'auth/token/lookup-self', undefined, ofSecondary.batch)
  assert.equal((await primary.call('GET', 'auth/token/lookup-self', undefined, ofSecondary.child)).status, 403)
})

test('a primary that handed over, started anew and was demoted writes what is its own', async () => {
  const { servers, primary, secondary, ofPrimary } = await pair(642)
  assert.equal((await promote(secondary)).status, 200)
  primary.kill()
  await servers.time.until(primary.restart(shareOf(primary)))
  assert.equal((await primary.call('PUT', 'sys/policies/acl/late', POLICY)).status, 503, 'it still hands over')
  await demote(primary)
  primary.kill()
  await servers.time.until(primary.restart(shareOf(primary)))
  await requireOwn(ofPrimary)
  assert.equal((await update(servers, secondary, primary)).status, 200)
  await level(servers, secondary, primary)
})

test('without its primary a performance secondary is promoted if nothing was missing, or says what', async () => {
  const whole = await pair(643)
  whole.servers.cut(whole.primary, whole.secondary)
  await whole.servers.time.pass(15_000)
  const promoted = await promote(whole.secondary)
  assert.equal(promoted.status, 200, JSON.stringify(promoted.body))
  await write(whole.secondary, 2, 'new')

  const { servers, primary, secondary, ofPrimary } = await pair(644)
  servers.network.set('one', 'two', { bytesPerSecond: 1_000 })
  await write(primary, 60, 'lost')
  await servers.time.pass(5_000)
  servers.cut(primary, secondary)
  await servers.time.pass(15_000)
  const refused = await promote(secondary)
  assert.equal(refused.status, 503, JSON.stringify(refused.body))
  assert.match(JSON.stringify(refused.body), /not caught up: its link was slow/)
  assert.equal(((await modeOf(secondary)) as string[])[0], 'secondary')
  assert.equal((await promote(secondary, { force: true })).status, 200)
  assert.equal(await modeOf(secondary), 'primary')
  assert.ok(!(await has(secondary, 'lost59')))

  // Both write: what the former primary has alone is undone when it follows, and kept aside.
  await write(primary, 3, 'alone')
  await primary.must('POST', 'sys/rotate')
  await write(primary, 2, 'sealed')
  await write(secondary, 3, 'new')
  servers.network.set('one', 'two', { bytesPerSecond: Number.POSITIVE_INFINITY })
  servers.heal(primary, secondary)
  await servers.time.pass(60_000)
  await demote(primary)
  assert.equal((await update(servers, secondary, primary)).status, 200)
  await level(servers, secondary, primary)
  for (const name of ['lost59', 'alone0', 'sealed1']) assert.ok(!(await has(primary, name)), name)
  assert.ok(await has(primary, 'new2'))
  await requireOwn(ofPrimary)
  const kept = await undoneNames(primary)
  for (const name of ['lost59', 'alone2', 'sealed1']) assert.ok(kept.has(name), `${name} of ${[...kept]}`)
  assert.ok(!kept.has('p0'))
})

/** The sets of records that were undone on a cluster. */
async function undoneOf(cluster: ReplicatedServer): Promise<readonly { readonly id: string }[]> {
  const { body } = await cluster.must('GET', 'sys/replication/undone')
  return (body.data?.undone ?? []) as readonly { readonly id: string }[]
}

/** Names of the policies in what was undone on a cluster. Each of their values can be read. */
async function undoneNames(cluster: ReplicatedServer): Promise<ReadonlySet<string>> {
  const names = new Set<string>()
  for (const { id } of await undoneOf(cluster)) {
    const shown = await cluster.must('GET', `sys/replication/undone/${id}?values=true`)
    const records = shown.body.data?.records as readonly { readonly operations: readonly Undone[] }[]
    for (const { class: storageClass, path, value } of records.flatMap(({ operations }) => operations)) {
      assert.equal(storageClass, 'replicated', path)
      if (!path.startsWith('sys/policy/')) continue
      assert.match(Buffer.from(value ?? '', 'base64').toString(), /capabilities/, path)
      names.add(path.slice('sys/policy/'.length))
    }
  }
  return names
}

type Undone = { readonly class: string; readonly path: string; readonly value?: string }

test('T64: behind the promotion of a performance secondary the others need new tokens, and go on by them', async () => {
  const { servers, primary, secondary } = await pair(645)
  const third = await servers.start('three')
  await servers.activate(primary, third, 'three', FAMILY)
  await level(servers, primary, third)
  await servers.giveRootToken(primary, third)
  const own = await ownOf(third)
  await write(primary, 1, 'before')
  const old = await servers.token(primary, 'four', {}, FAMILY)
  await demote(primary)
  assert.equal((await promote(secondary, { force: true })).status, 200)
  // The old authority is not that of the new primary.
  const moved = { update_primary_addrs: ['https://two:8201'] }
  const refused = await third.call('POST', `${PERFORMANCE}/secondary/update-primary`, moved)
  assert.equal(refused.status, 400, JSON.stringify(refused.body))
  const stale = await third.call('POST', `${PERFORMANCE}/secondary/update-primary`, { token: old })
  assert.equal(stale.status, 400, JSON.stringify(stale.body))
  await requireOwn(own)
  assert.equal((await update(servers, secondary, third)).status, 200)
  await write(secondary, 3, 'new')
  await level(servers, secondary, third)
  assert.ok(await has(third, 'new2'))
  assert.ok(await has(third, 'before0'))
  await requireOwn(own)
})

test('a primary that is demoted first leaves nothing behind, and follows its secondary', async () => {
  const { servers, primary, secondary, ofPrimary, ofSecondary } = await pair(646)
  await write(primary, 20, 'late')
  const { body } = await demote(primary)
  assert.equal((body.warnings as readonly string[]).length, 1, 'it says what it is now, and nothing is left')
  assert.ok(await has(secondary, 'late19'), 'the demotion waited for it')
  assert.equal((await promote(secondary)).status, 200, 'nothing was missing')
  assert.equal((await update(servers, secondary, primary)).status, 200)
  await level(servers, secondary, primary)
  assert.deepEqual(await undoneOf(primary), [])
  await requireOwn(ofPrimary)
  await requireOwn(ofSecondary)
})

test('a demotion says which connected secondaries may lack a part of the log', async () => {
  const { servers, primary, secondary } = await pair(649)
  servers.network.cut(secondary.name, primary.name)
  await write(primary, 3, 'late')
  const { body } = await demote(primary)
  assert.match(String(body.warnings), /Not all that this cluster wrote is known to be at two: a promotion of one/)
})

test('a performance secondary is given no primary, another set, and its primary: its own data stay', async () => {
  const { servers, primary, secondary, ofSecondary } = await pair(647)
  const given = (body: object) => secondary.call('POST', `${PERFORMANCE}/secondary/update-primary`, body)
  const other = await servers.start('other')
  await servers.enable(other, FAMILY)
  for (const [body, says] of [
    [{ token: await servers.token(other, 'two', {}, FAMILY) }, /of another set/],
    [{ token: await servers.token(other, 'two', {}, FAMILY), force: true }, /follows a primary: give a blank/],
    [{ token: 'garbage' }, /token/],
    [{ token: null }, /field \\"token\\": is null: send the activation token/],
    [{}, /token/],
  ] as const) {
    const refused = await given(body)
    assert.equal(refused.status, 400, JSON.stringify(refused.body))
    assert.match(JSON.stringify(refused.body), says)
  }
  await write(primary, 2, 'on')
  await level(servers, primary, secondary)
  assert.equal((await given({ token: ' ' })).status, 200)
  await write(primary, 3, 'missed')
  for (let each = 0; each < 2; each++) {
    await servers.time.pass(5_000)
    assert.deepEqual(await modeOf(secondary), ['secondary', 'idle'])
    await requireOwn(ofSecondary)
    assert.ok(!(await has(secondary, 'missed0')))
    assert.equal((await secondary.call('PUT', 'sys/policies/acl/none', POLICY)).status, 503)
    secondary.kill()
    await servers.time.until(secondary.restart(shareOf(primary)))
  }
  // Its keys are not those of the other set, so that its own data could not be opened there.
  const foreign = await given({ token: await servers.token(other, 'two', {}, FAMILY), force: true })
  assert.equal(foreign.status, 400, JSON.stringify(foreign.body))
  await requireOwn(ofSecondary)
  await primary.must('POST', `${PERFORMANCE}/primary/revoke-secondary`, { id: 'two' })
  assert.equal((await update(servers, primary, secondary)).status, 200)
  await level(servers, primary, secondary)
  assert.ok(await has(secondary, 'missed2'))
  await requireOwn(ofSecondary)
})

test('update_primary_addrs takes addresses where the primary answers; without one nothing changes', async () => {
  const { servers, primary, secondary, ofSecondary } = await pair(648)
  const moved = (addresses: readonly string[], more: object = {}, of = secondary) =>
    of.call('POST', `${PERFORMANCE}/secondary/update-primary`, { update_primary_addrs: addresses, ...more })
  const other = await servers.start('other')
  await servers.enable(other, FAMILY)
  const before = await secondary.status(FAMILY)
  const refuse = async (says: RegExp, ...of: Parameters<typeof moved>) => {
    const refused = await moved(...of)
    assert.equal(refused.status, 400, JSON.stringify(refused.body))
    assert.match(JSON.stringify(refused.body), says)
  }
  await refuse(/answers at none of/, ['https://nowhere:8201', 'https://other:8201'])
  await refuse(/excludes .+token/, ['https://one:8201'], { token: 'any' })
  await refuse(/update_primary_addrs/, ['http://one:8201'])
  await refuse(/more than 16/, new Array<string>(17).fill('https://one:8201'))
  const { primary_cluster_addr: address } = await secondary.status(FAMILY)
  assert.deepEqual(address, before.primary_cluster_addr)
  assert.equal((await moved(['https://nowhere:8201', 'https://one:8201'])).status, 200)
  await write(primary, 2, 'on')
  await level(servers, primary, secondary)
  await requireOwn(ofSecondary)
  // Whoever waits for the answer has no use for it minutes later.
  servers.cut(primary, secondary)
  const askedAtMs = servers.time.nowMs
  await refuse(/was not tried/, new Array<string>(16).fill('https://one:8201'))
  assert.ok(servers.time.nowMs - askedAtMs < 60_000, `${servers.time.nowMs - askedAtMs} ms`)
  servers.heal(primary, secondary)
  await level(servers, primary, secondary)
  await primary.must('POST', `${PERFORMANCE}/primary/revoke-secondary`, { id: 'two' })
  await refuse(/one:8201 refuses: The primary revoked this secondary/, ['https://one:8201'])
  await demote(primary)
  await refuse(/no primary whose addresses/, ['https://two:8201'], {}, primary)
})

test('T67: a performance set that one side leaves and enables again is another one', async () => {
  const { servers, primary, secondary, ofPrimary, ofSecondary } = await pair(649)
  const id = (await primary.status(FAMILY)).cluster_id
  await secondary.must('POST', `${PERFORMANCE}/secondary/disable`)
  assert.deepEqual(await secondary.status(FAMILY), { mode: 'disabled' })
  // On its own, with all that the set shared.
  await requireOwn(ofSecondary)
  assert.ok(await has(secondary, 'p4'))
  await secondary.must('POST', 'shared/keys/k/rotate')
  await write(primary, 2, 'later')
  await servers.time.pass(20_000)
  assert.ok(!(await has(secondary, 'later0')))
  await servers.enable(secondary, FAMILY)
  const third = await servers.start('three')
  await servers.activate(secondary, third, 'three', FAMILY)
  await level(servers, secondary, third)
  assert.notEqual((await secondary.status(FAMILY)).cluster_id, id)
  assert.notEqual((await primary.must('GET', 'shared/keys/k')).body.data?.latest_version, 2)

  await primary.must('POST', `${PERFORMANCE}/primary/disable`)
  await requireOwn(ofPrimary)
  await primary.must('POST', `${PERFORMANCE}/primary/enable`, {})
  assert.notEqual((await primary.status(FAMILY)).cluster_id, id)
  assert.deepEqual((await primary.status(FAMILY)).known_secondaries, [])
})

test('a performance secondary that is revoked is cut off within a second, and serves what it has', async () => {
  const { servers, primary, secondary, ofSecondary } = await pair(650)
  await primary.must('POST', `${PERFORMANCE}/primary/revoke-secondary`, { id: 'two' })
  await servers.time.pass(1_000)
  await write(primary, 2, 'later')
  await servers.time.pass(70_000)
  const { mode, state, idle_reason: reason } = await secondary.status(FAMILY)
  assert.deepEqual([mode, state, reason], ['secondary', 'idle', 'revoked'])
  assert.ok(!(await has(secondary, 'later0')))
  assert.ok(await has(secondary, 'p4'))
  await secondary.must('GET', 'shared/keys/k')
  await requireOwn(ofSecondary)
  assert.equal((await update(servers, primary, secondary)).status, 200)
  await level(servers, primary, secondary)
  assert.ok(await has(secondary, 'later1'))
})

/** Who a performance secondary is, and the public half of the key that it was let in with. */
async function identityOf({ servers, secondary }: Awaited<ReturnType<typeof pair>>) {
  const sets = secondary.server.node.storage.view(systemScope, SETS_FOLDER)
  return servers.time.until(
    sets.transaction(async (tx) => {
      const found = (await ownIdentity(tx, FAMILY)) ?? assert.fail('it is a secondary')
      const seed = (await tx.get('performance/receiver')) ?? assert.fail('it was let in')
      return { ...found, receiver: x25519Key(seed).publicKey }
    }),
  )
}

test('T65: a performance secondary proves no takeover with its certificate: that is refused, and logged', async () => {
  const all = await pair(651)
  const { servers, primary, secondary } = all
  const { peer, own, trusted, receiver } = await identityOf(all)
  const { historyId } = await servers.time.until(secondary.server.store.position())
  const { setId, family, id } = peer
  const knock = {
    what: 'took-over',
    set: { setId, family },
    id,
    identity: { key: loadScalar(P256, own.key), certificate: own.certificate, trusted },
    address: 'https://one:8201',
    facts: { version: VERSION, clusterId: 'two', clusterAddresses: [], apiAddress: 'https://two:8200' },
    takeover: { epoch: 9, historyId, receiver, followed: undefined, before: [] },
  } as const
  const world = { ...secondary.server.world, links: servers.network.host('two').links }
  const parts = { world, times: LINK_TIMES, counts: () => () => {} }
  assert.deepEqual(await servers.time.until(askPrimary(parts, knock, new AbortController().signal)), {
    kind: 'refused',
    code: 'not-primary',
    sentence: 'Only disaster recovery has clusters that take over from a primary',
  })
  assert.match(primary.server.logged.join(), /A secondary says that it took over, and is not believed[^\n]*"two"/)
  assert.equal((await primary.status(FAMILY)).fenced, false)
  await write(primary, 1, 'on')
})

test('a promoted performance secondary rotates the keys of the set by itself, and shares its new term', async () => {
  const { servers, primary, secondary } = await pair(652)
  const third = await servers.start('three')
  await primary.must('POST', 'shared/keys/often', { auto_rotate_period: '1h' })
  await level(servers, primary, secondary)
  const versionOn = async (of: ReplicatedServer) =>
    Number((await of.must('GET', 'shared/keys/often')).body.data?.latest_version)
  const termOn = async (of: ReplicatedServer) => Number((await of.must('GET', 'sys/key-status')).body.data?.term)
  const term = await termOn(primary)
  primary.kill()
  await servers.time.pass(2 * 3_600_000)
  assert.equal(await versionOn(secondary), 1, 'its primary is to do that')
  assert.equal((await promote(secondary, { force: true })).status, 200)
  await servers.time.pass(3_600_000 + 60_000)
  assert.ok((await versionOn(secondary)) > 1)
  assert.equal(await termOn(secondary), term + 1)
  await servers.activate(secondary, third, 'three', FAMILY)
  await level(servers, secondary, third)
  await servers.giveRootToken(primary, third)
  assert.equal(await termOn(third), term + 1)
  assert.equal(await versionOn(third), await versionOn(secondary))
  // The ledger of a shared mount goes on under the name that the cluster has.
  const data = await secondary.must('POST', 'shared/encrypt/k', { plaintext: 'aGk=' })
  assert.match(String(data.body.data?.ciphertext), /^vault:v1:/)
})

test('when the data key is rotated is the same on each cluster of a set, and holds where one is promoted', async () => {
  const { servers, primary, secondary } = await pair(657)
  const configOn = async (of: ReplicatedServer) => (await of.must('GET', 'sys/rotate/config')).body.data
  const termOn = async (of: ReplicatedServer) => Number((await of.must('GET', 'sys/key-status')).body.data?.term)
  await primary.must('POST', 'sys/rotate/config', { max_operations: 100_000_000 })
  await level(servers, primary, secondary)
  const { body } = await secondary.must('POST', 'sys/rotate/config', { interval: '24h' })
  assert.equal(body.warnings, undefined)
  const config = { enabled: true, max_operations: 100_000_000, interval: 86_400 }
  for (const each of [secondary, primary]) assert.deepEqual(await configOn(each), config, each.name)
  assert.equal((await promote(secondary)).status, 200)
  const term = await termOn(secondary)
  for (const [hours, added] of [
    [23, 0],
    [25, 1],
  ] as const) {
    secondary.aheadMs = hours * 3_600_000
    await servers.time.pass(360_000)
    assert.equal(await termOn(secondary), term + added, `${hours} hours`)
  }
  // What is not sent stays as the former primary had it.
  await secondary.must('POST', 'sys/rotate/config', { enabled: false })
  assert.deepEqual(await configOn(secondary), { ...config, enabled: false })
})

/** What a snapshot of a cluster is taken from, and restored by. */
async function lifeOf(servers: ReplicatedServers, cluster: ReplicatedServer) {
  const { server } = cluster
  const record = await servers.time.until(readRecord(server.store, ROOT_KEY))
  // One share opens it, and so is its key.
  const rootKey = openRootKey(importSecret(shareOf(cluster)), record)
  return { ...server, barrier: server.node.storage.barrier, rootKey }
}

test('T49: a performance primary that is restored stays one, and its secondaries follow it back', async () => {
  const { servers, primary, secondary, ofSecondary } = await pair(653)
  const life = await lifeOf(servers, primary)
  const taken = await servers.time.until(takeSnapshot(life))
  const third = await servers.start('three')
  await servers.activate(primary, third, 'three', FAMILY)
  await level(servers, primary, third)
  await write(primary, 3, 'later')
  await primary.must('POST', `${PERFORMANCE}/primary/revoke-secondary`, { id: 'three' })
  await level(servers, primary, secondary)
  const tables = await servers.time.until(restoredTables(life, taken))
  primary.kill()
  primary.putBack(tables)
  await servers.time.until(primary.restart(shareOf(primary)))
  assert.deepEqual((await primary.status(FAMILY)).known_secondaries, ['two'], 'as it was before the restore')
  await write(primary, 2, 'new')
  await level(servers, primary, secondary)
  assert.ok(await has(secondary, 'new1'))
  assert.ok(!(await has(secondary, 'later0')))
  await requireOwn(ofSecondary)
  await servers.time.pass(70_000)
  assert.equal((await third.status(FAMILY)).idle_reason, 'revoked')
  // A secondary is not restored: its primary has what is to stay.
  assert.equal((await secondary.call('POST', 'sys/storage/snapshot')).status, 400)
})

test('T49: secret ids of a restored primary log in on a secondary that knew those of before', async () => {
  const { servers, primary, secondary } = await pair(658)
  await primary.must('POST', 'sys/auth/approle', { type: 'approle' })
  const life = await lifeOf(servers, primary)
  // The key of the digests is made later, with the first role.
  const taken = await servers.time.until(takeSnapshot(life))
  const logIn = async () => {
    await primary.must('POST', 'auth/approle/role/web', {})
    const { body } = await primary.must('POST', 'auth/approle/role/web/secret-id')
    const { role_id } = (await primary.must('GET', 'auth/approle/role/web/role-id')).body.data ?? {}
    await level(servers, primary, secondary)
    return secondary.call('POST', 'auth/approle/login', { role_id, secret_id: body.data?.secret_id }, '')
  }
  assert.equal((await logIn()).status, 200)
  const tables = await servers.time.until(restoredTables(life, taken))
  primary.kill()
  primary.putBack(tables)
  await servers.time.until(primary.restart(shareOf(primary)))
  assert.equal((await logIn()).status, 200)
})
