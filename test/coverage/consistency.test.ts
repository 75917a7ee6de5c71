// Decision 4c.20: what clients see of the way from one cluster of a set to another. Two whole clusters in memory; time
// is the test's.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { NodeRole } from '../../src/api/node-role.ts'
import { bodyText, type WireRequest, type WireResponse } from '../../src/core/exchange.ts'
import { importSecret } from '../../src/crypto/primitives/secret-key.ts'
import { realWorld } from '../../src/lib/world.ts'
import { decodeIndex, encodeIndex, type IndexValue } from '../../src/replication/consistency/index-value.ts'
import { LOST_WRITES } from '../../src/replication/consistency/lost-writes.ts'
import { systemScope } from '../../src/storage/contract.ts'
import { type Headers, wireRequest } from '../fixtures/memory-server.ts'
import { type ServerWithRole, startWithRole } from '../fixtures/roles.ts'
import { servingBeside } from '../fixtures/serving-node.ts'
import { steppedTime } from '../fixtures/stepped-time.ts'
import { startTwoClusters, type TwoClusters } from '../fixtures/two-clusters.ts'

const POLICY = { policy: 'path "a" {}' }
const MISSING = 'required index state not present'
const GAP = 2 ** 20
const time = steppedTime(0)
let pair: TwoClusters
let primary: ServerWithRole
let secondary: ServerWithRole
/** How many waited for time to pass before the last request. */
let idle = 0
before(async () => {
  pair = await startTwoClusters({}, { world: { timers: time.timers } })
  primary = pair.primary
  secondary = pair.secondary
  await primary.call('POST', 'sys/auth/userpass', { type: 'userpass' })
  await primary.call('POST', 'auth/userpass/users/ann', { password: 'x' })
  await primary.call('POST', 'sys/mounts/transit', { type: 'transit' })
  await primary.call('POST', 'transit/keys/k')
  await pair.follow()
})
after(() => pair.close())

type Server = Pick<ServerWithRole, 'node' | 'store'>

function send(server: Server, method: string, path: string, body?: unknown, headers: Headers = {}) {
  const request = wireRequest(method, path, body, 'root')
  idle = time.waiting().length
  return server.node.core.handle({ ...request, headers: { ...request.headers, ...headers } } as WireRequest)
}
const headerOf = ({ headers }: WireResponse): string | undefined => headers?.['X-Vault-Index']

async function keyOf({ node, store }: Server) {
  const name = 'root/core/index-key'
  return importSecret(node.storage.barrier.open(name, (await store.get(name)) ?? Buffer.alloc(0)))
}

async function toldBy(server: Server, response: WireResponse): Promise<IndexValue> {
  const text = headerOf(response)
  assert.ok(text !== undefined, bodyText(response))
  return decodeIndex(await keyOf(server), text) ?? assert.fail('it was not made with the key of the set')
}

const idOf = ({ node }: Server): string => node.seal.status().cluster?.id ?? assert.fail('it has an id')
const valueFor = async (server: Server, value: Partial<IndexValue>): Promise<string> =>
  encodeIndex(await keyOf(server), { cluster: idOf(server), local: 0, replicated: 0, ...value })

/** Further than a server comes by itself while a test lets time pass. */
const FAR = 1_000
/** Turns that a request may take until it waits for time to pass. On a busy machine most are used up by others. */
const TURNS = 10_000

/** What the promise resolved with by now. */
const sofar = <T>(promise: Promise<T>): Promise<T | 'waits'> =>
  Promise.race([promise, Promise.resolve('waits' as const)])

/** Resolves with what the promise does, or once something waits for time to pass that did not before. */
const settled = async <T>(promise: Promise<T>): Promise<T | 'waits'> => {
  for (let turn = 0; turn < TURNS; turn++) {
    const now = await sofar(promise)
    if (now !== 'waits' || time.waiting().length > idle) return now
    await new Promise(setImmediate)
  }
  return assert.fail('it neither ends nor waits for time to pass')
}

test('an answer to a write of the primary says where its log stands, a read and a refusal say nothing', async () => {
  const written = await send(primary, 'POST', 'sys/policies/acl/p', POLICY)
  const { index, lastReplicatedIndex } = await primary.store.position()
  assert.deepEqual(await toldBy(primary, written), {
    cluster: idOf(primary),
    local: index,
    replicated: lastReplicatedIndex,
  })
  for (const read of [
    await send(primary, 'GET', 'sys/policies/acl/p'),
    await send(primary, 'LIST', 'sys/policies/acl'),
    await send(primary, 'GET', 'sys/health'),
    await send(primary, 'POST', 'transit/encrypt/k', { plaintext: '' }),
    await send(primary, 'POST', 'sys/policies/acl/p', { policy: '{' }),
    await send(primary, 'DELETE', 'sys/policies/acl/none'),
  ])
    assert.equal(headerOf(read), undefined, bodyText(read))
  const made = await send(primary, 'POST', 'transit/encrypt/made-here', { plaintext: '' })
  assert.equal((await toldBy(primary, made)).replicated, (await primary.store.position()).lastReplicatedIndex)
  const token = await toldBy(primary, await send(primary, 'POST', 'auth/token/create'))
  assert.deepEqual([token.local, token.replicated < token.local], [await primary.store.lastIndex(), true])
})

