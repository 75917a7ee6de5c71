// S8: a performance secondary carries out what it can, and hands to its primary what would write data of the set.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, beforeEach, test } from 'node:test'
import type { WantedEntity } from '../../src/api/login.ts'
import { ROOT } from '../../src/api/namespace.ts'
import { PRIMARY_CALLS, PRIMARY_DEADLINE_MS, PrimaryLink } from '../../src/assembly/replication/primary-link.ts'
import type { HandedRequest, MountQuestion, ToPrimary } from '../../src/core/handed.ts'
import type { Transit } from '../../src/engines/transit/transit.ts'
import { readEntries, requirePairs } from '../fixtures/audit-log.ts'
import { HandingLine } from '../fixtures/handing-line.ts'
import { namesInRoot } from '../fixtures/identity-server.ts'
import type { Called } from '../fixtures/memory-server.ts'
import { PRIMARY_ADDRESS, type ServerWithRole, startWithRole } from '../fixtures/roles.ts'
import { temporaryDirectory } from '../fixtures/server-process.ts'
import { servingBeside } from '../fixtures/serving-node.ts'
import { steppedTime } from '../fixtures/stepped-time.ts'
import { SECONDARY, startTwoClusters, type TwoClusters } from '../fixtures/two-clusters.ts'
import { until } from '../fixtures/until.ts'

const HELLO = 'aGVsbG8='
const directory = temporaryDirectory()
let pair: TwoClusters
let primary: ServerWithRole
let secondary: ServerWithRole
before(async () => {
  pair = await startTwoClusters()
  primary = pair.primary
  secondary = pair.secondary
  await primary.call('POST', 'sys/mounts/transit', { type: 'transit' })
  await primary.call('POST', 'sys/auth/userpass', { type: 'userpass' })
  await primary.call('POST', 'transit/keys/k')
  await pair.follow()
})
after(() => {
  pair.close()
  directory.cleanUp()
})
beforeEach(() => void pair.handed())

/** All but what is of one request: ids and times. */
const comparable = ({ status, body }: Called, ...names: readonly string[]): unknown => {
  const { request_id: _id, ...rest } = body
  const text = names.reduce((all, name) => all.replaceAll(name, 'NAME'), JSON.stringify(rest))
  return { status, body: text }
}
const errorsOf = ({ body }: Called): string => ((body.errors as string[] | undefined) ?? []).join(' ')
const authOf = ({ body }: Called): Record<string, string> => body.auth as Record<string, string>

test('S8: a secondary encrypts and decrypts with a shared key by itself', async () => {
  const made = await secondary.call('POST', 'transit/encrypt/k', { plaintext: HELLO })
  const { ciphertext } = made.body.data as Record<string, unknown>
  assert.equal((await secondary.call('POST', 'transit/decrypt/k', { ciphertext })).body.data?.plaintext, HELLO)
  assert.equal((await primary.call('POST', 'transit/decrypt/k', { ciphertext })).body.data?.plaintext, HELLO)
  assert.deepEqual(pair.handed(), [])
})

const HANDED: readonly { id: string; method: string; path: string; body?: object }[] = [
  { id: 'transit-key-create', method: 'POST', path: 'transit/keys/NAME', body: { exportable: true } },
  { id: 'transit-key-rotate', method: 'POST', path: 'transit/keys/NAME/rotate' },
  {
    id: 'transit-key-configure',
    method: 'POST',
    path: 'transit/keys/NAME/config',
    body: { min_decryption_version: 2 },
  },
  { id: 'transit-encrypt', method: 'POST', path: 'transit/encrypt/NAME-new', body: { plaintext: 'none' } },
  { id: 'policies-write', method: 'POST', path: 'sys/policies/acl/NAME', body: { policy: 'path "a" {}' } },
  { id: 'policies-delete', method: 'DELETE', path: 'sys/policies/acl/NAME' },
  { id: 'mounts-mount', method: 'POST', path: 'sys/mounts/NAME', body: { type: 'transit', unknown: 1 } },
  { id: 'mounts-mount', method: 'POST', path: 'sys/mounts/NAME', body: { type: 'no-such-type' } },
  { id: 'entity-write', method: 'POST', path: 'identity/entity/name/NAME', body: {} },
  { id: 'transit-key-delete', method: 'DELETE', path: 'transit/keys/none-of-this-name' },
  { id: 'token-roles-write', method: 'POST', path: 'auth/token/roles/NAME', body: {} },
]
for (const { id, method, path, body } of HANDED) {
  test(`S8: ${method} ${path} is handed over, and answered as by the primary`, async () => {
    const direct = await primary.call(method, path.replace('NAME', 'direct'), body)
    const given = await secondary.call(method, path.replace('NAME', 'handed'), body)
    const ids = [direct, given].map(({ body: { data } }) => String(data?.id ?? data?.ciphertext ?? 'no-id'))
    assert.deepEqual(comparable(given, 'handed', ...ids), comparable(direct, 'direct', ...ids))
    if (direct.status < 300) assert.deepEqual(pair.handed(), [id.replace('entity-write', 'entity-write-name')])
    await pair.follow()
  })
}

test('S8: what the primary made is read on the secondary once it has followed', async () => {
  await secondary.call('POST', 'transit/keys/read-later')
  assert.equal((await secondary.call('GET', 'transit/keys/read-later')).status, 404)
  await pair.follow()
  assert.equal((await secondary.call('GET', 'transit/keys/read-later')).status, 200)
})

test('S8: a key that encrypt has to make is made by the primary, with the whole answer', async () => {
  const plaintext = Buffer.alloc(200_000, 7).toString('base64')
  const made = await secondary.call('POST', 'transit/encrypt/upserted', { plaintext })
  assert.equal(made.status, 200, JSON.stringify(made.body).slice(0, 300))
  const { ciphertext } = made.body.data as Record<string, unknown>
  assert.equal((await primary.call('POST', 'transit/decrypt/upserted', { ciphertext })).body.data?.plaintext, plaintext)
})

