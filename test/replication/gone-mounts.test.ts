// Whole servers in virtual time: what a performance secondary keeps of a shared mount ends when the mount does, as on
// the primary: wrapped answers count no more at once, and they and the tokens of logins are removed soon after.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ReplicatedServer } from '../fixtures/replicated-server.ts'
import { performanceServers } from '../fixtures/replicated-servers.ts'

const EXPORT = 'export/encryption-key/k'
const SETS = 'sys/replication/performance'
const BELONGINGS = /^root\/sys\/(token|lease|lease-of|cubbyhole|cubbyhole-size)\//

type Tokens = readonly string[]

/** The primary makes the mounts, and the secondary has them. */
async function started(seed: number) {
  const all = await performanceServers(seed)
  const { servers, primary, secondary } = all
  await primary.must('POST', 'sys/namespaces/team', {})
  await primary.must('POST', 'sys/mounts/transit', { type: 'transit' })
  await primary.must('POST', 'transit/keys/k', { exportable: true })
  await primary.must('POST', 'sys/auth/approle', { type: 'approle' })
  await primary.must('POST', 'auth/approle/role/r', {})
  await primary.must('POST', 'sys/auth/userpass', { type: 'userpass' })
  await primary.must('POST', 'auth/userpass/users/ann', { password: 'x' })
  const level = async () => {
    await servers.level(primary, secondary, 60_000, 'performance')
    await servers.time.pass(1_000)
  }
  await level()
  const wrapped = async (at: ReplicatedServer, method: string, path: string, body?: object): Promise<string> => {
    const answer = await servers.time.until(at.server.call(method, path, body, at.rootToken, { wrapTtl: '1h' }))
    return (answer.body.wrap_info as { readonly token: string }).token
  }
  return { ...all, level, wrapped }
}

const unwrap = async (at: ReplicatedServer, token: string): Promise<number> =>
  (await at.call('POST', 'sys/wrapping/unwrap', { token })).status
const lookUp = async (at: ReplicatedServer, token: string): Promise<number> =>
  (await at.call('POST', 'sys/wrapping/lookup', { token })).status
const lookSelf = async (at: ReplicatedServer, token: string): Promise<number> =>
  (await at.call('GET', 'auth/token/lookup-self', undefined, token)).status

/** What is stored at the cluster of tokens, and was not at the call. */
async function newAt(at: ReplicatedServer): Promise<() => Promise<Tokens>> {
  const stored = async () => [...(await at.entries('dr')).keys()].filter((key) => BELONGINGS.test(key))
  const before = new Set(await stored())
  return async () => (await stored()).filter((key) => !before.has(key))
}

const loggedIn = async (at: ReplicatedServer): Promise<string> => {
  const { body } = await at.must('POST', 'auth/userpass/login/ann', { password: 'x' }, '')
  const token = String((body.auth as { readonly client_token: string }).client_token)
  await at.must('POST', 'cubbyhole/x', { a: 1 }, token)
  return token
}

for (const by of ['the primary', 'the secondary'] as const)
  test(`wrapped answers of mounts that ${by} removes count no more at once, and are removed`, async () => {
    const { servers, primary, secondary, level, wrapped } = await started(by === 'the primary' ? 51 : 52)
    const left = await newAt(secondary)
    const own = await wrapped(secondary, 'POST', 'sys/wrapping/wrap', { a: 1 })
    const kept = (await left()).length
    const [first, second] = [
      await wrapped(secondary, 'GET', `transit/${EXPORT}`),
      await wrapped(secondary, 'GET', `transit/${EXPORT}`),
    ]
    const id = await wrapped(secondary, 'POST', 'auth/approle/role/r/secret-id', {})
    assert.equal(await lookUp(secondary, first), 200)
    const remover = by === 'the primary' ? primary : secondary
    for (const path of ['sys/mounts/transit', 'sys/auth/approle']) await remover.must('DELETE', path)
    await level()
    assert.ok((await left()).length > kept, 'they are stored')
    for (const token of [first, id]) assert.equal(await lookUp(secondary, token), 400)
    assert.equal((await secondary.call('POST', 'sys/wrapping/rewrap', { token: first })).status, 400)
    for (const token of [first, second, id]) assert.equal(await unwrap(secondary, token), 400)
    await servers.time.pass(10_000)
    assert.equal((await left()).length, kept)
    assert.equal(await unwrap(secondary, own), 200)
  })

test('tokens of a login method that is removed go from a secondary with all that belongs to them', async () => {
  const { servers, primary, secondary, level } = await started(53)
  const left = await newAt(secondary)
  await loggedIn(secondary)
  await loggedIn(secondary)
  assert.ok((await left()).length >= 12)
  await primary.must('DELETE', 'sys/auth/userpass')
  await level()
  await servers.time.pass(10_000)
  assert.deepEqual(await left(), [])
})

test('what a mount gave ends when it moves into a namespace, and stays when it moves within one', async () => {
  const { servers, primary, secondary, level, wrapped } = await started(54)
  const left = await newAt(secondary)
  const [token, answer] = [await loggedIn(secondary), await wrapped(secondary, 'GET', `transit/${EXPORT}`)]
  const stored = (await left()).length
  await primary.must('POST', 'sys/remount', { from: 'transit', to: 'moved' })
  await primary.must('POST', 'sys/remount', { from: 'auth/userpass', to: 'auth/up' })
  await level()
  await servers.time.pass(10_000)
  assert.deepEqual([await lookUp(secondary, answer), await lookSelf(secondary, token)], [200, 200])
  assert.equal((await left()).length, stored)
  await primary.must('POST', 'sys/remount', { from: 'moved', to: 'team/transit' })
  await primary.must('POST', 'sys/remount', { from: 'auth/up', to: 'team/auth/up' })
  await level()
  assert.deepEqual([await unwrap(secondary, answer), await lookSelf(secondary, token)], [400, 403])
  await servers.time.pass(10_000)
  assert.deepEqual(await left(), [])
})

