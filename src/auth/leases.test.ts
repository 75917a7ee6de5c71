// Leases of tokens, and the removal of tokens that ended.

import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { type Called, type MemoryServer, startMemoryServer } from '../../test/fixtures/memory-server.ts'
import type { MountInNamespace } from '../api/mount.ts'
import { ROOT } from '../api/namespace.ts'
import { systemScope } from '../storage/contract.ts'
import { MOST_ANCESTORS } from './token-lines.ts'

const authOf = ({ body }: Called) => body.auth as Record<string, unknown>
const make = async (server: MemoryServer, fields: object = {}, token?: string, path = 'create'): Promise<string> =>
  String(
    authOf(await server.call('POST', `auth/token/${path}`, { policies: ['default'], ...fields }, token)).client_token,
  )
const lives = async (server: MemoryServer, token: string): Promise<boolean> =>
  (await server.call('GET', 'auth/token/lookup-self', undefined, token)).status === 200
const leaseOf = (server: MemoryServer, token: string, path = 'create'): string =>
  `auth/token/${path}/h${server.node.tokens.idOf(token)}`
const listed = ({ body }: Called): readonly string[] => (body.data?.keys ?? []) as readonly string[]
const keysOf = async ({ store }: MemoryServer): Promise<string[]> =>
  (await store.scan('root/sys/', '', 1_000_000)).map(({ key }) => key)
/** Nothing is removed by itself, however long a test takes. */
const startQuietServer = (): Promise<MemoryServer> =>
  startMemoryServer({ world: { timers: { after: () => ({ cancel: () => {} }), sleep: async () => {} } } })
const maker = (server: MemoryServer) =>
  server.call('POST', 'sys/policies/acl/maker', {
    policy: 'path "auth/token/*" { capabilities = ["create", "update", "sudo"] }',
  })

test('a lease is looked up, listed, renewed and revoked by its name, under both spellings (T-09)', async () => {
  const server = await startMemoryServer()
  for (const old of ['', 'leases/']) {
    const token = await make(server, { ttl: '60s' })
    const lease = leaseOf(server, token)
    const { data } = (await server.call('POST', 'sys/leases/lookup', { lease_id: lease })).body
    assert.deepEqual([data?.id, data?.path, data?.ttl, data?.renewable], [lease, 'auth/token/create', 60, true])
    const { body } = await server.call('LIST', 'sys/leases/lookup/auth/token/create')
    assert.deepEqual(body.data?.keys, [`h${server.node.tokens.idOf(token)}`])
    const renewed = await server.call('POST', `sys/${old}renew`, { lease_id: lease, increment: 120 })
    assert.deepEqual([authOf(renewed).lease_duration, authOf(renewed).client_token], [120, ''])
    assert.equal((await server.call('POST', `sys/${old}renew/${lease}`)).status, 200)
    assert.equal((await server.call('POST', `sys/${old}revoke/${lease}`)).status, 204)
    assert.equal(await lives(server, token), false)
    assert.equal((await server.call('POST', 'sys/leases/lookup', { lease_id: lease })).status, 400)
    assert.equal((await server.call('LIST', 'sys/leases/lookup/auth/token/create')).status, 404)
  }
})

test('C9: an ended lease is not listed, not for a second either, nor the folder of ended ones', async () => {
  const server = await startQuietServer()
  await maker(server)
  await server.call('POST', 'auth/token/roles/brief', { allowed_policies: 'default' })
  const folders = async () => listed(await server.call('LIST', 'sys/leases/lookup/auth/token'))
  const leases = async (query = '') => listed(await server.call('LIST', `sys/leases/lookup/auth/token/create${query}`))
  const leaf = (token: string) => `h${server.node.tokens.idOf(token)}`
  const stays = await make(server, { ttl: '1h', policies: ['maker'] })
  const parent = await make(server, { ttl: '10s', policies: ['maker'] })
  const child = await make(server, { ttl: '1h' }, parent)
  const orphan = await make(server, { ttl: '10s' }, 'root', 'create-orphan')
  const byRole = await make(server, { ttl: '10s' }, 'root', 'create/brief')
  assert.deepEqual(await leases(), [...[stays, parent, child].map(leaf).sort(), 'brief/'].sort())
  assert.deepEqual(await folders(), ['create-orphan/', 'create/'])
  server.advance(10)
  const stored = await keysOf(server)
  for (const token of [parent, child, orphan, byRole])
    assert.ok(stored.some((key) => key.startsWith('root/sys/lease/') && key.endsWith(leaf(token))))
  assert.deepEqual(await leases(), [leaf(stays)])
  assert.deepEqual(await leases('?limit=1'), [leaf(stays)], 'a page is filled with those that live')
  assert.deepEqual(await folders(), ['create/'])
  const ended = await server.call('LIST', 'sys/leases/lookup/auth/token/create/brief')
  assert.equal(ended.status, 404)
})