test('S8: a handler that comes to a shared write late is handed over whole', async () => {
  const { status, body } = await secondary.call('GET', 'transit/wrapping_key')
  assert.equal(status, 200)
  assert.deepEqual(pair.handed(), ['transit-wrapping-key'])
  assert.equal((await primary.call('GET', 'transit/wrapping_key')).body.data?.public_key, body.data?.public_key)
})

test('S8: a handler that wrote here before it came to a shared write is not carried out twice', async () => {
  const other = await startTwoClusters()
  await other.primary.call('POST', 'sys/mounts/transit', { type: 'transit' })
  await other.follow()
  await other.secondary.call('GET', 'transit/keys')
  const uuid = other.secondary.node.mounts.find(ROOT, 'transit/')?.uuid ?? ''
  const engine = other.secondary.node.mounts.engineOf(uuid) as Transit
  const { wrappingKeys } = engine
  const get = wrappingKeys.get.bind(wrappingKeys)
  wrappingKeys.get = async () => {
    await engine.storage.transaction(async (tx) => tx.put('cluster/planted', Buffer.from('x')))
    return get()
  }
  const refused = await other.secondary.call('GET', 'transit/wrapping_key')
  assert.equal(refused.status, 503)
  assert.deepEqual(other.handed(), [])
  assert.deepEqual(
    other
      .logged()
      .filter(({ level }) => level === 'error')
      .map(({ message }) => message),
    ['A request came to a write that its endpoint does not announce'],
  )
  other.close()
})

test('S8: a serving thread of a secondary encrypts, and sends on what the primary has to write', async () => {
  const serving = await servingBeside(secondary)
  const plaintext = Buffer.from(JSON.stringify({ plaintext: HELLO }))
  assert.equal((await serving.send('POST', 'transit/encrypt/k', plaintext)).status, 200)
  assert.equal(serving.forwarded.length, 0)
  assert.equal((await serving.send('POST', 'transit/keys/by-thread', undefined)).status, 200)
  assert.equal((await serving.send('POST', 'transit/encrypt/by-use', plaintext)).status, 200)
  assert.equal(serving.forwarded.length, 2)
  assert.deepEqual(pair.handed(), ['transit-key-create', 'transit-encrypt'])
  assert.equal((await primary.call('GET', 'transit/keys/by-use')).status, 200)
})

test('S8: a local mount is written here', async () => {
  assert.equal((await secondary.call('POST', 'sys/mounts/own', { type: 'transit', local: true })).status, 204)
  assert.equal((await secondary.call('POST', 'own/keys/mine')).status, 200)
  assert.equal((await secondary.call('POST', 'own/encrypt/upserted', { plaintext: HELLO })).status, 200)
  assert.equal((await secondary.call('POST', 'sys/mounts/own/tune', { description: 'x' })).status, 204)
  assert.deepEqual(pair.handed(), [])
  assert.equal((await primary.call('GET', 'own/keys/mine')).status, 404)
})

test('S8: the answer of a handed request is wrapped here, under a token of here', async () => {
  const { body } = await secondary.call('POST', 'transit/keys/wrapped', {}, 'root', { wrapTtl: '60' })
  const { token } = body.wrap_info as Record<string, string>
  assert.equal((await primary.call('POST', 'sys/wrapping/unwrap', { token })).status, 400)
  const unwrapped = await secondary.call('POST', 'sys/wrapping/unwrap', { token })
  assert.equal(unwrapped.body.data?.name, 'wrapped')
})

test('S8: a login takes its entity from the primary and its token from here', async () => {
  await secondary.call('POST', 'auth/userpass/users/ann', { password: 'x' })
  await pair.follow()
  pair.handed()
  const login = await secondary.call('POST', 'auth/userpass/login/ann', { password: 'x' }, '')
  assert.equal(login.status, 200, JSON.stringify(login.body))
  assert.deepEqual(pair.handed(), ['entity'])
  const { client_token: token = '', entity_id: entity } = authOf(login)
  assert.equal((await primary.call('GET', `identity/entity/id/${entity}`)).status, 200)
  await pair.follow()
  assert.equal((await secondary.call('GET', 'auth/token/lookup-self', undefined, token)).body.data?.entity_id, entity)
  assert.equal((await primary.call('GET', 'auth/token/lookup-self', undefined, token)).status, 403)
  const again = await secondary.call('POST', 'auth/userpass/login/ann', { password: 'x' }, '')
  assert.equal(authOf(again).entity_id, entity)
  assert.deepEqual(pair.handed(), [], 'a known caller needs no primary')
})

test('S8: the groups of a login are those of the cluster where it was, with or without the primary', async (t) => {
  const other = await startTwoClusters()
  t.after(() => other.close())
  await other.primary.call('POST', 'sys/auth/userpass', { type: 'userpass' })
  const mount = other.primary.node.mounts.find(ROOT, 'auth/userpass/')
  assert.ok(mount !== undefined)
  const group = await other.primary.call('POST', 'identity/group', { type: 'external', policies: ['p'] })
  const canonical_id = group.body.data?.id
  const alias = { name: 'staff', mount_accessor: mount.accessor, canonical_id }
  await other.primary.call('POST', 'identity/group-alias', alias)
  await other.follow()
  const { identities } = other.secondary.node
  const logIn = async (metadata: Record<string, string>, groups: readonly string[]) => {
    const id = await identities.entityOfLogin(mount, { name: 'bob', metadata }, groups)
    await other.follow()
    const subjects = [other.secondary, other.primary].map((server) => server.node.identities.subject(id))
    return (await Promise.all(subjects)).map((subject) => subject && namesInRoot(subject))
  }
  assert.deepEqual(await logIn({ at: '1' }, ['staff']), [['p'], []])
  assert.deepEqual(await logIn({ at: '2' }, []), [[], []])
  assert.deepEqual(other.handed(), ['entity', 'entity'])
  other.cut()
  assert.deepEqual(await logIn({ at: '3' }, ['staff']), [['p'], []])
  const id = await identities.findEntityOfLogin(mount, { name: 'bob', metadata: {} })
  assert.ok(id !== undefined)
  await identities.groupsOfLogin(mount, id, [])
  assert.deepEqual((await identities.subject(id))?.policies, [], 'a renewal sets them here alone')
})

