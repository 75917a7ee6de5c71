import { strict as assert } from 'node:assert'
import { before, test } from 'node:test'
import { type Called, type MemoryServer, startMemoryServer } from '../../../test/fixtures/memory-server.ts'

let server: MemoryServer
before(async () => {
  server = await startMemoryServer()
  await server.call('POST', 'sys/auth/approle', { type: 'approle' })
})

const role = (name: string, body: object = {}) => server.call('POST', `auth/approle/role/${name}`, body)
const at = (name: string, rest: string) => `auth/approle/role/${name}/${rest}`
const roleIdOf = async (name: string) => String((await server.call('GET', at(name, 'role-id'))).body.data?.role_id)
const newSecret = async (name: string, body: object = {}) =>
  (await server.call('POST', at(name, 'secret-id'), body)).body.data as Record<string, string | number>
const logIn = (role_id: string, secret_id?: unknown) =>
  server.call('POST', 'auth/approle/login', { role_id, secret_id }, '')
const authOf = ({ body }: Called) => body.auth as Record<string, unknown>

test('a machine logs in with both ids', async () => {
  await role('web', { token_policies: 'a, b', token_ttl: '20m' })
  const { secret_id } = await newSecret('web', { metadata: '{"host": "w1"}' })
  const auth = authOf(await logIn(await roleIdOf('WEB'), secret_id))
  assert.deepEqual(
    [auth.policies, auth.metadata, auth.lease_duration],
    [['a', 'b', 'default'], { host: 'w1', role_name: 'web' }, 1200],
  )
})

test('C7: a role whose logins may come from anywhere says so with null', async () => {
  await role('anywhere')
  const read = async () => {
    const whole = (await server.call('GET', 'auth/approle/role/anywhere')).body.data
    const one = (await server.call('GET', at('anywhere', 'secret-id-bound-cidrs'))).body.data
    assert.deepEqual(one, { secret_id_bound_cidrs: whole?.secret_id_bound_cidrs })
    return [whole?.secret_id_bound_cidrs, whole?.token_bound_cidrs]
  }
  assert.deepEqual(await read(), [null, []])
  await role('anywhere', { secret_id_bound_cidrs: '10.0.0.0/8' })
  assert.deepEqual(await read(), [['10.0.0.0/8'], []])
  await server.call('DELETE', at('anywhere', 'secret-id-bound-cidrs'))
  assert.deepEqual(await read(), [null, []])
  // What was read can be written again.
  assert.equal((await role('anywhere', { secret_id_bound_cidrs: null })).status, 204)
  assert.deepEqual(await read(), [null, []])
})

test('C2: a wrapped secret id, one of one’s own too, is named by its accessor, through rewraps', async () => {
  await role('kept')
  const post = (path: string, body: object = {}, wrapTtl?: string) =>
    server.call('POST', path, body, 'root', wrapTtl === undefined ? {} : { wrapTtl })
  const infoOf = ({ body }: Called) => body.wrap_info as Readonly<Record<string, unknown>>
  for (const [last, body] of [
    ['secret-id', {}],
    ['custom-secret-id', { secret_id: 'a secret id of our own' }],
  ] as const) {
    const first = infoOf(await post(at('kept', last), body, '60'))
    const named = first.wrapped_accessor
    assert.equal(typeof named, 'string')
    const shown = await post('sys/wrapping/lookup', { token: first.token })
    assert.deepEqual(Object.keys(shown.body.data ?? {}).sort(), ['creation_path', 'creation_time', 'creation_ttl'])
    const second = infoOf(await post('sys/wrapping/rewrap', { token: first.token }))
    const third = infoOf(await post('sys/wrapping/unwrap', { token: second.token }, '60'))
    assert.deepEqual([second.wrapped_accessor, third.wrapped_accessor], [named, named])
    const { data } = (await post('sys/wrapping/unwrap', { token: third.token })).body
    assert.equal(data?.secret_id_accessor, named)
    assert.equal('wrapped_accessor' in (data ?? {}), false)
    // In clear nothing is said beside it, and what has no accessor is not named.
    const clear = await post(at('kept', 'secret-id'))
    assert.deepEqual(Object.keys(clear.body.data ?? {}).length, 4)
  }
  const other = infoOf(await server.call('GET', at('kept', 'role-id'), undefined, 'root', { wrapTtl: '60' }))
  assert.equal('wrapped_accessor' in other, false)
})

