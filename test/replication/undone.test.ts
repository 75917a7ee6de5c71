// What a cluster wrote behind a fork is undone when it follows its new primary, and kept aside: all of that and nothing
// else. Whole servers, over the simulated network, in virtual time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readLineage, SETS_FOLDER, setPath } from '../../src/replication/set/records.ts'
import { UNDONE_FOLDER } from '../../src/replication/undone/undone-records.ts'
import { systemScope } from '../../src/storage/contract.ts'
import { REPLACED_KEYS } from '../../src/system/seal/seal-records.ts'
import type { ReplicatedServer } from '../fixtures/replicated-server.ts'
import { bothWays, followedServers, type ReplicatedServers } from '../fixtures/replicated-servers.ts'

const DR = 'sys/replication/dr'
const POLICY = 'path "a" { capabilities = ["read"] }'

type Operation = { readonly kind: string; readonly path: string; readonly readable: boolean; readonly value?: string }
type Shown = { readonly index: number; readonly primary_index?: number; readonly operations: readonly Operation[] }
type Listed = Readonly<Record<string, unknown>> & { readonly id: string; readonly records: number }

async function write(server: ReplicatedServer, names: readonly string[]): Promise<void> {
  for (const name of names) await server.must('PUT', `sys/policies/acl/${name}`, { policy: POLICY })
}

const shareOf = ({ server }: ReplicatedServer): Buffer => Buffer.from(server.shares[0] ?? assert.fail('it has a share'))

/** A pair that is level, and a token that both judge. */
async function pair(seed: number) {
  const { servers, primary, secondary } = await followedServers(seed)
  const rule = (path: string, what: string): string => `path "${DR}/secondary/${path}" { capabilities = [${what}] }\n`
  const policy = rule('*', '"update"') + rule('undone/*', '"update", "sudo"')
  await primary.must('PUT', 'sys/policies/acl/failover', { policy })
  const asked = { policies: ['failover'], type: 'batch', ttl: '8h' }
  const { body } = await primary.must('POST', 'auth/token/create-orphan', asked)
  const token = String((body.auth as { readonly client_token: string }).client_token)
  await write(primary, ['shared0', 'shared1'])
  await servers.level(primary, secondary)
  return { servers, primary, secondary, token }
}

const operate = (server: ReplicatedServer, token: string, what: string, body: object = {}) =>
  server.must('POST', `${DR}/secondary/${what}`, { dr_operation_token: token, ...body }, '')

/** The secondary is promoted behind a partition; both primaries write. */
async function fork(seed: number, alone: (primary: ReplicatedServer) => Promise<void>) {
  const { servers, primary, secondary, token } = await pair(seed)
  servers.cut(primary, secondary)
  await servers.time.pass(15_000)
  await operate(secondary, token, 'promote', { force: true })
  await alone(primary)
  await write(secondary, ['new0'])
  return { servers, primary, secondary, token }
}

type Forked = Awaited<ReturnType<typeof fork>>

/** The link heals, and the former primary is fenced and demoted. */
async function demoted({ servers, primary, secondary }: Forked): Promise<void> {
  servers.heal(primary, secondary)
  await servers.time.pass(30_000)
  assert.equal((await primary.status()).fenced, true)
  await primary.must('POST', `${DR}/primary/demote`)
}

async function follow(servers: ReplicatedServers, to: ReplicatedServer, from: ReplicatedServer, token: string) {
  await operate(from, token, 'update-primary', { token: await servers.token(to, from.name) })
}

async function rejoined(forked: Forked): Promise<void> {
  const { servers, primary, secondary, token } = forked
  await demoted(forked)
  await follow(servers, secondary, primary, token)
  await servers.level(secondary, primary)
  await servers.requireSame(secondary, primary)
}

async function listed(server: ReplicatedServer, token: string): Promise<readonly Listed[]> {
  const { body } = await operate(server, token, 'undone')
  return body.data?.undone as readonly Listed[]
}

/** All records of a set, a few at a time. */
async function shown(server: ReplicatedServer, token: string, id: string, more: object = {}): Promise<Shown[]> {
  const records: Shown[] = []
  for (let after: number | undefined = 0; after !== undefined; ) {
    const { body } = await operate(server, token, 'undone/show', { id, after, limit: 3, ...more })
    records.push(...((body.data?.records ?? []) as readonly Shown[]))
    after = body.data?.next_after as number | undefined
  }
  return records
}