test('leases of a path that has more of them than one page are all listed, each once', async () => {
  let rests = 0
  const sleep = async () => assert.ok(++rests < 10, 'it goes round')
  const server = await startMemoryServer({ world: { timers: { after: () => ({ cancel: () => {} }), sleep } } })
  const tokens: string[] = []
  for (let number = 0; number < 501; number++) tokens.push(await make(server))
  rests = 0
  const leaves = tokens.map((token) => `h${server.node.tokens.idOf(token)}`).sort()
  assert.deepEqual(listed(await server.call('LIST', 'sys/leases/lookup/auth/token/create')), leaves)
  assert.ok(rests > 0, 'others have no turn between pages')
})

test('T-14: only the exact name of a lease ends a token', async () => {
  const server = await startMemoryServer()
  const token = await make(server)
  const id = server.node.tokens.idOf(token)
  for (const name of [
    id,
    `h${id}`,
    `auth/token/create/${id}`,
    `auth/token/other/h${id}`,
    `auth/token/create/h${id}/x`,
  ]) {
    assert.equal((await server.call('POST', 'sys/leases/lookup', { lease_id: name })).status, 400, name)
    assert.equal((await server.call('POST', 'sys/leases/renew', { lease_id: name })).status, 400, name)
    assert.equal((await server.call('POST', 'sys/leases/revoke', { lease_id: name })).status, 204, name)
    assert.equal(await lives(server, token), true, name)
  }
})

test('a prefix is a path and no beginning of a name, and takes what is below it', async () => {
  const server = await startMemoryServer()
  await server.call('POST', 'auth/token/roles/ab', { allowed_policies: 'default' })
  await server.call('POST', 'auth/token/roles/abc', { allowed_policies: 'default' })
  const [ab, abc] = [await make(server, {}, 'root', 'create/ab'), await make(server, {}, 'root', 'create/abc')]
  const other = await make(server)
  for (const path of ['sys/leases/revoke-prefix/auth/token/cre', 'sys/revoke-prefix/auth/token/create/a']) {
    assert.equal((await server.call('POST', path)).status, 204)
  }
  assert.deepEqual([await lives(server, ab), await lives(server, abc)], [true, true])
  await server.call('POST', 'sys/revoke-prefix/auth/token/create/ab')
  assert.deepEqual([await lives(server, ab), await lives(server, abc)], [false, true])
  await server.call('POST', 'sys/revoke-force/auth/token')
  assert.deepEqual([await lives(server, abc), await lives(server, other)], [false, false])
  assert.equal(await lives(server, 'root'), true, 'the first root token has no lease')
})

test('T-07: a token takes with it its children, indexes and belongings, however many', async () => {
  const server = await startQuietServer()
  await maker(server)
  const { tokens } = server.node
  const seen = new Map<string, number>()
  // Belongings of three pages each are called until they are done.
  tokens.addBelongings(async (_tx, id) => {
    const calls = (seen.get(id) ?? 0) + 1
    seen.set(id, calls)
    return calls >= 3
  })
  const before = await keysOf(server)
  const parent = await make(server, { policies: ['maker'] })
  const children: string[] = []
  for (let i = 0; i < 230; i++) children.push(await make(server, { policies: ['maker'] }, parent))
  const grandchild = await make(server, { policies: ['maker'] }, children[7])
  await tokens.revoke(tokens.idOf(parent))
  assert.equal(await lives(server, grandchild), false)
  assert.deepEqual(await keysOf(server), before)
  assert.equal(seen.size, 232)
  assert.equal(Math.min(...seen.values()), 3)
})