const OFF: readonly Partial<NodeRole>[] = [{}, { dr: 'primary' }]
for (const role of OFF) {
  test(`without performance replication there is no header, and none counts: ${JSON.stringify(role)}`, async () => {
    const server = await startWithRole()
    await server.become(role)
    assert.equal(headerOf(await send(server, 'POST', 'sys/policies/acl/p', POLICY)), undefined)
    for (const headers of [
      { index: 'x' },
      { inconsistent: 'never' },
      { index: await valueFor(server, { local: 9e9 }) },
    ])
      assert.equal((await send(server, 'GET', 'sys/policies/acl/p', undefined, headers)).status, 200)
  })
}

test('an answer that the primary gave is held until it can be read here, and says so much', async () => {
  const timers = time.waiting().length
  const writing = send(secondary, 'POST', 'sys/policies/acl/held', POLICY)
  assert.equal(await settled(writing), 'waits')
  const { lastReplicatedIndex } = await primary.store.position()
  await pair.follow()
  const written = await writing
  assert.equal(written.status, 204)
  const value = await toldBy(secondary, written)
  assert.deepEqual([value.cluster, value.replicated], [idOf(secondary), lastReplicatedIndex])
  assert.equal(value.local, await secondary.store.lastIndex())
  assert.equal((await send(secondary, 'GET', 'sys/policies/acl/held')).status, 200)
  assert.equal(time.waiting().length, timers)
})

test('an answer is held no longer than the setting says, and then has a warning', async () => {
  const writing = send(secondary, 'POST', 'sys/policies/acl/late', POLICY)
  assert.equal(await settled(writing), 'waits')
  await time.advance(1_999)
  assert.equal(await sofar(writing), 'waits')
  await time.advance(1)
  const written = await writing
  const { warnings } = JSON.parse(bodyText(written)) as { warnings: string[] }
  assert.deepEqual([written.status, warnings.length], [200, 1])
  assert.match(warnings[0] ?? '', /primary has done this, but it was not here after 2000 ms/)
  const index = headerOf(written) ?? ''
  assert.equal((await toldBy(secondary, written)).replicated, (await primary.store.position()).lastReplicatedIndex)
  // The header makes good what the answer could not promise.
  const reading = send(secondary, 'GET', 'sys/policies/acl/late', undefined, { index })
  assert.equal(await settled(reading), 'waits')
  await pair.follow()
  assert.equal((await reading).status, 200)
})

test('a first login is held until its entity is here; a known caller waits for nothing', async () => {
  const logIn = () => send(secondary, 'POST', 'auth/userpass/login/ann', { password: 'x' })
  const first = logIn()
  assert.equal(await settled(first), 'waits')
  await pair.follow()
  const { auth } = JSON.parse(bodyText(await first)) as { auth: { entity_id: string } }
  assert.equal((await send(secondary, 'GET', `identity/entity/id/${auth.entity_id}`)).status, 200)
  const again = await toldBy(secondary, await logIn())
  const { index, origins } = await secondary.store.position()
  assert.deepEqual([again.local, again.replicated], [index, origins[0]?.index])
})

test('a login whose entity does not come is given all the same, with the warning', async () => {
  await primary.call('POST', 'auth/userpass/users/bob', { password: 'x' })
  await pair.follow()
  const login = send(secondary, 'POST', 'auth/userpass/login/bob', { password: 'x' })
  await settled(login)
  await time.advance(2_000)
  const { auth, warnings } = JSON.parse(bodyText(await login)) as { auth: object; warnings: string[] }
  assert.ok(auth !== null)
  assert.match(warnings.join(), /was not here after 2000 ms/)
  await pair.follow()
})

