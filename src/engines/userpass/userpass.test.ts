import { strict as assert } from 'node:assert'
import { before, test } from 'node:test'
import { type Called, type MemoryServer, startMemoryServer } from '../../../test/fixtures/memory-server.ts'

let server: MemoryServer
before(async () => {
  server = await startMemoryServer()
  await server.call('POST', 'sys/auth/people', { type: 'userpass' })
  await server.call('POST', 'sys/policies/acl/reader', { policy: 'path "sys/mounts" { capabilities = ["read"] }' })
})

const user = (name: string, body: object) => server.call('POST', `auth/people/users/${name}`, body)
const logIn = (name: string, password: string) => server.call('POST', `auth/people/login/${name}`, { password }, '')
const authOf = ({ body }: Called) => body.auth as Record<string, unknown>
const tokenOf = (answer: Called): string => String(authOf(answer).client_token)

test('a user logs in and does what the policies allow', async () => {
  await user('Ann', { password: 'secret', token_policies: ['reader'], token_ttl: '10m' })
  const answer = await logIn('ann', 'secret')
  const auth = authOf(answer)
  assert.deepEqual(
    [auth.policies, auth.metadata, auth.lease_duration, auth.orphan],
    [['default', 'reader'], { username: 'ann' }, 600, true],
  )
  assert.equal((await server.call('GET', 'sys/mounts', undefined, tokenOf(answer))).status, 200)
  assert.equal((await server.call('GET', 'sys/policies/acl/reader', undefined, tokenOf(answer))).status, 403)
})

test('M-01, T-10: a wrong name and a wrong password are told apart by nobody', async () => {
  await user('known', { password: 'secret' })
  const [wrong, unknown] = [await logIn('known', 'no'), await logIn('nobody', 'no')]
  assert.deepEqual([wrong.status, wrong.body], [unknown.status, unknown.body])
  assert.equal(wrong.status, 400)
})

test('I-05: guessing locks the name, known or not, and nothing else', async () => {
  await user('target', { password: 'secret' })
  await user('other', { password: 'secret' })
  for (const name of ['target', 'ghost']) {
    for (let i = 0; i < 5; i++) assert.equal((await logIn(name, `guess ${i}`)).status, 400)
    assert.equal((await logIn(name, 'secret')).status, 403)
  }
  assert.equal((await logIn('other', 'secret')).status, 200)
  server.advance(900)
  assert.equal((await logIn('target', 'secret')).status, 200)
})

test('who is locked is told by mount, and can be unlocked before the time', async () => {
  await server.call('POST', 'sys/auth/watched', { type: 'userpass' })
  await server.call('POST', 'sys/auth/watched/tune', { user_lockout_config: { lockout_threshold: 1 } })
  await server.call('POST', 'auth/watched/users/Lou', { password: 'secret' })
  const mounts = (await server.call('GET', 'sys/auth')).body.data as Record<string, { accessor: string }>
  const accessor = String(mounts['watched/']?.accessor)
  const guess = (name: string, password = 'no') => server.call('POST', `auth/watched/login/${name}`, { password }, '')
  const locked = async () => (await server.call('GET', `sys/locked-users?mount_accessor=${accessor}`)).body.data
  assert.deepEqual(await locked(), { by_namespace: [], total: 0 })
  for (const name of ['lou', 'nobody']) await guess(name)
  const mount = { mount_accessor: accessor, counts: 2, alias_identifiers: ['lou', 'nobody'] }
  const counted = { namespace_id: 'root', namespace_path: '', counts: 2, mount_accessors: [mount] }
  assert.deepEqual(await locked(), { by_namespace: [counted], total: 2 })
  assert.equal((await guess('lou', 'secret')).status, 403)
  const unlock = (name: string) => server.call('POST', `sys/locked-users/${accessor}/unlock/${name}`)
  assert.deepEqual([(await unlock('LOU')).status, (await unlock('unheard-of')).status], [204, 204])
  assert.equal((await guess('lou', 'secret')).status, 200)
  const all = (await server.call('GET', 'sys/locked-users')).body.data as { total: number }
  assert.ok(all.total >= 1)
  for (const [method, path] of [
    ['POST', 'sys/locked-users/auth_token_0/unlock/lou'],
    ['GET', 'sys/locked-users?mount_accessor=none'],
  ] as const)
    assert.equal((await server.call(method, path)).status, 400)
})