test('an answer of a mount that was moved, tuned and removed at once goes', async () => {
  const { servers, primary, secondary, level, wrapped } = await started(55)
  const left = await newAt(secondary)
  const answer = await wrapped(secondary, 'GET', `transit/${EXPORT}`)
  await primary.must('POST', 'sys/remount', { from: 'transit', to: 'moved' })
  await level()
  const later = await wrapped(secondary, 'GET', `moved/${EXPORT}`)
  await primary.must('POST', 'sys/mounts/moved/tune', { description: 'x' })
  await primary.must('DELETE', 'sys/mounts/moved')
  await level()
  await servers.time.pass(10_000)
  for (const token of [answer, later]) assert.equal(await unwrap(secondary, token), 400)
  assert.deepEqual(await left(), [])
})

test('a local mount keeps its answers and tokens when one of the set at its path is removed', async () => {
  const { servers, primary, secondary, level, wrapped } = await started(56)
  await secondary.must('POST', 'sys/mounts/own', { type: 'transit', local: true })
  await secondary.must('POST', 'own/keys/k', { exportable: true })
  await primary.must('POST', 'sys/mounts/own', { type: 'transit' })
  await level()
  const answer = await wrapped(secondary, 'GET', `own/${EXPORT}`)
  await primary.must('DELETE', 'sys/mounts/own')
  await level()
  await servers.time.pass(10_000)
  assert.equal(await unwrap(secondary, answer), 200)
})

test('what a mount left that was removed while the secondary was off goes after the restart', async () => {
  const { servers, primary, secondary, level, wrapped } = await started(57)
  const [share] = primary.server.shares
  const left = await newAt(secondary)
  const answer = await wrapped(secondary, 'GET', `transit/${EXPORT}`)
  await loggedIn(secondary)
  secondary.kill()
  for (const path of ['sys/mounts/transit', 'sys/auth/userpass']) await primary.must('DELETE', path)
  await servers.time.pass(30_000)
  await secondary.restart()
  await secondary.must('POST', 'sys/unseal', { key: share?.toString('hex') }, '')
  await level()
  assert.equal(await unwrap(secondary, answer), 400)
  await servers.time.pass(20_000)
  assert.deepEqual(await left(), [])
})

test('what a mount left goes after a restart, and after a promotion, that came right behind the removal', async () => {
  for (const next of ['restart', 'promotion'] as const) {
    const { servers, primary, secondary } = await started(next === 'restart' ? 58 : 59)
    const [share] = primary.server.shares
    const left = await newAt(secondary)
    await loggedIn(secondary)
    await primary.must('DELETE', 'sys/auth/userpass')
    await servers.level(primary, secondary, 60_000, 'performance')
    assert.ok((await left()).length > 0)
    secondary.kill()
    await secondary.restart()
    await secondary.must('POST', 'sys/unseal', { key: share?.toString('hex') }, '')
    if (next === 'promotion') await secondary.must('POST', `${SETS}/secondary/promote`, { force: true })
    await servers.time.pass(20_000)
    assert.deepEqual(await left(), [], next)
  }
})

test('what a mount left that a former primary made behind the fork goes when it is undone', async () => {
  const { servers, primary, secondary } = await performanceServers(60)
  await servers.level(primary, secondary, 60_000, 'performance')
  await servers.time.pass(12_000)
  await primary.must('POST', 'sys/mounts/before', { type: 'transit' })
  await primary.must('POST', 'before/keys/k', { exportable: true })
  await servers.level(primary, secondary, 60_000, 'performance')
  await secondary.must('POST', `${SETS}/secondary/promote`, { force: true })
  await servers.time.pass(15_000)
  const left = await newAt(primary)
  await primary.must('POST', 'sys/mounts/late', { type: 'transit' })
  await primary.must('POST', 'late/keys/k', { exportable: true })
  await primary.must('POST', 'sys/auth/userpass', { type: 'userpass' })
  await primary.must('POST', 'auth/userpass/users/ann', { password: 'x' })
  const wrapped = async (mount: string): Promise<string> => {
    const asked = primary.server.call('GET', `${mount}/${EXPORT}`, undefined, primary.rootToken, { wrapTtl: '1h' })
    return ((await servers.time.until(asked)).body.wrap_info as { readonly token: string }).token
  }
  const [late, before] = [await wrapped('late'), await wrapped('before')]
  await loggedIn(primary)
  await primary.must('POST', `${SETS}/primary/demote`)
  const token = await servers.token(secondary, primary.name, {}, 'performance')
  await primary.must('POST', `${SETS}/secondary/update-primary`, { token })
  await servers.time.pass(20_000)
  await servers.level(secondary, primary, 60_000, 'performance')
  assert.equal((await primary.call('GET', 'late/keys/k')).status, 404)
  assert.equal(await unwrap(primary, late), 400)
  await servers.time.pass(30_000)
  assert.equal(await unwrap(primary, before), 200)
  assert.deepEqual(await left(), [])
})
