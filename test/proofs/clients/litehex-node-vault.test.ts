// The client @litehex/node-vault for Node.js, unmodified and with its strict schemas, against a real server that it
// initialises itself.
import { strict as assert } from 'node:assert'
import { createHash } from 'node:crypto'
import { hostname } from 'node:os'
import { after, before } from 'node:test'
import { Client } from '@litehex/node-vault'
import { api, temporaryDirectory } from '../../fixtures/server-process.ts'
import { ClientRun } from './client-run.ts'
import { type NewServer, newServer } from './new-server.ts'

const PLAINTEXT = Buffer.from('what nobody else may read').toString('base64')
/** Parts of the client, each with calls of its own. */
const SECTORS = ['transit', 'kv', 'kv2', 'aws', 'kubernetes'] as const
/** Of the client, which are no calls. */
const FIELDS = ['opts', 'endpoint', 'apiVersion', 'pathPrefix', 'namespace', 'token', 'request', 'fetcher', 'client']

/** Calls of an object: methods of its own, and those that its class makes when they are asked for. */
function callsOf(holder: object, prefix = ''): string[] {
  const names = [...Object.keys(holder), ...Object.getOwnPropertyNames(Object.getPrototypeOf(holder))]
  return names.filter((name) => ![...FIELDS, ...SECTORS, 'constructor'].includes(name)).map((name) => prefix + name)
}

const plain = new Client()
const OFFERED = [...callsOf(plain), ...SECTORS.flatMap((sector) => callsOf(plain[sector], `${sector}.`))]
const run = new ClientRun({ name: '@litehex/node-vault', language: 'TypeScript', offered: OFFERED })

let server: NewServer
let vault: Client
let unsealKeys: string[]

before(async () => {
  server = await newServer()
  vault = clientWith('')
})
after(() => server.end())

function clientWith(token: string, namespace?: string): Client {
  return run.watch(new Client({ endpoint: server.address, token, ...(namespace !== undefined && { namespace }) }))
}

type Told<Data> = { readonly data?: Data; readonly error?: unknown }

/** What a call gave, which it tells rather than throws. */
async function told<Data>(call: Promise<Told<Data>>): Promise<Data> {
  const { data, error } = await call
  if (error !== undefined) assert.fail(`${error} ${JSON.stringify((error as Error).cause)}`)
  assert.ok(data !== undefined)
  return data
}

// biome-ignore lint/suspicious/noExplicitAny: its schema for any answer at all
type Answer = any

function write(path: string, data: object): Promise<Answer> {
  return told(vault.write({ path, data: { ...data } }))
}

/** The status of the answer that a call failed with, and what it says. */
async function refused(call: Promise<Told<unknown>>): Promise<number> {
  const { error } = await call
  assert.ok(error instanceof Error, 'the call was not refused')
  assert.ok(error.cause instanceof Response, `${error} ${JSON.stringify(error.cause)}`)
  return error.cause.status
}

run.flow('initialise and unseal', async () => {
  assert.deepEqual(await told(vault.initialized()), { initialized: false })
  const made = await told(vault.init({ secret_shares: 3, secret_threshold: 2 }))
  unsealKeys = made.keys
  assert.equal((await told(vault.unseal({ key: made.keys[0] ?? '' }))).sealed, true)
  assert.equal((await told(vault.unseal({ key: made.keys_base64[1] ?? '' }))).sealed, false)
  vault = clientWith(made.root_token)
})

run.flow('status and health', async () => {
  const status = await told(vault.sealStatus())
  assert.deepEqual([status.sealed, status.t, status.n], [false, 2, 3])
  const health = await told(vault.health())
  assert.deepEqual([health.initialized, health.standby], [true, false])
})

run.flow('mounts', async () => {
  await told(vault.transit.enable({ mountPath: 'transit', type: 'transit' }))
  await told(vault.mount({ mountPath: 'second', type: 'transit', description: 'one more', options: {} }))
  assert.equal((await told(vault.mounts())).data['second/']?.description, 'one more')
  assert.equal((await told(vault.engineInfo({ mountPath: 'second' }))).type, 'transit')
  await told(vault.unmount({ mountPath: 'second' }))
  assert.equal(await refused(vault.engineInfo({ mountPath: 'second' })), 400)
})