const paths = (records: readonly Shown[]): string[] =>
  records.flatMap(({ operations }) => operations.map(({ kind, path }) => `${kind} ${path}`))

const policies = (...names: readonly string[]): string[] => names.map((name) => `put sys/policy/${name}`)

const onlyOne = (sets: readonly Listed[]): Listed => {
  assert.equal(sets.length, 1, JSON.stringify(sets))
  return sets[0] as Listed
}

/** The name of the policy record in a value. */
const clear = ({ value }: Operation): string => Buffer.from(value ?? assert.fail('it has a value'), 'base64').toString()

test('T57: what a primary wrote behind a partition is undone when it rejoins, and that is kept aside', async () => {
  const forked = await fork(57, async (primary) => {
    await write(primary, ['extra0', 'extra1', 'shared1', 'extra2'])
    await primary.must('DELETE', 'sys/policies/acl/shared0')
  })
  const { servers, primary, secondary, token } = forked
  assert.equal((await primary.status()).undone_records, undefined)
  await rejoined(forked)
  const set = onlyOne(await listed(primary, token))
  assert.deepEqual(
    [set.records, set.complete, set.finished, set.written_here, set.records_left_out],
    [5, true, true, true, 0],
  )
  assert.equal(set.cluster_id, (await primary.status()).cluster_id)
  assert.equal((await primary.status()).undone_records, 5)
  const records = await shown(primary, token, set.id)
  assert.deepEqual(paths(records), [...policies('extra0', 'extra1', 'shared1', 'extra2'), 'delete sys/policy/shared0'])
  assert.deepEqual([records[0]?.index, records.at(-1)?.index], [set.first_index, set.last_index])
  assert.ok(records.every(({ operations }) => operations.every(({ value }) => value === undefined)))
  const opened = await shown(primary, token, set.id, { values: true })
  const [first, last] = [opened[0]?.operations[0], opened.at(-1)?.operations[0]]
  assert.match(clear(first as Operation), /capabilities/)
  assert.deepEqual([last?.readable, last?.value], [false, undefined])
  await servers.time.pass(2_000)
  const asked = await secondary.call('POST', `${DR}/secondary/undone`, { dr_operation_token: token })
  assert.equal(asked.status, 400, 'a primary has no operation tokens')
  assert.deepEqual((await secondary.must('GET', 'sys/replication/undone')).body.data, { undone: [] })
})

test('a batch token for failing over lists what was undone, and neither reads the values nor deletes', async () => {
  const forked = await fork(573, (primary) => write(primary, ['extra0']))
  const { primary, secondary, token } = forked
  const policy = `path "${DR}/secondary/*" { capabilities = ["update"] }`
  await secondary.must('PUT', 'sys/policies/acl/plain', { policy })
  const asked = { policies: ['plain'], type: 'batch', ttl: '8h' }
  const { body } = await secondary.must('POST', 'auth/token/create-orphan', asked)
  const plain = String((body.auth as { readonly client_token: string }).client_token)
  await rejoined(forked)
  const { id } = onlyOne(await listed(primary, plain))
  assert.deepEqual(paths(await shown(primary, plain, id)), policies('extra0'))
  const call = (what: string, dr_operation_token: string, more: object) =>
    primary.call('POST', `${DR}/secondary/undone/${what}`, { dr_operation_token, id, ...more }, '')
  for (const refused of [await call('show', plain, { values: true }), await call('delete', plain, {})]) {
    assert.equal(refused.status, 403)
    assert.match(JSON.stringify(refused.body), /whose policy allows .*update.* and .*sudo.* on sys\/replication/)
  }
  assert.equal((await call('show', token, { values: true })).status, 200)
  assert.equal((await call('delete', token, {})).status, 204)
})