test('a state that is not here is waited for, and then refused with 412', async () => {
  const index = await valueFor(primary, { replicated: (await primary.store.lastIndex()) + FAR })
  for (const [inconsistent, ms] of [
    [undefined, 100],
    ['forward-active-node', 100],
    ['await-state', 2_000],
    ['await-state,forward-active-node', 2_000],
    ['fail, await-state', 2_000],
  ] as const) {
    const headers = { index, ...(inconsistent === undefined ? {} : { inconsistent }) }
    const reading = send(primary, 'GET', 'sys/policies/acl/p', undefined, headers)
    await settled(reading)
    await time.advance(ms - 1)
    assert.equal(await sofar(reading), 'waits', inconsistent ?? 'absent')
    await time.advance(1)
    const refused = await reading
    assert.deepEqual(
      [refused.status, JSON.parse(bodyText(refused))],
      [412, { errors: [MISSING] }],
      inconsistent ?? 'absent',
    )
  }
  const failed = await send(primary, 'GET', 'sys/policies/acl/p', undefined, { index, inconsistent: 'fail' })
  assert.equal(failed.status, 412)
})

test('a state that comes in time is served, with the mounts that it has', async () => {
  const mounted = await send(primary, 'POST', 'sys/mounts/fresh', { type: 'transit' })
  const made = await send(primary, 'POST', 'fresh/keys/k')
  const index = headerOf(made) ?? ''
  assert.ok((headerOf(mounted) ?? '') !== index)
  const unasked = await send(secondary, 'POST', 'fresh/encrypt/k', { plaintext: '' })
  assert.equal(unasked.status, 404)
  const asked = send(secondary, 'POST', 'fresh/encrypt/k', { plaintext: '' }, { index })
  assert.equal(await settled(asked), 'waits')
  await time.advance(50)
  await pair.follow()
  const answer = await asked
  assert.equal(answer.status, 200, bodyText(answer))
})

test('of another cluster the shared index alone counts, of the own one both do, and of two values each', async () => {
  const { index, origins } = await secondary.store.position()
  const replicated = origins[0]?.index ?? 0
  const ask = async (values: readonly Partial<IndexValue>[]) => {
    const texts = await Promise.all(values.map((value) => valueFor(secondary, value)))
    const headers = { index: texts.join(', '), inconsistent: 'fail' }
    return (await send(secondary, 'GET', 'sys/policies/acl/p', undefined, headers)).status
  }
  assert.equal(await ask([{ local: index, replicated }]), 200)
  assert.equal(await ask([{ local: index + 1, replicated }]), 412)
  assert.equal(await ask([{ local: index, replicated: replicated + 1 }]), 412)
  assert.equal(await ask([{ cluster: idOf(primary), local: index + 1e6, replicated }]), 200)
  assert.equal(await ask([{ cluster: idOf(primary), local: 0, replicated: replicated + 1 }]), 412)
  assert.equal(
    await ask([
      { local: index, replicated },
      { cluster: 'other', replicated },
    ]),
    200,
  )
  assert.equal(
    await ask([
      { local: index, replicated },
      { cluster: 'other', replicated: replicated + 1 },
    ]),
    412,
  )
})

test('headers without meaning are refused by name', async () => {
  const value = await valueFor(primary, {})
  const other = encodeIndex(importSecret(Buffer.alloc(32, 1)), { cluster: idOf(primary), local: 0, replicated: 0 })
  const REFUSED: readonly (readonly [Headers, RegExp])[] = [
    [{ index: '' }, /X-Vault-Index is not a value that a cluster of this set gave/],
    [{ index: 'nonsense' }, /X-Vault-Index is not/],
    [{ index: other }, /X-Vault-Index is not/],
    [{ index: `${value},${other}` }, /X-Vault-Index is not/],
    [{ index: `${value},` }, /X-Vault-Index is not/],
    [{ index: [value, value, value].join(',') }, /X-Vault-Index has more than 2 values/],
    [{ inconsistent: '' }, /X-Vault-Inconsistent must be one or two of forward-active-node, fail, await-state/],
    [{ inconsistent: 'wait' }, /X-Vault-Inconsistent must be/],
    [{ index: value, inconsistent: 'fail,await-state,fail' }, /X-Vault-Inconsistent must be/],
  ]
  for (const server of [primary, secondary]) {
    for (const [headers, says] of REFUSED) {
      const refused = await send(server, 'GET', 'sys/policies/acl/p', undefined, headers)
      assert.deepEqual([refused.status, says.test(bodyText(refused))], [400, true], bodyText(refused))
    }
    assert.equal((await send(server, 'GET', 'sys/policies/acl/p', undefined, { index: value })).status, 200)
  }
})

