// The client node-vault-client for Node.js, unmodified, against a real server: three verbs, and a token that it logs in
// for and keeps alive.
import { strict as assert } from 'node:assert'
import { EventEmitter, once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { after, before } from 'node:test'
import { api, temporaryDirectory } from '../../fixtures/server-process.ts'
import { ClientRun } from './client-run.ts'
import { type OpenServer, openServer } from './new-server.ts'

const VaultClient = createRequire(import.meta.url)('node-vault-client')
/** Headers of its own requests. */
const INTERNAL = ['getHeaders']
const OFFERED = [VaultClient, VaultClient.prototype].flatMap((holder) =>
  Object.getOwnPropertyNames(holder).filter((name) => {
    return typeof holder[name] === 'function' && !/^__|^constructor$/.test(name) && !INTERNAL.includes(name)
  }),
)

const run = new ClientRun({ name: 'node-vault-client', language: 'JavaScript', offered: OFFERED })
const watched = run.watch(VaultClient)
const directory = temporaryDirectory()

let server: OpenServer
before(async () => {
  server = await openServer()
  await setUp('sys/mounts/transit', { type: 'transit' })
  const policy = 'path "transit/*" { capabilities = ["create", "read", "update", "list"] }'
  await setUp('sys/policies/acl/transit', { policy })
  await setUp('sys/auth/approle', { type: 'approle' })
})
after(async () => {
  await server.end()
  directory.cleanUp()
})

/** What the client has no call for; the answer's `data`. */
async function setUp(path: string, body: object): Promise<Record<string, unknown>> {
  const { status, body: answer } = await api(server, 'POST', path, body)
  assert.ok(status < 300, path)
  return answer.data ?? {}
}

/** A client under a name, whose log is told as events. */
function boot(name: string, auth: object, log = new EventEmitter()) {
  const tell = (level: string) => (text: string) => log.emit(level, text)
  const logger = {
    error: tell('failure'),
    warn: tell('warn'),
    info: tell('info'),
    debug: tell('debug'),
    trace: tell('trace'),
  }
  return run.watch(watched.boot(name, { api: { url: server.address }, auth, logger }))
}

const withToken = () => ({ type: 'token', config: { token: server.token } })

run.flow('clients under a name', async () => {
  boot('one', withToken())
  assert.equal(watched.get('one'), watched.get('one'))
  watched.clear('one')
  assert.throws(() => watched.get('one'), /Invalid instance name/)
})

run.flow('read, list and write, with a token', async () => {
  const vault = boot('token', withToken())
  await vault.write('transit/keys/kw', {})
  const lease = await vault.read('transit/keys/kw')
  assert.deepEqual([lease.getValue('name'), lease.isRenewable()], ['kw', false])
  assert.deepEqual((await vault.list('transit/keys')).getData(), { keys: ['kw'] })
  const plaintext = Buffer.from('what nobody else may read').toString('base64')
  const { data } = await vault.write('transit/encrypt/kw', { plaintext })
  assert.equal((await vault.write('transit/decrypt/kw', { ciphertext: data.ciphertext })).data.plaintext, plaintext)
})

run.flow('tokens, policies and identity, by read, list and write', async () => {
  const vault = boot('token', withToken())
  const { auth } = await vault.write('auth/token/create', { policies: ['transit'], ttl: '1h' })
  const { data: known } = await vault.write('auth/token/lookup', { token: auth.client_token })
  assert.deepEqual([known.creation_ttl, known.path], [3600, 'auth/token/create'])
  assert.ok((await vault.list('sys/policies/acl')).getValue('keys').includes('transit'))
  const { id } = (await vault.write('identity/entity', { name: 'ann' })).data
  assert.equal((await vault.read('identity/entity/name/ann')).getValue('id'), id)
  await vault.write('auth/token/revoke', { token: auth.client_token })
  await assert.rejects(vault.write('auth/token/lookup', { token: auth.client_token }), { statusCode: 403 })
})

/** What the client logs in with, for a role with these settings. */
async function approle(name: string, settings: object, namespace = ''): Promise<object> {
  const role = `${namespace}auth/approle/role/${name}`
  await setUp(role, { token_policies: ['transit'], ...settings })
  const { body } = await api(server, 'GET', `${role}/role-id`)
  const { secret_id } = await setUp(`${role}/secret-id`, {})
  return { type: 'appRole', config: { role_id: body.data?.role_id, secret_id, ...(namespace && { namespace }) } }
}

/** A machine that stands still may miss the end of a short life: then the same is done with a longer one. */
async function withShortLives(attempt: (seconds: number) => Promise<void>): Promise<void> {
  for (const seconds of [3, 12, 48]) {
    const startMs = performance.now()
    try {
      return await attempt(seconds)
    } catch (cause) {
      // Nothing here takes half as long as the token lives, but for what waits for its end.
      const isHeldUp = performance.now() - startMs > seconds * 500 && seconds < 48
      if (!isHeldUp) throw cause
    }
  }
}

run.flow('namespaces: all of it once in `team/a`', async () => {
  await setUp('sys/namespaces/team', {})
  await setUp('team/sys/namespaces/a', {})
  const root = boot('inner', { type: 'token', config: { token: server.token, namespace: 'team/a' } })
  await root.write('sys/mounts/transit', { type: 'transit' })
  const policy = 'path "transit/encrypt/kw" { capabilities = ["update"] }'
  await root.write('sys/policies/acl/transit', { policy })
  await root.write('sys/auth/approle', { type: 'approle' })
  await root.write('transit/keys/kw', {})
  // Batch tokens: the client sets a timer for those that it can renew, and the test would wait for it.
  const app = boot('inner-app', await approle('app', { token_type: 'batch' }, 'team/a/'))
  const { data } = await app.write('transit/encrypt/kw', { plaintext: 'bW9yZQ==' })
  assert.equal((await root.write('transit/decrypt/kw', data)).data.plaintext, 'bW9yZQ==')
  const known = (await app.read('auth/token/lookup-self')).getData()
  assert.deepEqual([known.namespace_path, known.policies], ['team/a/', ['default', 'transit']])
  await assert.rejects(app.read('transit/keys/kw'), { statusCode: 403 })
  const { auth } = await root.write('auth/token/create', { type: 'batch', policies: ['transit'] })
  const outside = boot('outside', { type: 'token', config: { token: auth.client_token } })
  await assert.rejects(outside.read('transit/keys/kw'), { statusCode: 403 })
})

run.flow('login by approle, renewal by its own timer', () =>
  withShortLives(async (seconds) => {
    const log = new EventEmitter()
    const name = `renewing-${seconds}`
    const vault = boot(name, await approle(name, { token_ttl: `${seconds}s` }), log)
    const said = Promise.race([once(log, 'info').then(() => once(log, 'info')), once(log, 'failure')])
    assert.equal((await vault.read('transit/keys/kw')).getValue('name'), 'kw')
    assert.equal((await said)[0], 'successfully renewed token')
    assert.equal((await vault.read('transit/keys/kw')).getValue('name'), 'kw')
    // Its timer ends with the token.
    await setUp('sys/leases/revoke-prefix/auth/approle/login', {})
  }),
)

run.flow('login anew by approle when a token has ended', () =>
  withShortLives(async (seconds) => {
    const log = new EventEmitter()
    const logins: unknown[] = []
    log.on('info', (text) => logins.push(text))
    const name = `short-${seconds}`
    const vault = boot(name, await approle(name, { token_ttl: `${seconds}s`, token_type: 'batch' }), log)
    await vault.read('transit/keys/kw')
    await new Promise((resolve) => setTimeout(resolve, seconds * 1_000 + 1_000))
    assert.equal((await vault.read('transit/keys/kw')).getValue('name'), 'kw')
    assert.equal(logins.filter((text) => text === 'getting auth token (mount=%s)').length, 2)
  }),
)

run.flow('values for the package config', async () => {
  await setUp('cubbyhole/colours', { mine: 'green' })
  process.env.NODE_CONFIG_DIR = directory.path
  process.env.SUPPRESS_NO_CONFIG_WARNING = '1'
  writeFileSync(
    join(directory.path, 'custom-vault-variables.js'),
    "module.exports = { colour: 'cubbyhole/colours#mine' }",
  )
  assert.equal((await boot('token', withToken()).fillNodeConfig()).colour, 'green')
})

run.flow('refusals, told by status', async () => {
  const wrong = boot('wrong', { type: 'token', config: { token: 'no-such-token' } })
  await assert.rejects(wrong.read('transit/keys/kw'), { statusCode: 403 })
  await assert.rejects(boot('token', withToken()).read('transit/keys/none'), { statusCode: 404 })
})

run.notOffered('login by AWS and by Kubernetes', { note: 'not here' }, async () => {
  const credentials = { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'not-a-secret' }
  const aws = boot('aws', { type: 'iam', config: { role: 'r', credentials } })
  await assert.rejects(aws.read('transit/keys/kw'), { statusCode: 403 })
  const tokenPath = join(directory.path, 'jwt')
  writeFileSync(tokenPath, 'a.b.c')
  const kubernetes = boot('kubernetes', { type: 'kubernetes', config: { role: 'r', tokenPath } })
  await assert.rejects(kubernetes.read('transit/keys/kw'), { statusCode: 403 })
})

run.close()