test('T57: what was sealed under a term that the new primary never had is shown', async () => {
  const forked = await fork(571, async (primary) => {
    await primary.must('POST', 'sys/rotate')
    await write(primary, ['extra0'])
  })
  const { servers, primary, secondary, token } = forked
  await rejoined(forked)
  const set = onlyOne(await listed(primary, token))
  for (let each = 0; each < 2; each++) {
    const records = await shown(primary, token, set.id, { values: true })
    assert.deepEqual(paths(records), ['put core/keyring', ...policies('extra0')])
    const [keyring, extra] = records.map(({ operations }) => operations[0] as Operation)
    assert.deepEqual([keyring?.readable, keyring?.value], [false, undefined], 'data keys are never shown')
    assert.match(clear(extra as Operation), /capabilities/)
    await secondary.must('POST', 'sys/rotate')
    await servers.level(secondary, primary)
    // Then only the keyring that was kept with the records has the term.
    const { store } = primary.server
    await servers.time.until(store.transaction(async (tx) => tx.delete(systemScope, REPLACED_KEYS)))
    primary.kill()
    await servers.time.until(primary.restart(shareOf(primary)))
    await servers.level(secondary, primary)
  }
})

test('undone records are shown to sudo where the cluster is promoted again, and deleted', async () => {
  const forked = await fork(572, (primary) => write(primary, ['extra0', 'extra1']))
  const { servers, primary, token } = forked
  await rejoined(forked)
  await servers.time.pass(1_000)
  await operate(primary, token, 'promote')
  const { body } = await primary.must('GET', 'sys/replication/undone')
  const set = onlyOne(body.data?.undone as readonly Listed[])
  const page = await primary.must('GET', `sys/replication/undone/${set.id}?values=true&limit=1`)
  const [record] = (page.body.data?.records ?? []) as readonly Shown[]
  assert.match(clear(record?.operations[0] as Operation), /capabilities/)
  assert.equal(page.body.data?.next_after, set.first_index)
  for (const id of ['x', '../../keyring', 'f'.repeat(32)]) {
    const missing = await primary.call('GET', `sys/replication/undone/${encodeURIComponent(id)}`)
    assert.ok(missing.status === 404 || missing.status === 400, `${id}: ${missing.status}`)
  }
  await primary.must('POST', 'sys/policies/acl/reader', {
    policy: 'path "sys/replication/undone*" { capabilities = ["read", "delete"] }',
  })
  const made = await primary.must('POST', 'auth/token/create', { policies: ['reader'] })
  const reader = String((made.body.auth as { readonly client_token: string }).client_token)
  assert.equal((await primary.call('GET', 'sys/replication/undone', undefined, reader)).status, 403)
  await primary.must('DELETE', `sys/replication/undone/${set.id}`)
  assert.deepEqual((await primary.must('GET', 'sys/replication/undone')).body.data, { undone: [] })
  assert.equal((await primary.call('DELETE', `sys/replication/undone/${set.id}`)).status, 404)
  const left = await servers.time.until(primary.server.store.scan(UNDONE_FOLDER, '', 10))
  assert.deepEqual(left, [])
})

/** Two secondaries, of which `third` has two writes more of the primary. Both are cut off from it. */
async function twoCutOff(seed: number) {
  const { servers, primary, secondary, token } = await pair(seed)
  const third = await servers.start('three')
  await servers.activate(primary, third)
  await servers.level(primary, third)
  await servers.time.pass(1_000)
  await servers.level(primary, third)
  // The copy has no records: one that both followed tells that none is missing behind it.
  await write(primary, ['shared2'])
  for (const one of [secondary, third]) await servers.level(primary, one)
  servers.cut(primary, secondary)
  await write(primary, ['extra0', 'extra1'])
  await servers.level(primary, third)
  await servers.time.pass(15_000)
  servers.cut(primary, third)
  await operate(secondary, token, 'promote', { force: true })
  await write(secondary, ['new0'])
  return { servers, secondary, third, token }
}

/** Shows that `extra0` and `extra1`, and nothing else, are kept in a set of what another cluster wrote. */
async function requireExtra(third: ReplicatedServer, token: string, set: Listed): Promise<void> {
  assert.deepEqual([set.records, set.written_here, set.complete], [2, false, true])
  const records = await shown(third, token, set.id, { values: true })
  assert.deepEqual(paths(records), policies('extra0', 'extra1'))
  assert.deepEqual(
    records.map(({ primary_index: index }) => Number(index) > Number(set.fork_index)),
    [true, true],
  )
  assert.match(clear(records[1]?.operations[0] as Operation), /capabilities/)
}

