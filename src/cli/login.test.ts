import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { type ApiDouble, envelope, refused, startApiDouble } from '../../test/fixtures/api-double.ts'
import { type Ran, type RunOptions, runClient } from '../../test/fixtures/cli-run.ts'

let api: ApiDouble
let home = ''
beforeEach(async () => {
  api = await startApiDouble()
  home = mkdtempSync(join(tmpdir(), 'keywright-login-'))
  api.answer = () => ({ status: 200, body: envelope({ auth: AUTH }) })
})
afterEach(async () => {
  rmSync(home, { recursive: true })
  await api.close()
})

const AUTH = { client_token: 'hvs.new', accessor: 'acc', policies: ['app'], lease_duration: 60, renewable: true }

function client(argv: readonly string[], { env = {}, ...more }: RunOptions = {}): Promise<Ran> {
  return runClient(argv, { env: { VAULT_ADDR: api.address, HOME: home, USER: 'kim', ...env }, ...more })
}

const kept = (): string => readFileSync(join(home, '.vault-token'), 'utf8')
const asked = (): string[] => api.asked.map(({ method, target, body }) => `${method} ${target} ${body}`)

const METHODS: readonly { argv: string; asks: string; stdin?: string }[] = [
  { argv: '-method=userpass password=-', stdin: 'pw\n', asks: 'PUT /v1/auth/userpass/login/kim {"password":"pw"}' },
  {
    argv: '-method=userpass -path=auth/people/ username=lee password=pw',
    asks: 'PUT /v1/auth/people/login/lee {"password":"pw"}',
  },
  {
    argv: '-method=approle role_id=r secret_id=s',
    asks: 'PUT /v1/auth/approle/login {"role_id":"r","secret_id":"s"}',
  },
  {
    argv: '-method=azure role=r jwt=j vm_name=v',
    asks: 'PUT /v1/auth/azure/login {"role":"r","jwt":"j","vm_name":"v"}',
  },
]

for (const { argv, asks, stdin = '' } of METHODS) {
  test(`login: ${argv}`, async () => {
    const ran = await client(['login', ...argv.split(' ')], { stdin })
    assert.deepEqual(asked(), [asks])
    assert.equal(api.asked[0]?.headers['x-vault-token'], undefined)
    assert.deepEqual([ran.code, ran.stderr, kept()], [0, '', 'hvs.new'])
    assert.equal(statSync(join(home, '.vault-token')).mode & 0o777, 0o600)
    assert.ok(ran.stdout.startsWith('Success! You are logged in.\n\nKey '), ran.stdout)
    assert.match(ran.stdout, /^token +hvs.new$/m)
  })
}

test('login: the token that is there already is not sent', async () => {
  writeFileSync(join(home, '.vault-token'), 'hvs.old')
  const ran = await client(['login', '-method=approle', 'role_id=r', 'secret_id=s'], {
    env: { VAULT_TOKEN: 'hvs.env' },
  })
  assert.equal(api.asked[0]?.headers['x-vault-token'], undefined)
  assert.equal(kept(), 'hvs.new')
  assert.match(ran.stderr, /^VAULT_TOKEN is set and takes precedence/)
})

test('login: with a token, which is looked up with itself', async () => {
  const data = { id: 'hvs.given', accessor: 'acc', policies: ['app'], ttl: 60, renewable: true, meta: { a: 'b' } }
  api.answer = () => ({ status: 200, body: envelope({ data }) })
  for (const words of [['hvs.given'], ['token=hvs.given'], ['-']]) {
    const ran = await client(['login', '-field=token', ...words], { stdin: 'hvs.given\n' })
    assert.deepEqual([ran.code, ran.stdout, kept()], [0, 'hvs.given', 'hvs.given'])
    const last = api.asked.at(-1)
    assert.deepEqual([last?.target, last?.headers['x-vault-token']], ['/v1/auth/token/lookup-self', 'hvs.given'])
    rmSync(join(home, '.vault-token'))
  }
  const table = (await client(['login', '-no-store', 'hvs.given'])).stdout
  assert.match(table, /^token_duration +1m$/m)
  assert.match(table, /^token_meta_a +b$/m)
})