test('a mount can be told to lock nobody, or sooner', async () => {
  await server.call('POST', 'sys/auth/strict', { type: 'userpass' })
  await server.call('POST', 'sys/auth/strict/tune', { user_lockout_config: { lockout_threshold: 2 } })
  const guess = () => server.call('POST', 'auth/strict/login/x', { password: 'no' }, '')
  assert.deepEqual([(await guess()).status, (await guess()).status, (await guess()).status], [400, 400, 403])
  await server.call('POST', 'sys/auth/strict/tune', { user_lockout_config: { lockout_disable: true } })
  assert.equal((await guess()).status, 400)
})

test('A7: a lockout that was switched off comes back when it is switched on again', async () => {
  const guess = (mount: string) => server.call('POST', `auth/${mount}/login/x`, { password: 'no' }, '')
  const guesses = async (mount: string, count: number) => {
    const statuses: number[] = []
    for (let i = 0; i < count; i++) statuses.push((await guess(mount)).status)
    return statuses
  }
  const tune = (mount: string, user_lockout_config: object) =>
    server.call('POST', `sys/auth/${mount}/tune`, { user_lockout_config })
  const shown = async (mount: string) => {
    const { data } = (await server.call('GET', `sys/auth/${mount}/tune`)).body
    return data?.user_lockout_config as { lockout_threshold: number; lockout_disable: boolean }
  }
  // Made so; and made with other settings, and tuned.
  await server.call('POST', 'sys/auth/open', {
    type: 'userpass',
    config: { user_lockout_config: { lockout_disable: true } },
  })
  await server.call('POST', 'sys/auth/shut', {
    type: 'userpass',
    config: { user_lockout_config: { lockout_threshold: 2 } },
  })
  await tune('shut', { lockout_disable: true })
  for (const [mount, threshold] of [
    ['open', 5],
    ['shut', 2],
  ] as const) {
    assert.deepEqual(await guesses(mount, 6), [400, 400, 400, 400, 400, 400])
    // Another setting leaves it off.
    await tune(mount, { lockout_duration: '10m' })
    assert.equal((await shown(mount)).lockout_disable, true)
    assert.equal((await guess(mount)).status, 400)
    assert.equal((await tune(mount, { lockout_disable: false })).status, 204)
    const { lockout_disable, lockout_threshold } = await shown(mount)
    assert.deepEqual([lockout_disable, lockout_threshold], [false, threshold])
    assert.deepEqual(await guesses(mount, threshold + 1), [...Array<number>(threshold).fill(400), 403])
  }
})

test('A7: a lockout that was switched off by its threshold comes back with the default one', async () => {
  await server.call('POST', 'sys/auth/zero', { type: 'userpass' })
  const tune = (user_lockout_config: object) => server.call('POST', 'sys/auth/zero/tune', { user_lockout_config })
  const threshold = async () => {
    const { data } = (await server.call('GET', 'sys/auth/zero/tune')).body
    const config = data?.user_lockout_config as { lockout_threshold: number; lockout_disable: boolean }
    return [config.lockout_disable, config.lockout_threshold]
  }
  await tune({ lockout_threshold: 0 })
  assert.deepEqual(await threshold(), [true, 0])
  await tune({ lockout_disable: false })
  assert.deepEqual(await threshold(), [false, 5])
  await tune({ lockout_disable: true, lockout_threshold: 7 })
  assert.deepEqual(await threshold(), [true, 7])
  await tune({ lockout_threshold: 3 })
  assert.deepEqual(await threshold(), [false, 3])
  const refused = await tune({ lockout_disable: false, lockout_threshold: 0 })
  assert.equal(refused.status, 400)
  assert.match(String(refused.body.errors), /lockout_threshold.*above 0/)
})

test('a login never gives all rights', async () => {
  await user('boss', { password: 'secret', token_policies: ['root'] })
  assert.equal((await logIn('boss', 'secret')).status, 400)
})