run.flow('tune a mount', async () => {
  await told(vault.tuneMount({ mountPath: 'transit', default_lease_ttl: 3600, max_lease_ttl: 7200 }))
  const tuned = await told(vault.tune({ mountPath: 'transit' }))
  assert.deepEqual([tuned.default_lease_ttl, tuned.max_lease_ttl], [3600, 7200])
})

run.flow('transit keys', async () => {
  const { transit } = vault
  const kw = { mountPath: 'transit', name: 'kw' }
  assert.equal((await told(transit.createKey({ ...kw, type: 'aes256-gcm96' }))).data.latest_version, 1)
  assert.equal((await told(transit.rotateKey(kw))).data.latest_version, 2)
  assert.deepEqual(Object.keys((await told(transit.readKey(kw))).data.keys), ['1', '2'])
  await told(transit.updateKey({ ...kw, min_decryption_version: 2 }))
  await told(transit.createKey({ mountPath: 'transit', name: 'gone' }))
  assert.deepEqual((await told(transit.listKeys({ mountPath: 'transit' }))).data.keys, ['gone', 'kw'])
  await told(transit.updateKey({ mountPath: 'transit', name: 'gone', deletion_allowed: true }))
  await told(transit.deleteKey({ mountPath: 'transit', name: 'gone' }))
  assert.equal(await refused(transit.readKey({ mountPath: 'transit', name: 'gone' })), 404)
})

run.flow('transit ciphertexts', async () => {
  const { transit } = vault
  const moving = { mountPath: 'transit', name: 'moving' }
  await told(transit.createKey(moving))
  const first = (await told(transit.encrypt({ ...moving, plaintext: PLAINTEXT }))).data.ciphertext ?? ''
  await told(transit.rotateKey(moving))
  const second = (await told(transit.rewrap({ ...moving, ciphertext: first }))).data.ciphertext ?? ''
  assert.match(second, /^vault:v2:/)
  for (const ciphertext of [first, second]) {
    assert.equal((await told(transit.decrypt({ ...moving, ciphertext }))).data.plaintext, PLAINTEXT)
  }
  const made = (await told(transit.generateDataKey({ ...moving, type: 'plaintext', bits: 256 }))).data
  assert.equal(
    (await told(transit.decrypt({ ...moving, ciphertext: made.ciphertext ?? '' }))).data.plaintext,
    made.plaintext,
  )
})

run.flow('transit random bytes, hashes, HMACs', async () => {
  const { transit } = vault
  const drawn = transit.generateRandom({ mountPath: 'transit', source: 'platform', bytes: 16, format: 'hex' })
  assert.match((await told(drawn)).data.random_bytes, /^[0-9a-f]{32}$/)
  const hashed = transit.hash({ mountPath: 'transit', algorithm: 'sha2-256', input: PLAINTEXT })
  const expected = createHash('sha256').update(Buffer.from(PLAINTEXT, 'base64')).digest('hex')
  assert.equal((await told(hashed)).data.sum, expected)
  const named = { mountPath: 'transit', name: 'moving' }
  const { hmac = '' } = (await told(transit.hmac({ ...named, input: PLAINTEXT, algorithm: 'sha2-512' }))).data
  for (const [algorithm, valid] of [
    ['sha2-512', true],
    ['sha2-256', false],
  ] as const) {
    const verified = await told(transit.verifyHmac({ ...named, algorithm, input: PLAINTEXT, hmac }))
    assert.equal(verified.data.valid, valid)
  }
})

run.flow('transit signatures', async () => {
  const { transit } = vault
  for (const type of ['ed25519', 'ecdsa-p256', 'rsa-2048'] as const) {
    const named = { mountPath: 'transit', name: type }
    // Its own call understands no answer that describes such a key.
    await write(`transit/keys/${type}`, { type })
    const { signature = '' } = (await told(transit.sign({ ...named, input: PLAINTEXT }))).data
    for (const [input, valid] of [
      [PLAINTEXT, true],
      ['', false],
    ] as const) {
      const verified = await told(transit.verify({ ...named, algorithm: 'sha2-256', input, signature }))
      assert.equal(verified.data.valid, valid)
    }
  }
})