test('login: what is not to be kept or printed is not', async () => {
  const words = ['login', '-method=approle', 'role_id=r', 'secret_id=s']
  const silent = await client([...words, '-no-print'])
  assert.deepEqual([silent.code, silent.stdout, kept()], [0, '', 'hvs.new'])
  rmSync(join(home, '.vault-token'))
  const only = await client([...words, '-token-only'])
  assert.deepEqual([only.code, only.stdout], [0, 'hvs.new'])
  assert.throws(kept)
  await client([...words, '-no-store'])
  assert.throws(kept)
})

test('login: a wrapped answer is opened to be kept, and shown where it is not', async () => {
  const wrap_info = { token: 'hvs.w', accessor: 'a', ttl: 60, creation_time: 'T', creation_path: 'p' }
  api.answer = ({ target }) => ({
    status: 200,
    body: target.endsWith('/unwrap') ? envelope({ auth: AUTH }) : envelope({ wrap_info }),
  })
  const words = ['login', '-method=approle', '-wrap-ttl=60', 'role_id=r', 'secret_id=s']
  await client([...words, '-no-print'])
  assert.equal(kept(), 'hvs.new')
  const [first, second] = api.asked
  assert.equal(first?.headers['x-vault-wrap-ttl'], '60')
  const unwrapping = ['/v1/sys/wrapping/unwrap', 'null', 'hvs.w', undefined]
  const seen = [second?.target, second?.body, second?.headers['x-vault-token'], second?.headers['x-vault-wrap-ttl']]
  assert.deepEqual(seen, unwrapping)
  assert.match((await client([...words, '-no-store'])).stdout, /^wrapping_token +hvs.w$/m)
})

for (const { argv, says } of [
  { argv: ['-method=nothing'], says: /-method must be token or userpass/ },
  { argv: ['-method=userpass', 'username=a/b', 'password=x'], says: /username=NAME is missing/ },
  { argv: ['-method=userpass'], says: /The Password is empty: hand it in on standard input/ },
  { argv: ['hvs.a', 'hvs.b'], says: /there is one argument, the token/ },
  { argv: ['token='], says: /The token is empty/ },
]) {
  test(`login: ${argv.join(' ')} is refused here`, async () => {
    const ran = await client(['login', ...argv])
    assert.equal(ran.code, 1)
    assert.match(ran.stderr, says)
    assert.deepEqual(api.asked, [])
  })
}

test('login: a refusal keeps the old token', async () => {
  writeFileSync(join(home, '.vault-token'), 'hvs.old')
  api.answer = () => refused(400, 'invalid username or password')
  const ran = await client(['login', '-method=userpass', 'password=x'])
  assert.equal(ran.code, 2)
  assert.match(ran.stderr, /^Error logging in with userpass: the server refused/)
  assert.equal(kept(), 'hvs.old')
})

test('print token: from the environment, the file, or nowhere', async () => {
  assert.deepEqual((await client(['print', 'token'])).code, 1)
  writeFileSync(join(home, '.vault-token'), 'hvs.file\n')
  assert.equal((await client(['print', 'token'])).stdout, 'hvs.file\n')
  assert.equal((await client(['print', 'token'], { env: { VAULT_TOKEN: 'hvs.env' } })).stdout, 'hvs.env\n')
})

test('unwrap: with the token of the argument, or the caller’s own', async () => {
  api.answer = () => ({ status: 200, body: envelope({ data: { secret_id: 's' } }) })
  const env = { VAULT_TOKEN: 'hvs.own', VAULT_WRAP_TTL: '60' }
  assert.equal((await client(['unwrap', '-field=secret_id', 'hvs.w'], { env })).stdout, 's')
  assert.equal((await client(['unwrap', '-field=secret_id'], { env })).stdout, 's')
  const seen = api.asked.map(({ method, target, body, headers }) => [method, target, body, headers['x-vault-token']])
  assert.deepEqual(seen, [
    ['PUT', '/v1/sys/wrapping/unwrap', 'null', 'hvs.w'],
    ['PUT', '/v1/sys/wrapping/unwrap', 'null', 'hvs.own'],
  ])
  assert.equal(api.asked[0]?.headers['x-vault-wrap-ttl'], undefined)
  api.answer = () => ({ status: 204 })
  assert.equal((await client(['unwrap', 'hvs.w'])).stdout, 'Success! The wrapped answer is empty\n')
})
