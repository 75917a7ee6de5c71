// The TypeScript client by the name of its package, against a real server. client-package.test.ts has it as others
// install it.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { ApiError, Keywright } from 'keywright/client'
import { type ServerProcess, startServerProcess } from '../../fixtures/server-process.ts'
import { fencedBlocks } from '../../pages/fenced-blocks.ts'

const PROJECT = join(import.meta.dirname, '../../..')

let server: ServerProcess
before(async () => {
  server = await startServerProcess()
})
after(() => server.stop())

test('TypeScript client: a walk from the mount to the plaintext', async () => {
  const root = new Keywright({ address: server.address, token: server.token, mounts: { transit: 'team/kms' } })
  await root.write('sys/mounts/:path...', { path: 'team/kms', type: 'transit' })
  await root.write('transit/keys/:name', { name: 'orders' })
  assert.deepEqual((await root.list('transit/keys')).keys, ['orders'])

  const policy = 'path "team/kms/encrypt/orders" { capabilities = ["update"] }'
  await root.write('sys/policies/acl/:name...', { name: 'orders', policy })
  const { client_token } = await root.write('auth/token/create', { policies: ['orders'], ttl: '10m' })
  const app = root.with({ token: client_token })

  const { ciphertext } = await app.write('transit/encrypt/:name', { name: 'orders', plaintext: 'aGVsbG8=' })
  assert.ok(ciphertext !== undefined)
  const denied = await app.write('transit/decrypt/:name', { name: 'orders', ciphertext }).catch((error) => error)
  assert.ok(denied instanceof ApiError)
  assert.equal(denied.status, 403)
  assert.ok(denied.messages.some((message) => message.includes('permission denied')))

  const { plaintext } = await root.write('transit/decrypt/:name', { name: 'orders', ciphertext })
  assert.equal(plaintext, 'aGVsbG8=')
  assert.equal(await root.find('transit/keys/:name', { name: 'none' }), undefined)
})

test('TypeScript client: a namespace below another, with a token of its own', async () => {
  const root = new Keywright({ address: server.address, token: server.token })
  await root.write('sys/namespaces/:path...', { path: 'area', custom_metadata: { owner: 'kim', floor: '3' } })
  const area = root.in('area')
  await area.write('sys/namespaces/:path...', { path: 'a' })
  const { custom_metadata } = await root.patch('sys/namespaces/:path...', {
    path: 'area',
    custom_metadata: { floor: null },
  })
  assert.deepEqual(custom_metadata, { owner: 'kim' })
  assert.deepEqual((await root.list('sys/namespaces')).keys, ['area/'])
  assert.deepEqual((await root.scan('sys/namespaces')).keys, ['area/', 'area/a/'])
  assert.deepEqual((await area.in('a').scan('sys/namespaces')).keys, [])

  const inner = area.in('a')
  await inner.write('sys/mounts/:path...', { path: 'transit', type: 'transit' })
  await inner.write('transit/keys/:name', { name: 'orders' })
  const policy = 'path "transit/encrypt/orders" { capabilities = ["update"] }'
  await inner.write('sys/policies/acl/:name...', { name: 'orders', policy })
  const { client_token } = await inner.write('auth/token/create', { policies: ['orders'], ttl: '10m' })
  const app = inner.with({ token: client_token })
  const given = { name: 'orders', plaintext: 'aGVsbG8=' }
  const { ciphertext } = await app.write('transit/encrypt/:name', given)
  assert.ok(ciphertext !== undefined)
  assert.equal((await inner.write('transit/decrypt/:name', { name: 'orders', ciphertext })).plaintext, 'aGVsbG8=')
  for (const namespace of ['area', '']) {
    const denied = await app
      .with({ namespace })
      .write('transit/encrypt/:name', given)
      .catch((error) => error)
    assert.ok(denied instanceof ApiError)
    assert.equal(denied.status, 403)
  }
  assert.equal((await app.read('sys/health')).sealed, false)
})

const EXAMPLES = [
  { name: 'typescript-client.ts', prints: 'two of them, in blue\n' },
  { name: 'typescript-login.ts', prints: 'example-kim is in for 3600 seconds\nthe machine may decrypt: false\n' },
]

test('TypeScript client: the page about it shows the examples', () => {
  const shown = fencedBlocks(readFileSync(join(PROJECT, 'docs/client.md'), 'utf8'))
  assert.deepEqual(
    shown.filter(({ language }) => language === 'ts').map(({ text }) => text),
    EXAMPLES.map(({ name }) => readFileSync(join(PROJECT, 'examples', name), 'utf8').trimEnd()),
  )
})

for (const { name, prints } of EXAMPLES) {
  test(`TypeScript client: the example ${name} runs, a second time too`, () => {
    const env = { ...process.env, VAULT_ADDR: server.address, VAULT_TOKEN: server.token }
    for (const _ of ['first', 'second']) {
      const { stdout, stderr } = spawnSync(process.execPath, [join(PROJECT, 'examples', name)], {
        env,
        encoding: 'utf8',
      })
      assert.equal(stdout, prints, stderr)
    }
  })
}

test('TypeScript client: leases, identities and logins have the types of what the server gives', async () => {
  const root = new Keywright({
    address: server.address,
    token: server.token,
    mounts: { 'auth/userpass': 'auth/people' },
  })
  await root.write('sys/auth/:path...', { path: 'people', type: 'userpass' })
  await root.write('auth/userpass/users/:username', { username: 'lee', password: 'right', token_ttl: '30m' })
  const login = await root.write('auth/userpass/login/:username', { username: 'lee', password: 'right' })
  const seconds: number = login.lease_duration
  assert.equal(seconds, 1800)

  const lee = await root.read('identity/entity/id/:id', { id: login.entity_id })
  assert.deepEqual(
    lee.aliases.map((alias) => [alias.name, alias.mount_path]),
    [['lee', 'auth/people/']],
  )
  const unknown = await root.write('identity/lookup/entity', { name: 'nobody' })
  assert.equal(unknown?.id, undefined)
  const made = await root.write('identity/entity', { name: 'ann', metadata: { team: 'blue' } })
  assert.equal(made?.name, 'ann')
  assert.equal(await root.write('identity/entity', { name: 'ann', disabled: true }), undefined)

  const prefix = 'auth/people/login/lee'
  const { keys } = await root.list('sys/leases/lookup/:prefix...', { prefix })
  const lease_id = `${prefix}/${keys[0]}`
  const { renewable, expire_time } = await root.write('sys/leases/lookup', { lease_id })
  assert.ok(renewable && expire_time !== null)
  assert.equal((await root.write('sys/leases/renew', { lease_id, increment: '10m' })).lease_duration, 600)
  await root.write('sys/leases/revoke', { lease_id, sync: true })
  const after = await root
    .with({ token: login.client_token })
    .read('auth/token/lookup-self')
    .catch((error) => error)
  assert.ok(after instanceof ApiError && after.status === 403)
})