/** A line of tokens as older stores may hold it, from the first to the last. */
async function longLine({ node }: MemoryServer, length: number): Promise<string[]> {
  const { tokens, tokenService } = node
  const line: string[] = []
  for (let parent = ''; line.length < length; ) {
    const token = tokens.newToken(ROOT.id)
    const entry = { ...tokenService.rootEntry(), policies: ['default', 'maker'], path: 'auth/token/create', parent }
    assert.equal(await tokens.insert(token, entry), true)
    line.push(token)
    parent = tokens.idOf(token)
  }
  return line
}

test(`a token has ${MOST_ANCESTORS} tokens above it and no more, whoever makes it`, async () => {
  const server = await startMemoryServer()
  await maker(server)
  const line = await longLine(server, MOST_ANCESTORS)
  const last = await make(server, { policies: ['default', 'maker'] }, line.at(-1))
  for (const type of ['service', 'batch']) {
    const refused = await server.call('POST', 'auth/token/create', { type }, last)
    assert.equal(refused.status, 400)
    assert.match(String(refused.body.errors), /at most 100 tokens above it.*create-orphan/)
  }
  const free = await make(server, { policies: ['default', 'maker'] }, last, 'create-orphan')
  assert.equal(await lives(server, await make(server, {}, free)), true)
  // A longer line of an older store stays valid, but grows no further.
  const older = (await longLine(server, MOST_ANCESTORS + 50)).at(-1) ?? ''
  assert.equal(await lives(server, older), true)
  assert.equal((await server.call('POST', 'auth/token/create', {}, older)).status, 400)
})

test('a request of a token far below looks at as few ancestors as one of a token near the top', async () => {
  const server = await startQuietServer()
  await maker(server)
  const { tokens } = server.node
  const line = await longLine(server, 600)
  const last = line.at(-1) ?? ''
  const looked = async (token: string): Promise<number> => {
    const before = tokens.lookups.hits + tokens.lookups.misses
    assert.notEqual(await tokens.find(token), undefined)
    return tokens.lookups.hits + tokens.lookups.misses - before
  }
  // Loaded, then found whole, then kept.
  await looked(last)
  await looked(last)
  assert.deepEqual([await looked(last), await looked(line[400] ?? '')], [17, 17])
  assert.equal(await looked(line[3] ?? ''), 4)
  // A change of any token on the line makes it forgotten; nothing else does.
  await make(server)
  assert.equal(await looked(last), 17)
  await server.call('POST', 'auth/token/revoke', { token: line[300] })
  assert.deepEqual([await lives(server, last), await lives(server, line[299] ?? '')], [false, true])
})

test('a token far below ends with the end of one far above, and with the mount of its login', async () => {
  const server = await startQuietServer()
  await maker(server)
  await server.call('POST', 'sys/auth/people', { type: 'userpass' })
  const mount = server.node.mounts.find(ROOT, 'auth/people/')
  const { tokens } = server.node
  const line = await longLine(server, 40)
  const [last = '', fifth = '', first = ''] = [line.at(-1), line[5], line[0]]
  const settle = async () => {
    for (let i = 0; i < 3; i++) assert.equal(await lives(server, last), true)
  }
  const atMs = Date.UTC(2026, 0, 1) + 60_000
  await settle()
  await tokens.update(tokens.idOf(fifth), (entry) => ({ ...entry, expiry: { atMs } }))
  await tokens.update(tokens.idOf(first), (entry) => ({
    ...entry,
    login: { mountUuid: mount?.uuid ?? '', renewal: {} },
  }))
  await settle()
  server.advance(59)
  await settle()
  const other = await longLine(server, 40)
  await tokens.update(tokens.idOf(other[0] ?? ''), (entry) => ({
    ...entry,
    login: { mountUuid: mount?.uuid ?? '', renewal: {} },
  }))
  for (let i = 0; i < 3; i++) assert.equal(await lives(server, other.at(-1) ?? ''), true)
  server.advance(1)
  assert.equal(await lives(server, last), false)
  await server.call('DELETE', 'sys/auth/people')
  assert.equal(await lives(server, other.at(-1) ?? ''), false)
})