test('a secret id of one’s own has at least as many characters as its role says, by default 8', async () => {
  await role('ours')
  const roleId = await roleIdOf('ours')
  const bring = (secret_id: string) => server.call('POST', at('ours', 'custom-secret-id'), { secret_id })
  const read = async () => (await server.call('GET', 'auth/approle/role/ours')).body.data?.custom_secret_id_min_length
  assert.equal(await read(), 8)
  for (const short of ['1', '1234567', '\u{1f600}'.repeat(7)]) {
    const { status, body } = await bring(short)
    assert.equal(status, 400, short)
    assert.match(String(body.errors), /"secret_id".*at least 8 characters.*custom_secret_id_min_length/)
  }
  assert.equal((await bring('12345678')).status, 200)
  assert.equal((await logIn(roleId, '12345678')).status, 200)
  await role('ours', { custom_secret_id_min_length: 24 })
  assert.equal(await read(), 24)
  assert.equal((await bring('x'.repeat(23))).status, 400)
  assert.equal((await bring('x'.repeat(24))).status, 200)
  // One that was taken before goes on, and another change of the role leaves the length as it is.
  assert.equal((await logIn(roleId, '12345678')).status, 200)
  await role('ours', { token_ttl: 60, custom_secret_id_min_length: 1 })
  assert.equal((await bring('1')).status, 200)
  await role('ours', { token_ttl: 61 })
  assert.equal(await read(), 1)
  for (const wrong of [0, -1, 4_097]) {
    const { status, body } = await role('ours', { custom_secret_id_min_length: wrong })
    assert.equal(status, 400)
    assert.match(String(body.errors), /custom_secret_id_min_length/)
  }
})

test('M-01: all that can be wrong is told in one sentence', async () => {
  await role('shut')
  await role('elsewhere', { secret_id_bound_cidrs: ['10.0.0.0/8'] })
  const mine = await newSecret('shut')
  const others = await newSecret('elsewhere')
  const answers = [
    await logIn('no-such-role', mine.secret_id),
    await logIn(await roleIdOf('shut'), 'no-such-secret'),
    await logIn(await roleIdOf('shut'), others.secret_id),
    await logIn(await roleIdOf('elsewhere'), others.secret_id),
  ]
  for (const { status, body } of answers) assert.deepEqual([status, body.errors], [400, ['invalid role or secret ID']])
})

test('a secret id is good for so many logins, however many come at once', async () => {
  await role('few', { secret_id_num_uses: 5 })
  const [roleId, { secret_id }] = [await roleIdOf('few'), await newSecret('few', { num_uses: 3 })]
  const answers = await Promise.all(Array.from({ length: 12 }, () => logIn(roleId, secret_id)))
  assert.equal(answers.filter(({ status }) => status === 200).length, 3)
  assert.equal((await server.call('LIST', at('few', 'secret-id'))).status, 404)
})

test('a secret id ends with its time, and is tidied away', async () => {
  await role('brief', { secret_id_ttl: '60s' })
  const { secret_id, secret_id_ttl } = await newSecret('brief', { ttl: '1h' })
  assert.equal(secret_id_ttl, 60)
  const roleId = await roleIdOf('brief')
  server.advance(59)
  assert.equal((await logIn(roleId, secret_id)).status, 200)
  server.advance(1)
  assert.equal((await logIn(roleId, secret_id)).status, 400)
  const stored = async () =>
    (await server.store.scan('', '', 10_000)).filter(({ key }) => key.includes('/secret/brief/'))
  assert.equal((await stored()).length, 1)
  assert.equal((await server.call('POST', 'auth/approle/tidy/secret-id')).status, 202)
  assert.equal((await stored()).length, 0)
})

test('P-43: the longest life that a secret id can have is shown as a date', async () => {
  await role('long')
  for (const ttl of [Number.MAX_SAFE_INTEGER, 9_223_372_037])
    assert.equal((await server.call('POST', at('long', 'secret-id'), { ttl })).status, 400)
  const { secret_id } = await newSecret('long', { ttl: 9_223_372_036 })
  const { status, body } = await server.call('POST', at('long', 'secret-id/lookup'), { secret_id })
  assert.equal(status, 200)
  assert.match(String(body.data?.expiration_time), /^23\d\d-/)
})