test('S8: what groups grant to a login here counts on the primary, as that has the groups', async (t) => {
  const other = await startTwoClusters()
  t.after(() => other.close())
  const { primary, secondary } = other
  for (const path of ['sys/mounts/transit', 'sys/auth/userpass'])
    await primary.call('POST', path, { type: path.split('/').at(-1) })
  await primary.call('POST', 'auth/userpass/users/bob', { password: 'x' })
  const policy = 'path "transit/keys/{{identity.groups.names.staff.id}}" { capabilities = ["update"] }'
  await primary.call('POST', 'sys/policies/acl/maker', { policy })
  const mount = primary.node.mounts.find(ROOT, 'auth/userpass/')
  assert.ok(mount !== undefined)
  const group = { name: 'staff', type: 'external', policies: ['maker'] }
  const id = String((await primary.call('POST', 'identity/group', group)).body.data?.id)
  const alias = { name: 'all', mount_accessor: mount.accessor, canonical_id: id }
  await primary.call('POST', 'identity/group-alias', alias)
  const internal = { type: 'internal', policies: ['root-like'] }
  const { id: apart } = (await primary.call('POST', 'identity/group', internal)).body.data ?? {}
  await other.follow()
  const login = await secondary.call('POST', 'auth/userpass/login/bob', { password: 'x' }, '')
  await other.follow()
  const { client_token: token, entity_id: entity = '' } = authOf(login)
  assert.equal((await secondary.call('POST', `transit/keys/${id}`, {}, token)).status, 403)
  await secondary.node.identities.groupsOfLogin(mount, entity, ['all'])
  other.handed()
  const made = await secondary.call('POST', `transit/keys/${id}`, {}, token)
  assert.deepEqual([made.status, other.handed()], [200, ['transit-key-create']], JSON.stringify(made.body))
  assert.deepEqual((await primary.node.identities.subject(entity))?.policies, [], 'of this login alone')
  const [membership = ''] = (await secondary.node.identities.subject(entity))?.loginGroups ?? []
  const inGroups = async (...names: readonly string[]) => {
    const asserted = await primary.node.identities.subjectInGroups(entity, names)
    return asserted && namesInRoot(asserted)
  }
  assert.deepEqual(await inGroups(membership, String(apart), `a.b.${apart}`, 'none', '../x', '.'), ['maker'])
  assert.deepEqual(await inGroups(id, `a.b.${id}`, membership.replace(/^[^.]+/, '')), [], 'no login gave those')
  // Not known here yet.
  await primary.call('POST', `identity/group/id/${id}`, { policies: [] })
  assert.equal((await secondary.call('POST', `transit/keys/${id}`, {}, token)).status, 403)
  await primary.call('POST', `identity/group/id/${id}`, { policies: ['maker'] })
  assert.equal((await secondary.call('POST', `transit/keys/${id}`, {}, token)).status, 200)
  const { data } = (await primary.call('GET', `identity/group/id/${id}`)).body
  const { id: aliasId } = (data?.alias ?? assert.fail('it has an alias')) as { readonly id: string }
  await primary.call('POST', `identity/group-alias/id/${aliasId}`, { ...alias, name: 'others' })
  assert.equal((await secondary.call('POST', `transit/keys/${id}`, {}, token)).status, 403, 'of those with that name')
})

test('S8: no call of the link sets groups', () => {
  assert.deepEqual(Object.keys(PRIMARY_CALLS).sort(), ['askMount', 'carryOut', 'ensureEntity', 'filteredHere'])
})

test('S8: a policy that requires wrapping is met by the lifetime that the caller asked for here', async () => {
  const policy =
    'path "transit/keys/kept" { capabilities = ["update"] min_wrapping_ttl = "30s" max_wrapping_ttl = "1h" }'
  await primary.call('POST', 'sys/policies/acl/kept', { policy })
  await pair.follow()
  const made = await secondary.call('POST', 'auth/token/create', { policies: ['kept'], no_default_policy: true })
  const token = authOf(made).client_token ?? ''
  const wrapped = await secondary.call('POST', 'transit/keys/kept', {}, token, { wrapTtl: '60' })
  assert.equal(wrapped.status, 200, JSON.stringify(wrapped.body))
  assert.equal((wrapped.body.wrap_info as { ttl: number }).ttl, 60)
  const changes = { ...callerWith({ policies: ['kept'] }), path: 'keys/kept' }
  const answers = primary.node.core.answersTo(SECONDARY)
  for (const wrapTtlSeconds of [0, 29, 3_601]) {
    const request = { ...handedRequest(changes, 'transit/'), wrapTtlSeconds }
    await assert.rejects(answers.carryOut(request), { name: 'Refusal', status: 403 })
  }
})

test('S8: an approle login spends its secret on the primary, and gets its token here', async () => {
  await primary.call('POST', 'sys/auth/approle', { type: 'approle' })
  await primary.call('POST', 'auth/approle/role/a')
  const { role_id } = (await primary.call('GET', 'auth/approle/role/a/role-id')).body.data ?? {}
  const { secret_id } = (await primary.call('POST', 'auth/approle/role/a/secret-id', { num_uses: 1 })).body.data ?? {}
  await pair.follow()
  pair.handed()
  const login = await secondary.call('POST', 'auth/approle/login', { role_id, secret_id }, '')
  assert.equal(login.status, 200, JSON.stringify(login.body))
  assert.deepEqual(pair.handed(), ['approle-login', 'entity'])
  await pair.follow()
  const { client_token: token } = authOf(login)
  assert.equal((await secondary.call('GET', 'auth/token/lookup-self', undefined, token)).status, 200)
  assert.equal((await primary.call('POST', 'auth/approle/login', { role_id, secret_id }, '')).status, 400)
})