test('a long line is removed in steps of many generations, between which others are served', async () => {
  const server = await startQuietServer()
  await maker(server)
  const before = await keysOf(server)
  const line = await longLine(server, 1_000)
  let commits = 0
  server.store.onCommit(() => {
    commits++
  })
  const first = line[0] ?? ''
  // All are known to be alive, down to the last one.
  for (let i = 0; i < 3; i++) assert.equal(await lives(server, line.at(-1) ?? ''), true)
  const revoked = server.call('POST', 'auth/token/revoke', { token: first })
  let isDone = false
  void revoked.then(() => {
    isDone = true
  })
  await make(server)
  assert.equal(isDone, false, 'it is under way')
  assert.equal(await lives(server, line.at(-1) ?? ''), false, 'and all of it is refused already')
  assert.equal((await revoked).status, 204)
  assert.ok(commits <= 1_000 / 60 + 2, `${commits} commits`)
  const left = (await keysOf(server)).filter((key) => !before.includes(key))
  assert.equal(left.filter((key) => line.some((token) => key.includes(server.node.tokens.idOf(token)))).length, 0)
})

test('T-15: a removal that fails stays, is tried again later, and holds up no other', async () => {
  const lines: string[] = []
  const server = await startMemoryServer({ log: (_level, message) => lines.push(message) })
  const { tokens, expiry, leases } = server.node
  let fails = true
  const lasting = await make(server, { ttl: '10s' })
  const id = tokens.idOf(lasting)
  tokens.addBelongings(async (_tx, owner) => {
    if (fails && owner === id) throw new Error('not now')
    return true
  })
  const easy = await make(server, { ttl: '10s' })
  server.advance(11)
  await expiry.runNow()
  const keys = await keysOf(server)
  assert.equal(
    keys.some((key) => key.includes(tokens.idOf(easy))),
    false,
  )
  assert.equal(keys.includes(`root/sys/token/id/${id}`), true)
  assert.equal(await lives(server, lasting), false)
  assert.equal(lines.filter((line) => line.includes('could not be removed')).length, 1)
  await expiry.runNow()
  assert.equal(
    lines.filter((line) => line.includes('could not be removed')).length,
    1,
    'it waits before it tries again',
  )
  for (let i = 0; i < 6; i++) {
    server.advance(3_600)
    await expiry.runNow()
  }
  assert.deepEqual(await leases.stuck(ROOT.id), [{ leaseId: leaseOf(server, lasting), cause: 'Error' }])
  const { data } = (await server.call('GET', 'sys/leases/count?type=irrevocable')).body
  assert.equal(data?.lease_count, 1)
  assert.equal((await server.call('GET', 'sys/leases?type=irrevocable')).body.data?.lease_count, 1)
  fails = false
  server.advance(3_600)
  await expiry.runNow()
  assert.equal(
    (await keysOf(server)).some((key) => key.includes(id)),
    false,
  )
  assert.deepEqual(await leases.stuck(ROOT.id), [])
})

test('T-02, P-27: 1,000 tokens that ended while the server was down are refused at once, then removed', async () => {
  const server = await startMemoryServer()
  const tokens: string[] = []
  for (let i = 0; i < 1_000; i++) tokens.push(await make(server, { ttl: `${10 + (i % 50)}s` }))
  const kept = await make(server, { ttl: '1h' })
  const again = await startMemoryServer({ store: server.store, key: server.shares[0] as Buffer })
  again.advance(60)
  for (const token of tokens) assert.equal(await lives(again, token), false)
  await again.node.expiry.runNow()
  const keys = await keysOf(again)
  const removed = tokens.filter((token) => keys.includes(`root/sys/token/id/${again.node.tokens.idOf(token)}`))
  assert.deepEqual(removed, [])
  assert.equal(await lives(again, kept), true)
})

test('a renewed token is not removed at its first end', async () => {
  const server = await startMemoryServer()
  const token = await make(server, { ttl: '60s' })
  await server.call('POST', 'auth/token/renew', { token, increment: '600s' })
  server.advance(61)
  await server.node.expiry.runNow()
  assert.equal(await lives(server, token), true)
  server.advance(600)
  await server.node.expiry.runNow()
  assert.equal(
    (await keysOf(server)).some((key) => key.includes(server.node.tokens.idOf(token))),
    false,
  )
})

test('children of a token that ended are removed with it', async () => {
  const server = await startMemoryServer()
  await maker(server)
  const before = await keysOf(server)
  const parent = await make(server, { policies: ['maker'], ttl: '10s' })
  await make(server, { policies: ['maker'], ttl: '10h' }, parent)
  server.advance(11)
  await server.node.expiry.runNow()
  assert.deepEqual(await keysOf(server), before)
})