run.clientFault('a key that signs', { note: 'expects a number for each version, and no public key' }, async () => {
  const { data, error } = await vault.transit.readKey({ mountPath: 'transit', name: 'ed25519' })
  assert.equal(data, undefined)
  assert.match(JSON.stringify((error as Error & { cause?: unknown }).cause), /expected number, received object/)
})

run.flow('policies, by write, read, list and delete', async () => {
  await write('sys/policies/acl/encryptor', { policy: 'path "transit/encrypt/kw" { capabilities = ["update"] }' })
  assert.equal((await told(vault.read({ path: 'sys/policies/acl/encryptor' }))).data.name, 'encryptor')
  await write('sys/policies/acl/other', { policy: 'path "cubbyhole/*" { capabilities = ["list"] }' })
  await told(vault.delete({ path: 'sys/policies/acl/other' }))
  const { keys } = (await told(vault.list({ path: 'sys/policies/acl' }))).data
  assert.deepEqual([keys.includes('encryptor'), keys.includes('other')], [true, false])
})

run.flow('tokens and token roles, by write, read and list', async () => {
  await write('auth/token/roles/encrypting', { allowed_policies: ['encryptor'], orphan: true })
  const { auth } = await write('auth/token/create/encrypting', { policies: ['encryptor'], ttl: '1h' })
  assert.deepEqual((await told(vault.list({ path: 'auth/token/roles' }))).data.keys, ['encrypting'])
  const limited = clientWith(auth.client_token)
  assert.equal((await told(limited.read({ path: 'auth/token/lookup-self' }))).data.orphan, true)
  assert.equal(
    (await write('auth/token/renew', { token: auth.client_token, increment: '2h' })).auth.lease_duration,
    7200,
  )
  assert.deepEqual(
    (await write('sys/capabilities-accessor', { accessor: auth.accessor, paths: ['transit/encrypt/kw'] })).data[
      'transit/encrypt/kw'
    ],
    ['update'],
  )
  await write('auth/token/revoke-accessor', { accessor: auth.accessor })
  assert.equal(await refused(limited.read({ path: 'auth/token/lookup-self' })), 403)
})

run.flow('logins by name and password, and by approle, by write and read', async () => {
  await write('sys/auth/userpass', { type: 'userpass' })
  await write('auth/userpass/users/ann', { password: 'correct horse', token_policies: 'encryptor' })
  const byName = await write('auth/userpass/login/ann', { password: 'correct horse' })
  assert.deepEqual(byName.auth.policies, ['default', 'encryptor'])
  assert.equal(await refused(vault.write({ path: 'auth/userpass/login/ann', data: { password: 'wrong' } })), 400)
  await write('sys/auth/approle', { type: 'approle' })
  await write('auth/approle/role/app', { token_policies: 'encryptor', token_ttl: '10m' })
  const { role_id } = (await told(vault.read({ path: 'auth/approle/role/app/role-id' }))).data
  const { secret_id } = (await write('auth/approle/role/app/secret-id', {})).data
  const byRole = await write('auth/approle/login', { role_id, secret_id })
  assert.deepEqual([byRole.auth.lease_duration, byRole.auth.metadata], [600, { role_name: 'app' }])
  assert.ok('approle/' in (await told(vault.read({ path: 'sys/auth' }))).data)
  await told(vault.delete({ path: 'sys/auth/userpass' }))
})

run.flow('leases and wrapped answers, by write and list', async () => {
  const { auth } = await write('auth/token/create', { policies: ['encryptor'], ttl: '1h' })
  const { keys } = (await told(vault.list({ path: 'sys/leases/lookup/auth/token/create' }))).data
  const lease_id = `auth/token/create/${keys[0]}`
  assert.equal((await write('sys/leases/lookup', { lease_id })).data.path, 'auth/token/create')
  await write('sys/leases/revoke', { lease_id })
  assert.equal(await refused(clientWith(auth.client_token).read({ path: 'auth/token/lookup-self' })), 403)
  const headers = { 'X-Vault-Wrap-TTL': '60' }
  const { wrap_info } = (await told(vault.read({ path: 'transit/keys/kw' }, { headers }))) as Answer
  assert.equal((await write('sys/wrapping/unwrap', { token: wrap_info.token })).data.name, 'kw')
})