test('a write that was lost in a failover is told from one that is on its way, at once', async () => {
  const server = await startWithRole({ world: { timers: time.timers } })
  await server.become({ performance: 'primary' })
  const kept = headerOf(await send(server, 'POST', 'sys/policies/acl/p', POLICY)) ?? ''
  const timers = time.waiting().length
  const { index } = await server.store.position()
  await server.store.beginHistory(async (tx) => tx.put(systemScope, 'root/sys/policy/x', Buffer.alloc(0)), {
    id: realWorld().random.bytes(16),
    knownIndex: index + 3,
    knownEpoch: 1,
  })
  // What a primary notes before it serves.
  const note = 'root/core/lost-writes'
  const gaps = LOST_WRITES.encode({ gaps: [{ after: index, before: GAP }] })
  const sealed = server.node.storage.barrier.seal(note, gaps)
  await server.store.transaction(async (tx) => tx.put(systemScope, note, sealed))
  const ask = async (value: Partial<IndexValue>) => {
    const headers = { index: await valueFor(server, { cluster: 'the one before', ...value }) }
    return send(server, 'GET', 'sys/policies/acl/p', undefined, headers)
  }
  assert.equal((await send(server, 'GET', 'sys/policies/acl/p', undefined, { index: kept })).status, 200)
  assert.equal((await ask({ replicated: index })).status, 200)
  for (const value of [
    { replicated: index + 1 },
    { replicated: GAP - 1 },
    { cluster: idOf(server), local: index + 1 },
  ]) {
    const lost = await ask(value)
    assert.equal(lost.status, 412)
    assert.match(bodyText(lost), /^\{"errors":\["required index state not present: .* was lost in a failover/)
  }
  assert.equal((await ask({ replicated: GAP })).status, 200)
  assert.equal(time.waiting().length, timers)
})

test('at seal the key is forgotten; a sealed server says that it is sealed', async () => {
  const server = await startWithRole()
  await server.become({ performance: 'primary' })
  const index = headerOf(await send(server, 'POST', 'sys/policies/acl/p', POLICY)) ?? ''
  assert.equal(headerOf(await send(server, 'POST', 'sys/seal')), undefined)
  assert.equal((await send(server, 'GET', 'sys/policies/acl/p', undefined, { index })).status, 503)
  await server.node.operations.unseal(server.shares[0] ?? Buffer.alloc(0))
  assert.equal((await send(server, 'GET', 'sys/policies/acl/p', undefined, { index })).status, 200)
})

test('when the key of the set changes, values of before are refused, and new ones made with the new key', async () => {
  const server = await startWithRole()
  await server.become({ performance: 'primary' })
  const index = headerOf(await send(server, 'POST', 'sys/policies/acl/p', POLICY)) ?? ''
  const name = 'root/core/index-key'
  const sealed = server.node.storage.barrier.seal(name, Buffer.alloc(32, 9))
  await server.store.transaction(async (tx) => tx.put(systemScope, name, sealed))
  assert.equal((await send(server, 'GET', 'sys/policies/acl/p', undefined, { index })).status, 400)
  const fresh = await send(server, 'POST', 'sys/policies/acl/p', POLICY)
  assert.ok(decodeIndex(importSecret(Buffer.alloc(32, 9)), headerOf(fresh) ?? '') !== undefined)
})

test('a thread that serves keeps the header of the writer, and waits for what the writer commits', async () => {
  const serving = await servingBeside(secondary)
  idle = time.waiting().length
  const made = serving.send('POST', 'sys/policies/acl/threaded', Buffer.from(JSON.stringify(POLICY)))
  assert.equal(await settled(made), 'waits')
  await pair.follow()
  assert.equal((await made).status, 204)
  // Whoever has the answer reads it on the thread that did not make it.
  assert.equal((await serving.send('GET', 'sys/policies/acl/threaded', undefined)).status, 200)
  const index = headerOf(await send(primary, 'POST', 'sys/policies/acl/next', POLICY)) ?? ''
  const reading = serving.send('GET', 'sys/policies/acl/next', undefined, { index, inconsistent: 'await-state' })
  await new Promise(setImmediate)
  await pair.follow()
  assert.equal((await reading).status, 200)
})

test('a request without the headers reads neither the position of the store nor the key', async () => {
  const server = await startWithRole()
  await server.become({ performance: 'primary' })
  await send(server, 'POST', 'sys/policies/acl/p', POLICY)
  let looked = 0
  const { store } = server
  for (const verb of ['position', 'histories', 'committedAfter'] as const) {
    const real = store[verb].bind(store) as (...input: never[]) => unknown
    Object.assign(store, {
      [verb]: (...input: never[]) => {
        looked++
        return real(...input)
      },
    })
  }
  assert.equal((await send(server, 'GET', 'sys/policies/acl/p')).status, 200)
  assert.equal((await send(server, 'POST', 'sys/policies/acl/p', POLICY)).status, 204)
  assert.equal(looked, 0)
  const index = await valueFor(server, {})
  assert.equal((await send(server, 'GET', 'sys/policies/acl/p', undefined, { index })).status, 200)
  assert.ok(looked > 0, 'the test sees them')
})