test('tokens of a login end with its mount: refused at once, removed by revokeByMount', async () => {
  const server = await startMemoryServer()
  const { tokens, tokenService, leases, mounts } = server.node
  // Any login mount would do.
  const { uuid = '' } = mounts.find(ROOT, 'auth/token/') ?? {}
  const GONE = '00000000-0000-4000-8000-000000000000'
  const login = async (mountUuid: string, path: string): Promise<string> => {
    const origin = { mountUuid, renewal: {} }
    return tokens.issue({ ...tokenService.rootEntry(), accessor: tokens.newAccessor(ROOT.id), path, login: origin })
  }
  const [here, moved, other] = [
    await login(uuid, 'auth/up/login/a'),
    await login(uuid, 'auth/old/login/a'),
    await login(GONE, 'auth/up/login/b'),
  ]
  assert.equal(await lives(server, other), false, 'its mount is not there')
  assert.deepEqual([await lives(server, here), await lives(server, moved)], [true, true])
  await leases.revokeByMount({ namespace: ROOT.id, path: 'auth/up/', uuid })
  assert.deepEqual([await lives(server, here), await lives(server, moved)], [false, true])
  const left = await keysOf(server)
  assert.ok(left.includes(`root/sys/token/id/${tokens.idOf(other)}`), 'that of another mount stays')
  assert.ok(!left.includes(`root/sys/token/id/${tokens.idOf(here)}`))
})

test('tokens of mounts that are gone are found among all, and end page by page while that can be said', async () => {
  const server = await startMemoryServer()
  const { tokens, tokenService, leases, mounts } = server.node
  const { uuid: here = '' } = mounts.find(ROOT, 'auth/token/') ?? {}
  const GONE = '00000000-0000-4000-8000-000000000000'
  const issued = (by: object): Promise<string> =>
    tokens.issue({ ...tokenService.rootEntry(), accessor: tokens.newAccessor(ROOT.id), path: 'x', ...by })
  const login = (mountUuid: string) => ({ login: { mountUuid, renewal: {} } })
  const stay = [await issued({}), await issued(login(here)), await issued({ answerOf: here })]
  const go = [await issued({ answerOf: GONE })]
  for (let made = 0; made < 600; made++) go.push(await issued(login(GONE)))
  const left = async (of: readonly string[]): Promise<number> => {
    const stored = new Set(await keysOf(server))
    return of.filter((token) => stored.has(`root/sys/token/id/${tokens.idOf(token)}`)).length
  }
  let asked = 0
  const goneOf = async (some: readonly MountInNamespace[]) => {
    assert.ok(some.length <= 2, 'each mount is asked about once for many tokens')
    return asked++ === 1 ? undefined : mounts.goneOf(some, async () => false)
  }
  assert.equal(await leases.revokeOfGone(goneOf), false)
  assert.ok((await left(go)) > 0 && (await left(go)) < go.length)
  assert.equal(await leases.revokeOfGone(goneOf), true)
  assert.deepEqual([await left(stay), await left(go)], [stay.length, 0])
})

test('what a stop left of a removal is finished after the next unseal', async () => {
  const server = await startMemoryServer()
  await maker(server)
  const before = await keysOf(server)
  const parent = await make(server, { policies: ['maker'] })
  for (let i = 0; i < 5; i++) await make(server, { policies: ['maker'] }, parent)
  const { tokens } = server.node
  // The first commit of a removal, and no more.
  await tokens.view.transaction((tx) => tokens.removal.remove(tx, tokens.idOf(parent)))
  assert.notDeepEqual(await keysOf(server), before)
  const again = await startMemoryServer({ store: server.store, key: server.shares[0] as Buffer })
  await again.node.expiry.runNow()
  assert.deepEqual(await keysOf(again), before)
})

test("tokens that a login mount gave before it was moved are removed with it, its successor's are not", async () => {
  const server = await startMemoryServer()
  const { call, node } = server
  const logIn = async (path: string) => {
    const { body } = await call('POST', `auth/${path}/login/ann`, { password: 'secret' }, '')
    return String((body.auth as { client_token: string }).client_token)
  }
  const mounted = async (path: string) => {
    await call('POST', `sys/auth/${path}`, { type: 'userpass' })
    await call('POST', `auth/${path}/users/ann`, { password: 'secret' })
  }
  const isStored = async (token: string) => (await node.tokens.entryOf(node.tokens.idOf(token))) !== undefined
  await mounted('first')
  const tokens = [await logIn('first')]
  for (const [from, to] of [
    ['first', 'second'],
    ['second', 'third'],
    ['third', 'second'],
  ] as const) {
    await call('POST', 'sys/remount', { from: `auth/${from}`, to: `auth/${to}` })
    tokens.push(await logIn(to))
  }
  await mounted('first')
  const successor = await logIn('first')
  await call('DELETE', 'sys/auth/second')
  for (const token of tokens) assert.equal(await isStored(token), false)
  assert.equal(await lives(server, successor), true)
})