test('A-11: logins and their tokens come from where they are bound to', async () => {
  await user('bound', { password: 'secret', token_bound_cidrs: '10.0.0.0/8' })
  // Neither the password nor how often it was tried plays a part from elsewhere.
  for (const password of ['secret', 'no', 'no', 'no', 'no', 'no', 'no'])
    assert.equal((await logIn('bound', password)).status, 403)
  await user('bound', { token_bound_cidrs: ['127.0.0.1/32', '10.0.0.0/8'] })
  const token = tokenOf(await logIn('bound', 'secret'))
  const { data } = (await server.call('GET', 'auth/token/lookup-self', undefined, token)).body
  assert.deepEqual(data?.bound_cidrs, ['127.0.0.1', '10.0.0.0/8'])
})

test('T-23: renewal gives what the user may have now, nothing once policies changed or the user is gone', async () => {
  await user('eve', { password: 'secret', token_ttl: 600, token_max_ttl: 3600 })
  const token = tokenOf(await logIn('eve', 'secret'))
  const renew = () => server.call('POST', 'auth/token/renew-self', {}, token)
  assert.equal(authOf(await renew()).lease_duration, 600)
  await user('eve', { token_ttl: 300 })
  assert.equal(authOf(await renew()).lease_duration, 300)
  await user('eve', { token_policies: ['reader'] })
  assert.equal((await renew()).status, 400)
  await user('eve', { token_policies: [] })
  assert.equal((await renew()).status, 200)
  server.advance(280)
  await server.call('DELETE', 'auth/people/users/eve')
  assert.equal((await renew()).status, 400)
})

test('what cannot be is refused by name', async () => {
  for (const [body, wanted] of [
    [{ password: 'x', token_type: 'strange' }, /token_type/],
    [{ password: 'x', token_type: 'batch', token_num_uses: 2 }, /limited use/],
    [{ password: 'x', token_ttl: 60, token_max_ttl: 30 }, /token_ttl/],
    [{ password: 'x', token_bound_cidrs: ['everywhere'] }, /token_bound_cidrs/],
    [{ password_hash: '$2a$10$x' }, /password_hash/],
    [{}, /must provide either password/],
  ] as const) {
    const { status, body: answer } = await user('wrong', body)
    assert.equal(status, 400)
    assert.match(JSON.stringify(answer.errors), wanted)
  }
  assert.equal((await server.call('GET', 'auth/people/users/wrong')).status, 404)
})

test('old names of fields count, and are read back', async () => {
  await user('old', { password: 'x', policies: 'a,b', ttl: '1h' })
  const { data } = (await server.call('GET', 'auth/people/users/old')).body
  assert.deepEqual(
    [data?.token_policies, data?.policies, data?.token_ttl, data?.ttl, data?.max_ttl],
    [['a', 'b'], ['a', 'b'], 3600, 3600, undefined],
  )
  await user('old', { token_ttl: 60 })
  const changed = (await server.call('GET', 'auth/people/users/old')).body.data
  assert.deepEqual([changed?.token_ttl, changed?.ttl, changed?.policies], [60, undefined, ['a', 'b']])
})

test('the password is nowhere in storage', async () => {
  await user('quiet', { password: 'a-password-to-look-for' })
  for (const { key, value } of await server.store.scan('', '', 10_000))
    assert.ok(!`${key}${value.toString('latin1')}`.includes('a-password-to-look-for'))
})

test('I-01: the name of a policy is held as it was meant, and no character turns into another one', async () => {
  await user('meant', { password: 'secret', token_policies: [' Reader ', 'AUDIT'] })
  const read = async () => (await server.call('GET', 'auth/people/users/meant')).body.data?.token_policies
  assert.deepEqual(await read(), ['audit', 'reader'])
  for (const name of ['\u00a0root', '\ufeffroot', 'ban\u212a', 'a\u0000'])
    assert.equal((await user('meant', { token_policies: [name] })).status, 400, JSON.stringify(name))
  assert.deepEqual(await read(), ['audit', 'reader'])
})