test('S8: the primary evaluates the policies of the caller anew, and its refusal keeps status and text', async () => {
  const policy = 'path "transit/keys/mine" { capabilities = ["update"] }'
  await primary.call('POST', 'sys/policies/acl/maker', { policy })
  await pair.follow()
  const made = await secondary.call('POST', 'auth/token/create', { policies: ['maker'], no_default_policy: true })
  const token = authOf(made).client_token ?? ''
  assert.equal((await secondary.call('POST', 'transit/keys/mine', {}, token)).status, 200)
  const here = await secondary.call('POST', 'transit/keys/other', {}, token)
  assert.equal(here.status, 403)
  pair.handed()
  // Not known here yet.
  await primary.call('DELETE', 'sys/policies/acl/maker')
  const there = await secondary.call('POST', 'transit/keys/mine', {}, token)
  assert.deepEqual(pair.handed(), ['transit-key-create'])
  assert.equal(there.status, 403)
  assert.match(errorsOf(there), /permission denied/)
  await pair.follow()
})

test('S8: rekeying, restores and raw storage of the set are refused, and rotation is handed over', async () => {
  for (const path of ['sys/rekey/init', 'sys/rotate/root/init', 'sys/storage/snapshot']) {
    const refused = await secondary.call('POST', path, { secret_shares: 1, secret_threshold: 1 })
    assert.equal(refused.status, 400, path)
    assert.ok(errorsOf(refused).endsWith(`send the request to the primary, at ${PRIMARY_ADDRESS}`), path)
  }
  assert.deepEqual(pair.handed(), [])
  assert.equal((await secondary.call('POST', 'sys/rotate')).status, 204)
  assert.deepEqual(pair.handed(), ['rotate'])
})

test('S8: each cluster records the request in its own log, the primary with the name of the secondary', async () => {
  const logs = { primary: join(directory.path, 'primary.log'), secondary: join(directory.path, 'secondary.log') }
  for (const [name, server] of Object.entries({ primary, secondary })) {
    const options = { file_path: logs[name as 'primary' | 'secondary'] }
    const answer = await server.call('POST', 'sys/audit/own', { type: 'file', local: true, options })
    assert.equal(answer.status, 204, JSON.stringify(answer.body))
  }
  await secondary.call('POST', 'transit/keys/recorded', { type: 'aes256-gcm96' })
  await secondary.call('POST', 'sys/mounts/recorded', { type: 'no-such-type' })
  for (const [name, path] of Object.entries(logs)) {
    const entries = readEntries(path).filter(({ request }) => request.path.endsWith('recorded'))
    requirePairs(entries)
    assert.deepEqual(
      entries.map(({ type, request, error }) => [type, request.path, error === undefined]),
      [
        ['request', 'transit/keys/recorded', true],
        ['response', 'transit/keys/recorded', true],
        ['request', 'sys/mounts/recorded', true],
        ['response', 'sys/mounts/recorded', false],
      ],
      name,
    )
    for (const { request, auth } of entries) {
      assert.equal(request.replication_cluster, name === 'primary' ? SECONDARY.name : undefined)
      assert.equal(auth?.client_token === undefined, name === 'primary', 'the token itself stays on the secondary')
      assert.deepEqual(auth?.policies, ['root'])
    }
  }
  const ids = Object.values(logs).map((path) =>
    readEntries(path).find(({ request }) => request.path.endsWith('keys/recorded')),
  )
  assert.equal(ids[0]?.request.id, ids[1]?.request.id)
  for (const server of [primary, secondary]) await server.call('DELETE', 'sys/audit/own')
})

const handedCaller = {
  policies: ['root'],
  namespace: 'root',
  entityId: '',
  groups: [],
  displayName: 'x',
  metadata: null,
  tokenType: 'service',
} as const

/** What a secondary sends for the creation of a key, with changes that an honest one would not make. */
function handedRequest(changes: Partial<HandedRequest>, path = 'sys/mounts'): HandedRequest {
  return {
    id: '7b5a2f5a-0000-4000-8000-000000000000',
    endpoint: 'transit-key-create',
    mount: uuidOf(path),
    path: 'keys/forged',
    givenNames: undefined,
    method: 'update',
    query: '',
    body: Buffer.from('{}'),
    contentType: undefined,
    passed: undefined,
    remoteAddress: '127.0.0.1',
    wrapTtlSeconds: 0,
    caller: handedCaller,
    ...changes,
  }
}
const uuidOf = (path: string): string => primary.node.mounts.find(ROOT, path)?.uuid ?? ''

const FORGED: readonly { name: string; status: number; changes: () => Partial<HandedRequest> }[] = [
  { name: 'another endpoint than the path leads to', status: 404, changes: () => ({ endpoint: 'transit-key-rotate' }) },
  { name: 'an unknown mount', status: 404, changes: () => ({ mount: 'none' }) },
  {
    name: 'a mount of this cluster alone',
    status: 404,
    changes: () => ({ mount: uuidOf('cubbyhole/'), path: 'a', endpoint: 'cubbyhole-write' }),
  },
  { name: 'no caller', status: 403, changes: () => ({ caller: undefined }) },
  { name: 'an entity that is not there', status: 403, changes: () => callerWith({ entityId: 'none' }) },
  { name: 'a caller of no namespace', status: 403, changes: () => callerWith({ namespace: 'none' }) },
  { name: 'a policy that grants nothing', status: 403, changes: () => callerWith({ policies: ['none'] }) },
  { name: 'a read', status: 403, changes: () => ({ endpoint: 'transit-key-read', method: 'read', path: 'keys/k' }) },
  { name: 'the seal', status: 403, changes: () => ofSystem('seal', 'seal') },
  { name: 'new shares', status: 403, changes: () => ofSystem('rekey', 'rekey/init') },
  { name: 'a root token', status: 403, changes: () => ofSystem('generate-root', 'generate-root/attempt') },
  { name: 'raw storage', status: 403, changes: () => ofSystem('raw-write', 'raw/sys/policy/x', '{"value":"x"}') },
  {
    name: 'a local mount',
    status: 403,
    changes: () => ofSystem('mounts-mount', 'mounts/x', '{"type":"transit","local":true}'),
  },
  {
    name: 'a name that its path does not mean',
    status: 403,
    changes: () => ({
      ...ofSystem('policies-write', 'policies/acl/foo', '{"policy":"path \\"a\\" {}"}'),
      givenNames: { name: 'admin' },
    }),
  },
  {
    name: 'a name that its path does not have',
    status: 403,
    changes: () => ({ ...ofSystem('policies-write', 'policies/acl/foo'), givenNames: { name: 'Foo', other: 'x' } }),
  },
  {
    name: 'a token',
    status: 403,
    changes: () => ({ endpoint: 'token-create', mount: uuidOf('auth/token/'), path: 'create' }),
  },
]
const callerWith = (changes: object): Partial<HandedRequest> => {
  const { caller } = handedRequest({}, 'transit/')
  return caller === undefined ? {} : { caller: { ...caller, ...changes } }
}
const ofIdentity = (endpoint: string, path: string, body: object): Partial<HandedRequest> => ({
  endpoint,
  path,
  mount: uuidOf('identity/'),
  body: Buffer.from(JSON.stringify(body)),
})
const ofSystem = (endpoint: string, path: string, body = '{}'): Partial<HandedRequest> => ({
  endpoint,
  path,
  mount: uuidOf('sys/'),
  body: Buffer.from(body),
})