test("wrapped answers go with the mount that gave them, also from its former path, its successor's stay", async () => {
  const server = await startMemoryServer()
  const { call } = server
  const wrapped = async (path: string) => {
    const { body } = await call('GET', path, undefined, undefined, { wrapTtl: '1h' })
    return (body.wrap_info as unknown as { token: string }).token
  }
  const unwrap = async (token: string) => (await call('POST', 'sys/wrapping/unwrap', { token })).status
  const mounted = async (path: string) => {
    await call('POST', `sys/mounts/${path}`, { type: 'transit' })
    await call('POST', `${path}/keys/k`)
  }
  await mounted('first')
  const before = await wrapped('first/keys/k')
  await call('POST', 'sys/remount', { from: 'first', to: 'second' })
  const after = await wrapped('second/keys/k')
  await mounted('first')
  const successor = await wrapped('first/keys/k')
  await call('DELETE', 'sys/mounts/second')
  assert.deepEqual([await unwrap(before), await unwrap(after), await unwrap(successor)], [400, 400, 200])
})

test('what cannot be removed to its end holds up neither the rest nor what is due', async () => {
  const server = await startMemoryServer()
  await maker(server)
  const { tokens, expiry } = server.node
  const parent = await make(server, { policies: ['maker'] })
  const child = await make(server, {}, parent)
  const due = await make(server, { ttl: '10s' })
  let fails = true
  tokens.addBelongings(async (_tx, id) => {
    if (fails && id === tokens.idOf(child)) throw new Error('not now')
    return true
  })
  assert.equal((await server.call('POST', 'auth/token/revoke', { token: parent })).status, 500)
  assert.deepEqual([await lives(server, parent), await lives(server, child)], [false, false])
  server.advance(11)
  await expiry.runNow()
  assert.equal(
    (await keysOf(server)).some((key) => key.includes(tokens.idOf(due))),
    false,
  )
  fails = false
  server.advance(3_600)
  await expiry.runNow()
  assert.equal(
    (await keysOf(server)).some((key) => key.includes(tokens.idOf(child))),
    false,
  )
})

test('a store without indexes gets them when it is opened, and its tokens end', async () => {
  const server = await startMemoryServer()
  const tokens: string[] = []
  for (let i = 0; i < 700; i++) tokens.push(await make(server, { ttl: i % 2 === 0 ? '60s' : '600s' }))
  const indexed = await keysOf(server)
  const older = indexed.filter((key) => /sys\/(token\/(expiry|indexed)|lease)/.test(key))
  await server.node.operations.seal()
  server.store.setLeafKey(Buffer.alloc(32))
  await server.store.transaction(async (tx) => {
    for (const key of older) tx.delete(systemScope, key)
  })
  const again = await startMemoryServer({ store: server.store, key: server.shares[0] as Buffer })
  assert.deepEqual(await keysOf(again), indexed)
  again.advance(61)
  await again.node.expiry.runNow()
  const answer = await again.call('LIST', 'sys/leases/lookup/auth/token/create')
  assert.equal(listed(answer).length, 350)
})

test('revoke-orphan ends the token alone, with more children than fit into a page', async () => {
  const server = await startMemoryServer()
  await maker(server)
  const parent = await make(server, { policies: ['maker'] })
  const children: string[] = []
  for (let i = 0; i < 205; i++) children.push(await make(server, { policies: ['maker'] }, parent))
  assert.equal((await server.call('POST', 'auth/token/revoke-orphan', { token: parent })).status, 204)
  assert.equal(await lives(server, parent), false)
  for (const child of children) {
    const { data } = (await server.call('POST', 'auth/token/lookup', { token: child })).body
    assert.equal(data?.orphan, true)
  }
  assert.equal((await server.call('POST', 'auth/token/revoke-orphan', { token: parent })).status, 400)
})