run.flow('a cubbyhole and identity, by write, read, list and delete', async () => {
  await write('cubbyhole/mine', { colour: 'green' })
  assert.deepEqual((await told(vault.read({ path: 'cubbyhole/mine' }))).data, { colour: 'green' })
  assert.deepEqual((await told(vault.list({ path: 'cubbyhole' }))).data.keys, ['mine'])
  await told(vault.delete({ path: 'cubbyhole/mine' }))
  const { id } = (await write('identity/entity', { name: 'bob' })).data
  assert.equal((await told(vault.read({ path: 'identity/entity/name/bob' }))).data.id, id)
  await told(vault.delete({ path: `identity/entity/id/${id}` }))
  assert.equal(await refused(vault.read({ path: 'identity/entity/name/bob' })), 404)
})

run.flow('namespaces: all of it once in `team/a`', async () => {
  const { token = '' } = vault
  await write('sys/namespaces/team', {})
  await told(clientWith(token, 'team').write({ path: 'sys/namespaces/a', data: {} }))
  const inner = clientWith(token, 'team/a')
  const put = (path: string, data: object): Promise<Answer> => told(inner.write({ path, data: { ...data } }))
  await told(inner.transit.enable({ mountPath: 'transit', type: 'transit' }))
  await told(inner.transit.createKey({ mountPath: 'transit', name: 'kw' }))
  await put('sys/policies/acl/inner', { policy: 'path "transit/encrypt/kw" { capabilities = ["update"] }' })
  await put('sys/auth/userpass', { type: 'userpass' })
  await put('auth/userpass/users/ann', { password: 'correct horse', token_policies: 'inner' })
  const { auth } = await put('auth/userpass/login/ann', { password: 'correct horse' })
  const ann = clientWith(auth.client_token, 'team/a')
  const known = (await told(ann.read({ path: 'auth/token/lookup-self' }))).data as Answer
  assert.deepEqual([known.namespace_path, known.policies], ['team/a/', ['default', 'inner']])
  const kw = { mountPath: 'transit', name: 'kw' }
  const ciphertext = (await told(ann.transit.encrypt({ ...kw, plaintext: PLAINTEXT }))).data.ciphertext ?? ''
  assert.equal((await told(inner.transit.decrypt({ ...kw, ciphertext }))).data.plaintext, PLAINTEXT)
  for (const elsewhere of [clientWith(auth.client_token), clientWith(auth.client_token, 'team')])
    assert.equal(await refused(elsewhere.transit.encrypt({ ...kw, plaintext: PLAINTEXT })), 403)
})

run.flow('a root token by shares', async () => {
  const { otp_length } = await told(vault.getRootGenerationProgress())
  const otp = 'x'.repeat(otp_length)
  await told(vault.startRootGeneration({ otp }))
  await told(vault.cancelRootGeneration())
  const { nonce } = await told(vault.startRootGeneration({ otp }))
  await told(vault.provideKeyShare({ key: unsealKeys[0] ?? '', nonce }))
  const { encoded_token } = await told(vault.provideKeyShare({ key: unsealKeys[2] ?? '', nonce }))
  const token = Buffer.from(encoded_token, 'base64').map((byte) => byte ^ 'x'.charCodeAt(0))
  const made = clientWith(token.toString())
  assert.deepEqual((await told(made.read({ path: 'auth/token/lookup-self' }))).data.policies, ['root'])
})

run.flow('what a mount is, where it has options', async () => {
  await told(vault.mount({ mountPath: 'optional', type: 'transit', options: { colour: 'green' } }))
  for (const sector of ['transit', 'kv', 'kv2'] as const) {
    const { data } = await told(vault[sector].info({ mountPath: 'optional' }))
    assert.deepEqual([data.type, data.options], ['transit', { colour: 'green' }])
  }
})