test('secret ids are found and destroyed by themselves and by their accessors', async () => {
  await role('keeper')
  const roleId = await roleIdOf('keeper')
  const [one, two] = [await newSecret('keeper'), await newSecret('keeper')]
  const look = (by: object, where: string) => server.call('POST', at('keeper', where), by)
  const found = await look({ secret_id: one.secret_id }, 'secret-id/lookup')
  assert.equal(found.body.data?.secret_id_accessor, one.secret_id_accessor)
  const accessor = { secret_id_accessor: two.secret_id_accessor }
  assert.equal((await look(accessor, 'secret-id-accessor/lookup')).status, 200)
  await look({ secret_id: one.secret_id }, 'secret-id/destroy')
  await look(accessor, 'secret-id-accessor/destroy')
  for (const { secret_id } of [one, two]) assert.equal((await logIn(roleId, secret_id)).status, 400)
  assert.equal((await look({ secret_id: one.secret_id }, 'secret-id/lookup')).status, 204)
  assert.equal((await look(accessor, 'secret-id-accessor/lookup')).status, 404)
})

test('a role made anew under its old name knows none of the old secret ids', async () => {
  await role('again', { role_id: 'fixed' })
  const { secret_id } = await newSecret('again')
  await server.call('DELETE', 'auth/approle/role/again')
  assert.equal((await logIn('fixed', secret_id)).status, 400)
  await role('again', { role_id: 'fixed' })
  assert.equal((await logIn('fixed', secret_id)).status, 400)
})

test('without a secret id a role must be bound to addresses', async () => {
  assert.equal((await role('open', { bind_secret_id: false })).status, 400)
  assert.equal((await role('open', { bind_secret_id: false, token_bound_cidrs: ['127.0.0.0/8'] })).status, 204)
  assert.equal((await logIn(await roleIdOf('open'))).status, 200)
})

test('one field of a role is read, set and set back', async () => {
  await role('fields')
  await server.call('POST', at('fields', 'policies'), { token_policies: ['p'] })
  assert.deepEqual((await server.call('GET', at('fields', 'policies'))).body.data, { token_policies: ['p'] })
  await server.call('DELETE', at('fields', 'policies'))
  assert.deepEqual((await server.call('GET', at('fields', 'policies'))).body.data, { token_policies: [] })
  assert.equal((await server.call('POST', at('fields', 'token-ttl'), {})).status, 400)
  assert.equal((await server.call('GET', at('none', 'token-ttl'))).status, 404)
})

test('what was written by an old name is read back by it, until the new name is used', async () => {
  await role('older', { policies: 'a', period: '1h', bound_cidr_list: '10.0.0.0/8' })
  const read = async () => (await server.call('GET', 'auth/approle/role/older')).body.data
  const made = await read()
  assert.deepEqual([made?.policies, made?.period, made?.token_period, made?.ttl], [['a'], 3600, 3600, undefined])
  assert.deepEqual(made?.secret_id_bound_cidrs, ['10.0.0.0/8'])
  await role('older', { token_period: 60 })
  const changed = await read()
  assert.deepEqual([changed?.policies, changed?.period, changed?.token_period], [['a'], undefined, 60])
})

test('two roles never have one role id', async () => {
  await role('first', { role_id: 'mine' })
  assert.equal((await role('second', { role_id: 'mine' })).status, 400)
  assert.equal((await server.call('GET', 'auth/approle/role/second')).status, 404)
})

test('a token lives on where the role is gone, but is not renewed', async () => {
  await role('leaving', { token_ttl: '10m' })
  const { secret_id } = await newSecret('leaving')
  const token = String(authOf(await logIn(await roleIdOf('leaving'), secret_id)).client_token)
  assert.equal((await server.call('POST', 'auth/token/renew-self', {}, token)).status, 200)
  await server.call('DELETE', 'auth/approle/role/leaving')
  assert.equal((await server.call('GET', 'auth/token/lookup-self', undefined, token)).status, 200)
  assert.equal((await server.call('POST', 'auth/token/renew-self', {}, token)).status, 400)
})