test('tidy removes what leads nowhere, and nothing else', async () => {
  const server = await startMemoryServer()
  const { tokens, tokenService } = server.node
  const kept = await make(server)
  const spent = await make(server, { num_uses: 1, policies: ['root'] })
  const live = await tokens.findById(tokens.idOf(spent))
  assert.ok(live !== undefined)
  const before = await keysOf(server)
  const [key] = server.shares
  // Its last use was taken, and then the process ended.
  await tokens.takeUse(live)
  const again = await startMemoryServer({ store: server.store, key: key as Buffer })
  const stray = tokens.idOf('stray')
  await again.node.tokens.view.transaction(async (tx) => {
    for (const path of [
      `token/accessor/${stray}`,
      `token/parent/${stray}/${stray}`,
      `token/expiry/999999999999/${stray}`,
    ])
      tx.put(path, Buffer.from(stray))
    tx.put(`lease/auth/token/create/h${stray}`, Buffer.alloc(0))
  })
  await again.node.tokenService.tidy.run()
  const left = before.filter((stored) => !stored.includes(tokens.idOf(spent)))
  assert.equal((await keysOf(again)).length, left.length - 1, 'without the accessor of the spent one')
  assert.equal(await lives(again, kept), true)
  assert.equal(tokenService.tidy.start(), true)
  assert.equal(tokenService.tidy.start(), false, 'one at a time')
  assert.equal((await server.call('POST', 'auth/token/tidy')).status, 202)
})

test('accessors are listed in pages, each once', async () => {
  const server = await startMemoryServer()
  const made: string[] = []
  for (let i = 0; i < 12; i++) made.push(String(authOf(await server.call('POST', 'auth/token/create')).accessor))
  const seen: string[] = []
  for (let after = ''; ; ) {
    const keys = listed(await server.call('GET', `auth/token/accessors?list=true&limit=5&after=${after}`))
    if (keys.length === 0) break
    assert.ok(keys.length <= 5)
    seen.push(...keys)
    after = keys.at(-1) ?? ''
  }
  const all = listed(await server.call('LIST', 'auth/token/accessors'))
  assert.deepEqual(seen, all)
  assert.equal(new Set(seen).size, 13)
  for (const accessor of made) assert.ok(seen.includes(accessor))
})

test('a token is renewed by its accessor, without being shown', async () => {
  const server = await startMemoryServer()
  const { accessor } = authOf(await server.call('POST', 'auth/token/create', { ttl: '60s' })) as { accessor: string }
  const renewed = await server.call('POST', 'auth/token/renew-accessor', { accessor, increment: 300 })
  assert.deepEqual([authOf(renewed).lease_duration, authOf(renewed).client_token], [300, ''])
  assert.equal((await server.call('POST', 'auth/token/renew-accessor', { accessor: 'none' })).status, 400)
})

test('a token is looked up by its path form', async () => {
  const server = await startMemoryServer()
  const token = await make(server)
  assert.equal((await server.call('GET', `auth/token/lookup/${token}`)).body.data?.id, token)
  assert.equal((await server.call('GET', 'auth/token/lookup/none')).status, 403)
})

test('tidy looks at each token of a long line once or twice, not once for each below it', async () => {
  const server = await startMemoryServer()
  const DEPTH = MOST_ANCESTORS
  let token = 'root'
  for (let i = 0; i < DEPTH; i++) {
    const { body } = await server.call('POST', 'auth/token/create', { policies: ['root'], ttl: '1h' }, token)
    token = String((body.auth as { readonly client_token: string }).client_token)
  }
  const { tokens, tokenService } = server.node
  let looks = 0
  const entryOf = tokens.entryOf.bind(tokens)
  tokens.entryOf = (id) => {
    looks++
    return entryOf(id)
  }
  await tokenService.tidy.run()
  assert.ok(looks <= 4 * DEPTH, String(looks))
  assert.equal((await server.call('GET', 'auth/token/lookup-self', undefined, token)).status, 200)
})

test('a renewal tells of the lease in the envelope', async () => {
  const server = await startMemoryServer()
  await make(server, { ttl: '1h' })
  const { keys } = (await server.call('LIST', 'sys/leases/lookup/auth/token/create')).body.data as { keys: string[] }
  const lease_id = `auth/token/create/${keys[0]}`
  const { body } = await server.call('POST', 'sys/leases/renew', { lease_id })
  assert.deepEqual([body.lease_id, body.renewable, body.lease_duration], [lease_id, true, 3600])
})