for (const { name, status, changes } of FORGED) {
  test(`S8: a primary does not take from a secondary: ${name}`, async () => {
    const before = await primary.store.lastIndex()
    const answers = primary.node.core.answersTo(SECONDARY)
    await assert.rejects(answers.carryOut(handedRequest(changes(), 'transit/')), { name: 'Refusal', status })
    assert.equal(await primary.store.lastIndex(), before)
  })
}

test('S8: the same request is taken as it should be, and not from a secondary that lacks the mount', async () => {
  const whole = handedRequest({}, 'transit/')
  const filtered = primary.node.core.answersTo({ ...SECONDARY, reaches: (uuid) => uuid !== whole.mount })
  await assert.rejects(filtered.carryOut(whole), { name: 'Refusal', status: 404 })
  await assert.rejects(filtered.ensureEntity({ of: 'set', mount: whole.mount, alias: { name: 'x', metadata: {} } }), {
    status: 404,
  })
  const { answer } = await primary.node.core.answersTo(SECONDARY).carryOut(whole)
  assert.equal((answer.data as { name: string }).name, 'forged')
})

test('S8: an answer stays at the primary if a filter came while the request was carried out', async () => {
  const whole = handedRequest({ path: 'keys/withheld' }, 'transit/')
  let looks = 0
  const filtered = {
    ...SECONDARY,
    get rule() {
      looks++
      return looks > 1
    },
    reaches: () => looks < 2,
  }
  await assert.rejects(primary.node.core.answersTo(filtered).carryOut(whole), { name: 'Refusal', status: 404 })
  assert.equal((await primary.call('GET', 'transit/keys/withheld')).status, 200)
})

test('S8: a mount that the request removed is none that a filter keeps', async () => {
  await primary.call('POST', 'sys/mounts/removed', { type: 'transit' })
  const before = uuidOf('removed/')
  const wanted = handedRequest(
    { method: 'delete', endpoint: 'mounts-unmount', path: 'mounts/removed', body: undefined },
    'sys/',
  )
  let looks = 0
  const filtered = {
    ...SECONDARY,
    get rule() {
      looks++
      return looks > 1
    },
    reaches: (uuid: string) => looks < 2 || uuid !== before,
  }
  await primary.node.core.answersTo(filtered).carryOut(wanted)
  assert.equal((await primary.call('GET', 'sys/mounts/removed')).status, 400)
})

test('4c.20: the primary tells how far its log goes behind each answer', async () => {
  const answers = primary.node.core.answersTo(SECONDARY)
  const mount = uuidOf('auth/userpass/')
  const here = async () => {
    const { historyId, lastReplicatedIndex: index } = await primary.store.position()
    return { historyId: historyId.toString('hex'), index }
  }
  const before = await here()
  const { written } = await answers.carryOut(handedRequest({ path: 'keys/told' }, 'transit/'))
  assert.deepEqual(written, await here())
  assert.ok((written?.index ?? 0) > before.index)
  const wanted = { of: 'set', mount, alias: { name: 'told', metadata: {} } } as const
  const made = await answers.ensureEntity(wanted)
  assert.deepEqual(made.written, await here())
  assert.ok((made.written?.index ?? 0) > (written?.index ?? 0))
  // Found, not made: the secondary asks because it has not come so far.
  assert.deepEqual(await answers.ensureEntity(wanted), made)
})

const AN_ENTITY = { of: 'set', alias: { name: 'x', metadata: {} } } as const
const NO_FORM: readonly { name: string; send: (to: ToPrimary) => Promise<unknown> }[] = [
  ...[
    { id: '' },
    { id: 'x","forged":"yes' },
    { id: 'line\nbreak' },
    { endpoint: 5 },
    { mount: undefined },
    { path: 'keys//forged' },
    { path: '/keys/forged' },
    { path: 'keys/../forged' },
    { path: 'keys/\u0000' },
    { path: 'keys/\ud800' },
    { path: 'k'.repeat(5_000) },
    { givenNames: { name: 1 } },
    { method: 'put' },
    { query: null },
    { body: 'text' },
    { contentType: 1 },
    { passed: ['x'] },
    { remoteAddress: undefined },
    { wrapTtlSeconds: -1 },
    { caller: null },
    { caller: { policies: 'root' } },
    ...[
      { policies: [1] },
      { policies: [''] },
      { policies: ['a\nb'] },
      { policies: Array.from({ length: 1_001 }, () => 'a') },
      { entityId: 1 },
      { displayName: null },
      { metadata: { a: 1 } },
      { tokenType: 'x' },
    ].map((wrong) => ({ caller: { ...handedCaller, ...wrong } })),
  ].map((wrong) => ({
    name: `a request with ${JSON.stringify(wrong).slice(0, 60)}`,
    send: (to: ToPrimary) => to.carryOut({ ...handedRequest({}, 'transit/'), ...(wrong as object) }),
  })),
  ...[
    undefined,
    {},
    { mount: 'x', alias: {} },
    { ...AN_ENTITY, mount: 1 },
    { ...AN_ENTITY, alias: { name: 'x' } },
    { ...AN_ENTITY, alias: { name: 1, metadata: {} } },
    { ...AN_ENTITY, alias: { name: 'x', metadata: { a: { b: 1 } } } },
    { of: 'cluster' },
    { of: 'cluster', entityId: 1 },
  ].map((wrong) => ({
    name: `an entity like ${JSON.stringify(wrong)}`,
    send: (to: ToPrimary) =>
      to.ensureEntity((wrong?.of === 'set' ? { mount: uuidOf('auth/userpass/'), ...wrong } : wrong) as WantedEntity),
  })),
  ...[undefined, { mount: 1, question: {} }, { mount: null }].map((wrong) => ({
    name: `a question like ${JSON.stringify(wrong)}`,
    send: (to: ToPrimary) => to.askMount(wrong as unknown as MountQuestion),
  })),
]
for (const { name, send } of NO_FORM) {
  test(`S8: a primary refuses ${name}, and writes nothing`, async () => {
    const before = await primary.store.lastIndex()
    await assert.rejects(send(primary.node.core.answersTo(SECONDARY)), { name: 'Refusal', status: 400 })
    assert.equal(await primary.store.lastIndex(), before)
  })
}