test('no secret id is in storage', async () => {
  await role('hidden')
  const { secret_id, secret_id_accessor } = await newSecret('hidden')
  for (const { key, value } of await server.store.scan('', '', 10_000)) {
    const text = `${key}${value.toString('latin1')}`
    assert.ok(!text.includes(String(secret_id)) && !text.includes(String(secret_id_accessor)))
  }
})

test('a secret id narrows the addresses of its role, and never widens them', async () => {
  await role('bound', { token_bound_cidrs: ['127.0.0.0/8'], secret_id_bound_cidrs: ['127.0.0.0/8'] })
  for (const field of ['token_bound_cidrs', 'cidr_list']) {
    for (const block of ['0.0.0.0/0', '126.0.0.0/7', '::/0', '10.1.2.3']) {
      const { status, body } = await server.call('POST', at('bound', 'secret-id'), { [field]: ['127.0.0.1', block] })
      assert.equal(status, 400, block)
      assert.match(JSON.stringify(body.errors), new RegExp(field))
    }
  }
  const { secret_id } = await newSecret('bound', { token_bound_cidrs: '127.0.0.1', cidr_list: '127.0.0.0/16' })
  const boundCidrs = async () => {
    const token = String(authOf(await logIn(await roleIdOf('bound'), secret_id)).client_token)
    return (await server.call('POST', 'auth/token/lookup', { token })).body.data?.bound_cidrs
  }
  assert.deepEqual(await boundCidrs(), ['127.0.0.1'])
  await role('bound', { token_bound_cidrs: ['127.0.0.0/30', '10.0.0.0/8'] })
  assert.deepEqual(await boundCidrs(), ['127.0.0.1'])
})

test('a role that is narrowed later narrows the tokens of its secret ids, or ends them', async () => {
  await role('narrowed', { token_bound_cidrs: ['127.0.0.0/8'] })
  const roleId = await roleIdOf('narrowed')
  const wide = await newSecret('narrowed', { token_bound_cidrs: '127.0.0.0/30' })
  const apart = await newSecret('narrowed', { token_bound_cidrs: '127.0.0.2' })
  const boundCidrs = async (secret: unknown) => {
    const token = String(authOf(await logIn(roleId, secret)).client_token)
    return (await server.call('POST', 'auth/token/lookup', { token })).body.data?.bound_cidrs
  }
  assert.deepEqual(await boundCidrs(wide.secret_id), ['127.0.0.0/30'])
  // Its token would be of no use from here: that is another refusal than the one below.
  assert.equal((await logIn(roleId, apart.secret_id)).status, 403)
  await role('narrowed', { token_bound_cidrs: ['127.0.0.1'] })
  assert.deepEqual(await boundCidrs(wide.secret_id), ['127.0.0.1'])
  // The role lets the address in: it is the two together that leave nothing, and this is no 403.
  const { status, body } = await logIn(roleId, apart.secret_id)
  assert.deepEqual([status, body.errors], [400, ['invalid role or secret ID']])
})

test('a secret id is refused from outside its own addresses, and no use of it is spent', async () => {
  await role('listed')
  const roleId = await roleIdOf('listed')
  const [far, near] = [
    await newSecret('listed', { cidr_list: '127.0.0.2', num_uses: 1 }),
    await newSecret('listed', { cidr_list: '127.0.0.1', num_uses: 1 }),
  ]
  const { status, body } = await logIn(roleId, far.secret_id)
  assert.deepEqual([status, body.errors], [400, ['invalid role or secret ID']])
  const left = await server.call('POST', at('listed', 'secret-id/lookup'), { secret_id: far.secret_id })
  assert.equal(left.body.data?.secret_id_num_uses, 1)
  assert.equal((await logIn(roleId, near.secret_id)).status, 200)
})