run.clientFault('capabilities', { note: 'its schema wants true or false for an answer' }, async () => {
  const { error } = await vault.queryCapabilities({ token: vault.token ?? '', paths: ['transit/keys/kw'] })
  assert.match(String((error as Error & { cause?: unknown }).cause), /boolean/)
  assert.deepEqual(
    (await write('sys/capabilities', { token: vault.token, paths: ['transit/keys/kw'] })).data.capabilities,
    ['root'],
  )
})

run.flow('transit: export, backup, restore', async () => {
  const { transit } = vault
  const packed = { mountPath: 'transit', name: 'packed' }
  await told(transit.createKey({ ...packed, exportable: true, allow_plaintext_backup: true }))
  await told(transit.rotateKey(packed))
  const exported = await told(transit.exportKey({ ...packed, type: 'encryption-key' }))
  assert.deepEqual(Object.keys(exported.data.keys), ['1', '2'])
  const { data } = await told(transit.backupKey(packed))
  await told(transit.restoreKey({ mountPath: 'transit', name: 'moved', backup: data.backup }))
  assert.equal((await told(transit.readKey({ mountPath: 'transit', name: 'moved' }))).data.latest_version, 2)
})

run.clientFault('transit: trim', { note: 'it wants an answer without a body, as old servers gave it' }, async () => {
  await write('transit/keys/moved/config', { min_decryption_version: 2, min_encryption_version: 2 })
  const trimmed = await vault.transit.trimKey({ mountPath: 'transit', name: 'moved', min_available_version: 2 })
  assert.match(String((trimmed.error as Error & { cause?: unknown }).message), /Failed to parse response/)
  const { data } = await told(vault.transit.readKey({ mountPath: 'transit', name: 'moved' }))
  assert.deepEqual(Object.keys(data.keys), ['2'])
})

run.flow('host information', async () => {
  const { data } = await told(vault.hostInfo())
  assert.equal(data.host.hostname, hostname())
  assert.ok(data.cpu.length > 0 && (data.disk[0]?.total ?? 0) > 0 && data.memory.total > 0)
})

run.flow('audit devices', async () => {
  const { path, cleanUp } = temporaryDirectory()
  const { token = '' } = vault
  const options = { file_path: `${path}/audit.log` }
  assert.equal(
    (await api({ address: server.address, token }, 'POST', 'sys/audit/log', { type: 'file', options })).status,
    204,
  )
  assert.deepEqual((await told(vault.listDevices())).data['log/']?.options, options)
  assert.equal((await vault.disableDevice({ path: 'log' })).data, true)
  assert.deepEqual((await told(vault.listDevices())).data, {})
  cleanUp()
})

run.clientFault('make an audit device', { note: 'sends neither type nor options' }, async () => {
  assert.equal(await refused(vault.enableDevice({ path: 'log' })), 400)
})

/** Parts for engines that are not here: one call is made. */
const ABSENT = {
  kv: () => vault.kv.read({ mountPath: 'kv', path: 'a' }),
  kv2: () => vault.kv2.read({ mountPath: 'kv', path: 'a' }),
  aws: () => vault.aws.roles(),
  kubernetes: () => vault.kubernetes.roles(),
}
for (const [sector, probe] of Object.entries(ABSENT)) {
  const standsFor = OFFERED.filter((name) => name.startsWith(`${sector}.`) && !name.endsWith('.info'))
  run.notOffered(`the engine ${sector}`, { note: 'not here', standsFor }, async () => {
    assert.equal(await refused(probe()), 404)
  })
}

run.notOffered('the configuration of an engine', { note: 'no engine here has a path config' }, async () => {
  assert.equal(await refused(vault.config({ mountPath: 'transit' })), 404)
})

run.flow('seal', async () => {
  await told(vault.seal())
  assert.equal(await refused(vault.transit.listKeys({ mountPath: 'transit' })), 503)
  assert.equal((await api(server, 'GET', 'sys/seal-status')).body.sealed, true)
})

run.close()