test('S8: a mount that a filter keeps from a secondary is not there for it, by whatever it is named', async () => {
  await primary.call('POST', 'sys/mounts/hidden', { type: 'transit' })
  await primary.call('POST', 'sys/auth/hidden', { type: 'userpass' })
  const { accessor = '', uuid } = primary.node.mounts.find(ROOT, 'auth/hidden/') ?? {}
  const alias = { name: 'x', mount_accessor: accessor }
  const { id } = (await primary.call('POST', 'identity/entity-alias', alias)).body.data as Record<string, string>
  const group = (await primary.call('POST', 'identity/group', { type: 'external' })).body.data as Record<string, string>
  const ofGroup = await primary.call('POST', 'identity/group-alias', { ...alias, canonical_id: group.id })
  const groupAlias = (ofGroup.body.data as Record<string, string>).id
  await primary.call('POST', 'sys/quotas/rate-limit/there', { path: 'hidden/', rate: 1 })
  const hidden = [uuidOf('hidden/'), uuid]
  const answers = primary.node.core.answersTo({ ...SECONDARY, reaches: (mount) => !hidden.includes(mount) })
  const before = await primary.store.lastIndex()
  const requests: readonly Partial<HandedRequest>[] = [
    ofSystem('mounts-tune-write', 'mounts/hidden/tune', '{"description":"x"}'),
    ofSystem('mounts-tune-write', 'mounts/auth/hidden/tune', '{"description":"x"}'),
    ofSystem('auth-tune-write', 'auth/hidden/tune', '{"description":"x"}'),
    { ...ofSystem('mounts-unmount', 'mounts/hidden'), method: 'delete', body: undefined },
    { ...ofSystem('auth-unmount', 'auth/hidden'), method: 'delete', body: undefined },
    ofSystem('remount', 'remount', '{"from":"hidden","to":"shown"}'),
    ofIdentity('entity-alias-write', 'entity-alias', { ...alias, name: 'y' }),
    ofIdentity('entity-alias-write', 'entity-alias', { id, name: 'y' }),
    ofIdentity('entity-alias-write-id', `entity-alias/id/${id}`, { name: 'y' }),
    { ...ofIdentity('entity-alias-delete', `entity-alias/id/${id}`, {}), method: 'delete', body: undefined },
    ofSystem('rate-limit-quota-write', 'quotas/rate-limit/new', '{"path":"hidden/","rate":1}'),
    ofSystem('rate-limit-quota-write', 'quotas/rate-limit/there', '{"rate":2}'),
    { ...ofSystem('rate-limit-quota-delete', 'quotas/rate-limit/there'), method: 'delete', body: undefined },
    ofSystem('plugins-reload', 'plugins/reload/backend', '{"mounts":["hidden"],"scope":"global"}'),
    ofIdentity('group-alias-write', 'group-alias', { ...alias, name: 'y' }),
    ofIdentity('group-alias-write-id', `group-alias/id/${groupAlias}`, { name: 'y' }),
    { ...ofIdentity('group-alias-delete', `group-alias/id/${groupAlias}`, {}), method: 'delete', body: undefined },
  ]
  for (const request of requests) {
    const refused = { name: 'Refusal', status: 404 }
    await assert.rejects(answers.carryOut(handedRequest(request, 'transit/')), refused, request.path)
  }
  assert.equal(await primary.store.lastIndex(), before)
  for (const request of requests) {
    await primary.node.core.answersTo(SECONDARY).carryOut(handedRequest(request, 'transit/')).catch(notHidden)
  }
  assert.notEqual(await primary.store.lastIndex(), before)
  for (const path of ['mounts/shown', 'quotas/rate-limit/new', 'quotas/rate-limit/there'])
    await primary.call('DELETE', `sys/${path}`)
})

test('S8: a caller of a secondary has root alone, or not at all', async () => {
  const answers = primary.node.core.answersTo(SECONDARY)
  const both = handedRequest(callerWith({ policies: ['default', 'root'] }), 'transit/')
  await assert.rejects(answers.carryOut(both), { name: 'Refusal', status: 403 })
})

test('S8: an alias that a secondary wants has metadata of bounded length', async () => {
  const answers = primary.node.core.answersTo(SECONDARY)
  const wanted = (length: number) => {
    const alias = { name: `bounded-${length}`, metadata: { k: 'v'.repeat(length) } }
    return answers.ensureEntity({ of: 'set', mount: uuidOf('auth/userpass/'), alias })
  }
  assert.equal((await wanted(65_535)).entity.entityId.length, 36)
  await assert.rejects(wanted(65_536), { name: 'Refusal', status: 400 })
})