test('a login from an address that its secret id does not allow is refused, and spends no use of it', async () => {
  await role('narrow')
  const roleId = await roleIdOf('narrow')
  const far = await newSecret('narrow', { cidr_list: '10.0.0.0/8', num_uses: 1 })
  const refused = await logIn(roleId, far.secret_id)
  assert.deepEqual([refused.status, refused.body.errors], [400, ['invalid role or secret ID']])
  const left = await server.call('POST', at('narrow', 'secret-id/lookup'), { secret_id: far.secret_id })
  assert.deepEqual([left.body.data?.cidr_list, left.body.data?.secret_id_num_uses], [['10.0.0.0/8'], 1])
  const near = await newSecret('narrow', { cidr_list: ['10.0.0.0/8', '127.0.0.0/8'], num_uses: 1 })
  assert.equal((await logIn(roleId, near.secret_id)).status, 200)
})

test('a role that is narrowed after its secret id was made narrows the token', async () => {
  await role('later', { token_bound_cidrs: ['127.0.0.0/8', '10.0.0.0/8'] })
  const roleId = await roleIdOf('later')
  const wide = await newSecret('later', { token_bound_cidrs: ['127.0.0.0/8', '10.0.0.0/8'] })
  const boundCidrs = async () => {
    const token = String(authOf(await logIn(roleId, wide.secret_id)).client_token)
    return (await server.call('POST', 'auth/token/lookup', { token })).body.data?.bound_cidrs
  }
  assert.deepEqual(await boundCidrs(), ['127.0.0.0/8', '10.0.0.0/8'])
  await role('later', { token_bound_cidrs: ['127.0.0.0/24'] })
  assert.deepEqual(await boundCidrs(), ['127.0.0.0/24'])
  // Bound at first to nothing, then to something.
  await role('later', { token_bound_cidrs: [] })
  assert.deepEqual(await boundCidrs(), ['127.0.0.0/8', '10.0.0.0/8'])
})

test('from an address that the role does not allow nothing is told of a secret id, spent, or locked', async () => {
  await role('far', { token_bound_cidrs: ['10.0.0.0/8'] })
  const { secret_id } = await newSecret('far', { num_uses: 1 })
  const roleId = await roleIdOf('far')
  for (let i = 0; i < 6; i++) {
    for (const secret of [secret_id, 'no']) {
      const { status, body } = await logIn(roleId, secret)
      assert.deepEqual([status, body.errors], [403, ['permission denied']])
    }
  }
  await role('far', { token_bound_cidrs: ['127.0.0.0/8'] })
  assert.equal((await logIn(roleId, secret_id)).status, 200)
})

test('T-18: secret ids that an interrupted removal left do not open a new role of the name', async () => {
  await role('again')
  const { secret_id } = await newSecret('again')
  const stored = async () =>
    (await server.store.scan('', '', 10_000)).filter(({ key }) => /[/](secret|accessor)[/]again[/]/.test(key))
  // As a power cut leaves it: the role is gone, its secret ids are not.
  const { uuid } = (await server.call('GET', 'sys/auth/approle')).body.data as { uuid: string }
  const scope = { namespace: 'root', mount: uuid, local: false }
  const view = server.node.storage.view(scope, `root/auth/${uuid}/`)
  await view.transaction(async (tx) => tx.delete('role/again'))
  assert.equal((await stored()).length, 2)
  await role('again')
  assert.deepEqual(await stored(), [])
  assert.equal((await logIn(await roleIdOf('again'), secret_id)).status, 400)
})

test('A-07: the accessor of a secret id that is over names no later one of the same text', async () => {
  await role('again')
  const make = async (ttl: string) => {
    const made = await server.call('POST', at('again', 'custom-secret-id'), { secret_id: 'the same text', ttl })
    return String(made.body.data?.secret_id_accessor)
  }
  const old = await make('1m')
  server.advance(61)
  const accessor = await make('1h')
  const by = (act: string, secret_id_accessor: string) =>
    server.call('POST', at('again', `secret-id-accessor/${act}`), { secret_id_accessor })
  assert.equal((await by('lookup', old)).status, 404)
  await by('destroy', old)
  assert.equal((await logIn(await roleIdOf('again'), 'the same text')).status, 200)
  assert.equal((await by('lookup', accessor)).body.data?.secret_id_accessor, accessor)
  await by('destroy', accessor)
  assert.equal((await logIn(await roleIdOf('again'), 'the same text')).status, 400)
})