test('a secondary that had more of the former primary than the new one keeps just that', async () => {
  const { servers, secondary, third, token } = await twoCutOff(573)
  await follow(servers, secondary, third, token)
  await servers.level(secondary, third)
  await servers.requireSame(secondary, third)
  await requireExtra(third, token, onlyOne(await listed(third, token)))
})

test('one that had more, and was promoted too, keeps that and what it wrote then', async () => {
  const { servers, secondary, third, token } = await twoCutOff(5731)
  await operate(third, token, 'promote', { force: true })
  await write(third, ['own0'])
  await third.must('POST', `${DR}/primary/demote`)
  await follow(servers, secondary, third, token)
  await servers.level(secondary, third)
  await servers.requireSame(secondary, third)
  const sets = await listed(third, token)
  const [own, others] = [true, false].map((isOwn) => onlyOne(sets.filter((one) => one.written_here === isOwn)))
  const written = paths(await shown(third, token, own?.id ?? '', {}))
  assert.deepEqual(
    written.filter((path) => path.includes('policy')),
    policies('own0'),
  )
  await requireExtra(third, token, others ?? assert.fail('there are two'))
})

test('nothing is kept where nothing is undone', async () => {
  const { servers, primary, secondary, token } = await pair(574)
  await operate(secondary, token, 'promote')
  await primary.must('POST', `${DR}/primary/demote`)
  await follow(servers, secondary, primary, token)
  await servers.level(secondary, primary)
  await servers.requireSame(secondary, primary)
  assert.deepEqual(await listed(primary, token), [])
})

test('a log that is pruned behind the fork: what is there is kept, and the list says what may be missing', async () => {
  const forked = await fork(575, (primary) => write(primary, ['extra0', 'extra1']))
  const { primary, token } = forked
  await primary.forgetLog()
  await write(primary, ['extra2'])
  await rejoined(forked)
  const set = onlyOne(await listed(primary, token))
  assert.deepEqual([set.records, set.complete, set.missing_up_to], [1, false, Number(set.first_index) - 1])
  assert.deepEqual(paths(await shown(primary, token, set.id)), policies('extra2'))
})

test('the power goes between keeping and undoing: the same records are kept, once', async () => {
  const forked = await fork(576, (primary) => write(primary, ['extra0', 'extra1']))
  const { servers, primary, secondary, token } = forked
  await demoted(forked)
  const { store } = primary.server
  let isAdopted = false
  store.adopt = () => {
    isAdopted = true
    return new Promise(() => {})
  }
  await follow(servers, secondary, primary, token)
  for (let each = 0; !isAdopted; each++) {
    assert.ok(each < 200, 'the new primary sends nothing')
    await servers.time.pass(50)
  }
  primary.kill()
  await servers.time.until(primary.restart(shareOf(primary)))
  const before = onlyOne(await listed(primary, token))
  assert.ok((await primary.call('GET', 'sys/policies/acl/extra0')).status >= 400)
  await servers.level(secondary, primary)
  await servers.requireSame(secondary, primary)
  assert.deepEqual(onlyOne(await listed(primary, token)), before)
  assert.deepEqual(paths(await shown(primary, token, before.id)), policies('extra0', 'extra1'))
})

/** One more secondary, which has all. */
async function joined(servers: ReplicatedServers, primary: ReplicatedServer, name: string) {
  const one = await servers.start(name)
  await servers.activate(primary, one)
  await servers.level(primary, one)
  await servers.time.pass(1_000)
  await servers.level(primary, one)
  return one
}

test('what a primary wrote alone is kept although the cluster that took over has a successor by then', async () => {
  const forked = await fork(577, (primary) => write(primary, ['extra0', 'extra1']))
  const { servers, primary, secondary, token } = forked
  const third = await joined(servers, secondary, 'three')
  await operate(third, token, 'promote')
  await demoted(forked)
  primary.kill()
  await servers.time.until(primary.restart(shareOf(primary)))
  await follow(servers, third, primary, token)
  await servers.level(third, primary)
  await servers.requireSame(third, primary)
  const set = onlyOne(await listed(primary, token))
  assert.deepEqual([set.records, set.written_here, set.complete], [2, true, true])
  assert.deepEqual(paths(await shown(primary, token, set.id)), policies('extra0', 'extra1'))
})