test('S8: a local mount that shared data name is removed on a secondary, and nothing of it is left', async () => {
  const other = await startWithRole()
  await other.call('POST', 'sys/auth/own', { type: 'userpass', local: true })
  const mount_accessor = other.node.mounts.find(ROOT, 'auth/own/')?.accessor
  await other.call('POST', 'sys/quotas/rate-limit/own', { path: 'auth/own/', rate: 9 })
  await other.call('POST', 'sys/plugins/reload/backend', { mounts: ['auth/own'], scope: 'global' })
  const group = (await other.call('POST', 'identity/group', { type: 'external' })).body.data?.id
  const alias = { name: 'own', mount_accessor, canonical_id: group }
  assert.equal((await other.call('POST', 'identity/group-alias', alias)).status, 200)
  await other.become({ performance: 'secondary' })
  assert.equal((await other.call('DELETE', 'sys/auth/own')).status, 204)
  assert.equal(other.node.mounts.find(ROOT, 'auth/own/'), undefined)
  assert.deepEqual(await other.store.list('root/core/local-unmounting/'), [])
})

/** Some of the requests undo what others need; none is refused because of a filter. */
const notHidden = (cause: { readonly status?: number }): void => assert.notEqual(cause.status, 404)

test('S8: a name that was written otherwise than it is kept is handed over as it was written', async () => {
  const [direct, given] = [primary, secondary].map((server) =>
    server.call('POST', 'sys/policies/acl/Written', { policy: 'path "a" {}' }),
  )
  const answer = comparable((await given) as Called)
  assert.match(JSON.stringify(answer), /warnings/)
  assert.deepEqual(answer, comparable((await direct) as Called))
  assert.deepEqual(pair.handed(), ['policies-write'])
})

test('S8: what goes wrong while the primary makes an entity is a refusal with its own status', async () => {
  const other = await startTwoClusters()
  await other.primary.call('POST', 'sys/auth/userpass', { type: 'userpass' })
  const mount = other.primary.node.mounts.find(ROOT, 'auth/userpass/')?.uuid ?? ''
  await other.primary.store.setWritable(() => false)
  const answers = other.primary.node.core.answersTo(SECONDARY)
  const wanted = answers.ensureEntity({ of: 'set', mount, alias: { name: 'x', metadata: {} } })
  await assert.rejects(wanted, { status: 503, code: 'not_primary' })
  other.close()
})

test('S8: a primary that is one no more, or is sealed, takes nothing', async () => {
  const other = await startTwoClusters()
  const answers = other.primary.node.core.answersTo(SECONDARY)
  await other.primary.become({ isFenced: true })
  const refused = await other.secondary.call('POST', 'sys/policies/acl/x', { policy: 'path "a" {}' })
  assert.equal(refused.status, 503)
  await other.primary.become({ performance: 'primary' })
  await other.primary.call('POST', 'sys/seal')
  await assert.rejects(answers.carryOut(handedRequest({}, 'transit/')), { status: 503, code: 'sealed' })
  const unreached = await other.secondary.call('POST', 'sys/policies/acl/x', { policy: 'path "a" {}' })
  assert.equal(unreached.status, 503)
  assert.match(errorsOf(unreached), new RegExp(`${PRIMARY_ADDRESS}, cannot be reached`))
  other.close()
})

test('S8: guesses on a secondary that has a login mount, and nothing in it yet, are counted there', async () => {
  const other = await startTwoClusters()
  const { primary, secondary } = other
  await primary.call('POST', 'sys/auth/approle', { type: 'approle' })
  await other.follow()
  await primary.call('POST', 'auth/approle/role/r', {})
  const { role_id } = (await primary.call('GET', 'auth/approle/role/r/role-id')).body.data ?? {}
  await primary.call('POST', 'auth/approle/role/r/custom-secret-id', { secret_id: 'a-right-one' })
  const logIn = async (secret_id: string) =>
    (await secondary.call('POST', 'auth/approle/login', { role_id, secret_id }, '')).status
  const statuses: number[] = []
  for (const guess of ['1', '2', '3', '4', '5', 'a-right-one']) statuses.push(await logIn(guess))
  assert.deepEqual(statuses, [400, 400, 400, 400, 400, 403])
  assert.deepEqual(other.handed(), [])
  other.close()
})

test('S8: an answer that does not come in time may have been carried out, and the refusal says so', async () => {
  const time = steppedTime(0)
  const line = new HandingLine(() => new Promise(() => {}))
  const ask = line.ask.bind(line)
  const link = new PrimaryLink({ ask, timers: time.timers, primaryAddress: () => PRIMARY_ADDRESS })
  const other = await startTwoClusters()
  other.secondary.linkTo(link)
  const late = other.secondary.call('POST', 'sys/policies/acl/x', { policy: 'path "a" {}' })
  await until(async () => time.waiting().length === 1)
  await time.advance(PRIMARY_DEADLINE_MS)
  const refused = await late
  assert.equal(refused.status, 503)
  assert.match(errorsOf(refused), /gave no answer in time: whether the request was carried out is not known/)
  const broken = other.secondary.call('POST', 'sys/policies/acl/x', { policy: 'path "a" {}' })
  await until(async () => time.waiting().length === 1)
  line.cut()
  assert.match(errorsOf(await broken), /whether the request was carried out is not known/)
  other.close()
})

test('S8: the first login at a local mount has its entity made by the primary, and its alias kept here', async () => {
  await secondary.call('POST', 'sys/auth/own', { type: 'userpass', local: true })
  for (const user of ['ann', 'bob']) await secondary.call('POST', `auth/own/users/${user}`, { password: 'x' })
  pair.handed()
  const logIn = async (user: string): Promise<string> => {
    const login = await secondary.call('POST', `auth/own/login/${user}`, { password: 'x' }, '')
    assert.equal(login.status, 200, JSON.stringify(login.body))
    return authOf(login).entity_id ?? ''
  }
  const both = await Promise.all([logIn('ann'), logIn('ann'), logIn('bob')])
  assert.deepEqual([both[0] === both[1], both[0] === both[2]], [true, false])
  // Until its entity has come here, the alias names the entity that the primary is asked for.
  assert.equal(await logIn('ann'), both[0])
  const listed = async (server: ServerWithRole) => {
    const { body } = await server.call('LIST', 'identity/entity-alias/id')
    return Object.values((body.data?.key_info ?? {}) as Record<string, { canonical_id: string }>)
      .map(({ canonical_id }) => canonical_id)
      .filter((id) => both.includes(id))
  }
  const before = await primary.store.lastIndex()
  await pair.follow()
  assert.equal((await listed(secondary)).length, 2)
  assert.deepEqual(await listed(primary), [])
  pair.handed()
  assert.equal(await logIn('ann'), both[0])
  assert.deepEqual(pair.handed(), [], 'a known caller needs no primary')
  assert.equal(await primary.store.lastIndex(), before)
  await primary.call('POST', `identity/entity/id/${both[1]}`, { disabled: true })
  await assert.rejects(
    primary.node.core.answersTo(SECONDARY).ensureEntity({ of: 'cluster', namespace: 'root', entityId: both[1] ?? '' }),
    {
      status: 403,
    },
  )
})

test('S8: a login at a local mount of a namespace has its entity made there by the primary', async () => {
  const in1 = { namespace: 'w1' }
  const { body } = await primary.call('POST', 'sys/namespaces/w1')
  await pair.follow()
  await secondary.call('POST', 'sys/auth/own1', { type: 'userpass', local: true }, undefined, in1)
  await secondary.call('POST', 'auth/own1/users/eve', { password: 'x' }, undefined, in1)
  const login = await secondary.call('POST', 'auth/own1/login/eve', { password: 'x' }, '', in1)
  const id = authOf(login).entity_id ?? ''
  assert.ok(id.endsWith(`.${body.data?.id}`), id)
  const there = await primary.call('GET', `identity/entity/id/${id}`, undefined, undefined, in1)
  assert.deepEqual([there.status, there.body.data?.aliases], [200, []])
  await pair.follow()
  const here = await secondary.call('GET', `identity/entity/id/${id}`, undefined, undefined, in1)
  const [alias] = (here.body.data?.aliases ?? []) as { canonical_id: string }[]
  assert.equal(alias?.canonical_id, id)
  const asked = primary.node.core.answersTo(SECONDARY)
  await assert.rejects(asked.ensureEntity({ of: 'cluster', namespace: 'none', entityId: '' }), { status: 404 })
  // A secondary of an earlier release has the root namespace alone, and names none.
  const { entity } = await asked.ensureEntity({ of: 'cluster', entityId: '' } as WantedEntity)
  assert.equal((await primary.call('GET', `identity/entity/id/${entity.entityId}`)).status, 200)
})

test('S8: an alias at a local mount is made here, with an entity of the primary if none is named', async () => {
  await secondary.call('POST', 'sys/auth/kept', { type: 'userpass', local: true })
  const { accessor: mount_accessor } = secondary.node.mounts.find(ROOT, 'auth/kept/') ?? {}
  pair.handed()
  const made = await secondary.call('POST', 'identity/entity-alias', { name: 'x', mount_accessor })
  assert.equal(made.status, 200, JSON.stringify(made.body))
  assert.deepEqual(pair.handed(), ['entity'])
  const { id, canonical_id } = made.body.data as Record<string, string>
  await pair.follow()
  const read = await secondary.call('GET', `identity/entity-alias/id/${id}`)
  assert.equal(read.body.data?.canonical_id, canonical_id)
  assert.equal((await primary.call('GET', `identity/entity/id/${canonical_id}`)).status, 200)
  assert.equal((await primary.call('GET', `identity/entity-alias/id/${id}`)).status, 404)
  const again = { name: 'y', mount_accessor, canonical_id: '00000000-0000-4000-8000-000000000000' }
  assert.equal((await secondary.call('POST', 'identity/entity-alias', again)).status, 400)
  assert.deepEqual(pair.handed(), [])
})

test('S8: an alias cannot move from a shared mount to a local one of a secondary, and makes no entity', async () => {
  await secondary.call('POST', 'sys/auth/target', { type: 'userpass', local: true })
  const shared = { name: 'mover', mount_accessor: primary.node.mounts.find(ROOT, 'auth/userpass/')?.accessor }
  const { id } = (await primary.call('POST', 'identity/entity-alias', shared)).body.data as Record<string, string>
  await pair.follow()
  const before = await primary.store.lastIndex()
  pair.handed()
  const mount_accessor = secondary.node.mounts.find(ROOT, 'auth/target/')?.accessor
  assert.equal((await secondary.call('POST', `identity/entity-alias/id/${id}`, { mount_accessor })).status, 400)
  assert.ok(!pair.handed().includes('entity'))
  assert.equal(await primary.store.lastIndex(), before)
})

test('S8: without the link shared writes are refused for a while, and known callers go on', async () => {
  await secondary.call('POST', 'auth/userpass/users/eve', { password: 'x' })
  await secondary.call('POST', 'auth/userpass/users/new', { password: 'x' })
  await pair.follow()
  assert.equal((await secondary.call('POST', 'auth/userpass/login/eve', { password: 'x' }, '')).status, 200)
  await pair.follow()
  pair.cut()
  const response = await secondary.node.core.handle({
    method: 'POST',
    rawPath: '/v1/transit/keys/never',
    query: '',
    headers: { token: 'root', namespace: undefined, wrapTtl: undefined, contentType: undefined },
    body: undefined,
    remoteAddress: '127.0.0.1',
  })
  assert.equal(response.status, 503)
  assert.equal(response.headers?.['Retry-After'], '5')
  assert.match(String(response.body), new RegExp(`${PRIMARY_ADDRESS}, cannot be reached: nothing was written`))
  assert.equal((await secondary.call('POST', 'auth/userpass/login/eve', { password: 'x' }, '')).status, 200)
  assert.equal((await secondary.call('POST', 'auth/userpass/login/new', { password: 'x' }, '')).status, 503)
  assert.equal((await secondary.call('POST', 'transit/encrypt/k', { plaintext: HELLO })).status, 200)
  assert.equal((await secondary.call('POST', 'auth/token/create')).status, 200)
})