/** A primary that two cut off, one after the other, and that never hears of the first: it follows the second. */
async function unheardOf(seed: number, forget: (third: ReplicatedServer) => Promise<void> = async () => {}) {
  const forked = await fork(seed, (primary) => write(primary, ['extra0', 'extra1']))
  const { servers, primary, secondary, token } = forked
  const third = await joined(servers, secondary, 'three')
  servers.cut(primary, third)
  await operate(third, token, 'promote')
  secondary.kill()
  servers.heal(primary, secondary)
  await primary.must('POST', `${DR}/primary/demote`)
  servers.heal(primary, third)
  await servers.time.until(forget(third))
  await follow(servers, third, primary, token)
  await servers.level(third, primary)
  await servers.requireSame(third, primary)
  return paths(await shown(primary, token, onlyOne(await listed(primary, token)).id)).filter(isPolicy)
}

const isPolicy = (path: string): boolean => path.includes('sys/policy/')

test('a primary that never heard of who took over from it keeps what the last of them does not have', async () => {
  assert.deepEqual(await unheardOf(578), policies('extra0', 'extra1'))
})

test('where nobody knows what it has alone, a primary keeps all that it wrote since its log began', async () => {
  const kept = await unheardOf(5781, async ({ server }) => {
    const sets = server.node.storage.view(systemScope, SETS_FOLDER)
    await sets.transaction(async (tx) => {
      for (const entry of ['lineage', 'promotions'] as const) tx.delete(setPath('dr', entry))
    })
  })
  for (const extra of policies('shared0', 'extra0', 'extra1')) assert.ok(kept.includes(extra), extra)
})

test('who had more of a lost primary keeps it, also where the one that took over is lost as well', async () => {
  const { servers, secondary, third, token } = await twoCutOff(582)
  const fourth = await joined(servers, secondary, 'four')
  await operate(fourth, token, 'promote')
  secondary.kill()
  await write(fourth, ['newer0'])
  await follow(servers, fourth, third, token)
  await servers.level(fourth, third)
  await servers.requireSame(fourth, third)
  await requireExtra(third, token, onlyOne(await listed(third, token)))
})

test('of two that were promoted the one that follows the other keeps just what it wrote since', async () => {
  const { servers, primary, secondary, token } = await pair(579)
  const third = await joined(servers, primary, 'three')
  primary.kill()
  await servers.time.pass(15_000)
  for (const one of [secondary, third]) await operate(one, token, 'promote', { force: true })
  await write(third, ['extra0', 'extra1'])
  await write(secondary, ['new0'])
  await third.must('POST', `${DR}/primary/demote`)
  await follow(servers, secondary, third, token)
  await servers.level(secondary, third)
  await servers.requireSame(secondary, third)
  const set = onlyOne(await listed(third, token))
  assert.deepEqual([set.written_here, set.complete], [true, true])
  const kept = paths(await shown(third, token, set.id)).filter((path) => path.includes('sys/policy/'))
  assert.deepEqual(kept, policies('extra0', 'extra1'))
})

test('all that the log has is kept where the one that took over was in the middle of a comparison', async () => {
  const { servers, primary, secondary, token } = await pair(580)
  secondary.kill()
  await write(primary, ['gone0'])
  await primary.forgetLog()
  await write(primary, ['missed0', 'missed1'])
  for (const [from, to] of bothWays(primary, secondary)) servers.network.set(from, to, { delayMs: 1_000 })
  await servers.time.until(secondary.restart(shareOf(primary)))
  for (let each = 0; (await secondary.status()).state !== 'merkle-diff'; each++) {
    assert.ok(each < 200, 'a comparison begins')
    await servers.time.pass(100)
  }
  servers.cut(primary, secondary)
  await servers.time.pass(20_000)
  await operate(secondary, token, 'promote', { force: true })
  for (const [from, to] of bothWays(primary, secondary)) servers.network.set(from, to, { delayMs: 1 })
  const forked = { servers, primary, secondary, token }
  await rejoined(forked)
  assert.equal((await secondary.call('GET', 'sys/policies/acl/missed0')).status, 404)
  const set = onlyOne(await listed(primary, token))
  assert.deepEqual([set.written_here, set.complete, set.missing_up_to], [true, false, Number(set.first_index) - 1])
  const kept = paths(await shown(primary, token, set.id)).filter((path) => path.includes('sys/policy/'))
  assert.deepEqual(kept, policies('missed0', 'missed1'))
})

async function allKept(server: ReplicatedServer, token: string): Promise<readonly string[]> {
  const kept: string[] = []
  for (const { id } of await listed(server, token)) kept.push(...paths(await shown(server, token, id)))
  return kept.filter(isPolicy)
}

test('who followed the one of two promoted clusters that is lost keeps what the other one does not have', async () => {
  const { servers, primary, secondary, token } = await pair(583)
  const [third, fourth] = [await joined(servers, primary, 'three'), await joined(servers, primary, 'four')]
  primary.kill()
  await servers.time.pass(15_000)
  for (const one of [secondary, third]) await operate(one, token, 'promote', { force: true })
  await follow(servers, secondary, fourth, token)
  await servers.level(secondary, fourth)
  await servers.time.pass(1_000)
  await write(secondary, ['extra0', 'extra1'])
  await servers.level(secondary, fourth)
  secondary.kill()
  await write(third, ['new0'])
  await follow(servers, third, fourth, token)
  await servers.level(third, fourth)
  await servers.requireSame(third, fourth)
  assert.deepEqual(await allKept(fourth, token), policies('extra0', 'extra1'))
})

test('a cluster whose comparison never began does not say that it has what its primary has', async () => {
  const { servers, primary, secondary, token } = await pair(584)
  const [third, more] = [await joined(servers, primary, 'three'), await joined(servers, primary, 'more')]
  servers.cut(primary, secondary)
  await write(primary, ['extra0', 'extra1'])
  for (const one of [third, more]) await servers.level(primary, one)
  primary.kill()
  await servers.time.pass(15_000)
  await operate(secondary, token, 'promote', { force: true })
  const fourth = await joined(servers, secondary, 'four')
  await operate(third, token, 'promote', { force: true })
  secondary.kill()
  await servers.time.pass(1_000)
  // It is led to the one that has the extra writes, and its power goes before anything of that is stored.
  let isAdopted = false
  fourth.server.store.adopt = () => {
    isAdopted = true
    return new Promise(() => {})
  }
  await follow(servers, third, fourth, token)
  while (!isAdopted) await servers.time.pass(50)
  for (const one of [fourth, third]) one.kill()
  await servers.time.until(fourth.restart(shareOf(primary)))
  await servers.time.pass(16_000)
  await operate(fourth, token, 'promote', { force: true })
  assert.equal((await fourth.call('GET', 'sys/policies/acl/extra0')).status, 404)
  await follow(servers, fourth, more, token)
  await servers.level(fourth, more)
  await servers.requireSame(fourth, more)
  const kept = await allKept(more, token)
  for (const extra of policies('extra0', 'extra1')) assert.ok(kept.includes(extra), kept.join())
})

test('who goes on by the log of its primary learns of the primaries before with the next link', async () => {
  const { servers, primary, secondary, token } = await pair(585)
  const away = await joined(servers, primary, 'away')
  away.kill()
  await operate(secondary, token, 'promote')
  await primary.must('POST', `${DR}/primary/demote`)
  await follow(servers, secondary, primary, token)
  await servers.level(secondary, primary)
  secondary.kill()
  await servers.time.pass(15_000)
  await operate(primary, token, 'promote', { force: true })
  await servers.time.until(away.restart(shareOf(primary)))
  await follow(servers, primary, away, token)
  await servers.time.pass(2_000)
  await servers.level(primary, away)
  assert.equal((await away.status()).state, 'stream-wals')
  away.kill()
  await servers.time.until(away.restart(shareOf(primary)))
  await servers.level(primary, away)
  await write(primary, ['new0'])
  await servers.level(primary, away)
  const lineage = ({ server }: ReplicatedServer) =>
    servers.time.until(server.node.storage.view(systemScope, SETS_FOLDER).transaction((tx) => readLineage(tx, 'dr')))
  assert.ok((await lineage(primary)).length >= 2)
  assert.deepEqual(await lineage(away), await lineage(primary))
})
