// The client node-vault for Node.js, unmodified, against a real server.
import { strict as assert } from 'node:assert'
import { after, before, test } from 'node:test'
import nodeVault from 'node-vault'
import { type ServerProcess, startServerProcess, temporaryDirectory } from '../fixtures/server-process.ts'

const PLAINTEXT = Buffer.from('what nobody else may read').toString('base64')
const POLICY = 'path "transit/encrypt/kw" { capabilities = ["update"] }'

const directory = temporaryDirectory()
let server: ServerProcess
let vault: nodeVault.client

before(async () => {
  server = await startServerProcess({ directory: directory.path })
  vault = clientWith(server.token)
  await vault.mount({ mount_point: 'transit', type: 'transit' })
})
after(async () => {
  await server.stop()
  directory.cleanUp()
})

function clientWith(token: string): nodeVault.client {
  return nodeVault({ endpoint: server.address, token })
}

/** By a client of its own: it goes on with the token that it created. */
async function createToken(
  wanted: object = {},
): Promise<{ client_token: string; accessor: string; policies: string[] }> {
  return (await clientWith(server.token).tokenCreate({ policies: ['encryptor'], ...wanted })).auth
}

test('node-vault reads status, health and whether the server is initialised', async () => {
  assert.deepEqual(await vault.initialized(), { initialized: true })
  const status = await vault.status()
  assert.equal(status.sealed, false)
  assert.equal(status.t, 1)
  const health = await vault.health()
  assert.equal(health.initialized, true)
  assert.equal(health.sealed, false)
})

test('node-vault mounts and unmounts the transit engine', async () => {
  await vault.mount({ mount_point: 'second', type: 'transit', description: 'one more' })
  const { data } = await vault.mounts()
  assert.equal(data['second/'].type, 'transit')
  assert.equal(data['second/'].description, 'one more')
  await vault.unmount({ mount_point: 'second' })
  assert.equal((await vault.mounts()).data['second/'], undefined)
})

test('node-vault creates, reads and lists keys, encrypts, rotates, rewraps, decrypts and deletes', async () => {
  await vault.transitCreateKey({ name: 'kw', type: 'aes256-gcm96' })
  assert.equal((await vault.transitReadKey({ name: 'kw' })).data.latest_version, 1)
  // Sent with the method LIST, which the runtime's own parser refuses.
  assert.deepEqual((await vault.transitListKeys()).data.keys, ['kw'])
  assert.deepEqual((await vault.list('transit/keys')).data.keys, ['kw'])

  const first = (await vault.encryptData({ name: 'kw', plaintext: PLAINTEXT })).data.ciphertext
  assert.match(first, /^vault:v1:/)
  await vault.write('transit/keys/kw/rotate', {})
  const second = (await vault.rewrapData({ name: 'kw', ciphertext: first })).data.ciphertext
  assert.match(second, /^vault:v2:/)
  for (const ciphertext of [first, second]) {
    assert.equal((await vault.decryptData({ name: 'kw', ciphertext })).data.plaintext, PLAINTEXT)
  }

  await vault.write('transit/keys/kw/config', { deletion_allowed: true })
  await vault.transitDeleteKey({ name: 'kw' })
  await assert.rejects(vault.transitReadKey({ name: 'kw' }), isRefusal(404))
  await vault.transitCreateKey({ name: 'kw', type: 'aes256-gcm96' })
})

test('node-vault writes, lists, reads and removes policies', async () => {
  await vault.addPolicy({ name: 'encryptor', rules: POLICY })
  assert.ok((await vault.policies()).data.policies.includes('encryptor'))
  assert.equal((await vault.getPolicy({ name: 'encryptor' })).data.rules, POLICY)
  await vault.removePolicy({ name: 'encryptor' })
  assert.ok(!(await vault.policies()).data.policies.includes('encryptor'))
})

test('node-vault creates, looks up, renews and revokes a token', async () => {
  await vault.addPolicy({ name: 'encryptor', rules: POLICY })
  const auth = await createToken({ ttl: '1h', renewable: true })
  assert.deepEqual(auth.policies, ['default', 'encryptor'])
  const limited = clientWith(auth.client_token)
  assert.equal((await limited.tokenLookupSelf()).data.id, auth.client_token)
  assert.equal((await vault.tokenLookup({ token: auth.client_token })).data.accessor, auth.accessor)
  // No body, and the content type of a form.
  assert.equal((await limited.tokenRenewSelf()).auth.client_token, auth.client_token)
  await limited.encryptData({ name: 'kw', plaintext: PLAINTEXT })
  await vault.tokenRevoke({ token: auth.client_token })
  assert.equal((await vault.tokenLookupSelf()).data.display_name, 'root')
  await assert.rejects(limited.tokenLookupSelf(), isRefusal(403, 'permission denied'))
})

test('node-vault tells a refused call by message and status', async () => {
  await vault.addPolicy({ name: 'encryptor', rules: POLICY })
  const auth = await createToken()
  const limited = clientWith(auth.client_token)
  const { ciphertext } = (await limited.encryptData({ name: 'kw', plaintext: PLAINTEXT })).data
  await assert.rejects(limited.decryptData({ name: 'kw', ciphertext }), isRefusal(403, 'permission denied'))
  await assert.rejects(clientWith('no-such-token').tokenLookupSelf(), isRefusal(403, 'permission denied'))
  await assert.rejects(vault.encryptData({ name: 'kw', plaintext: 'not base64!' }), isRefusal(400, 'base64'))
  await assert.rejects(vault.list('transit/no-such'), isRefusal(404))
})

/** The error that node-vault makes of an answer: our first sentence as its message, the status beside it. */
function isRefusal(statusCode: number, words = ''): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof Error && 'response' in error)
    const { statusCode: got, body } = error.response as { statusCode: number; body: { errors: string[] } }
    assert.equal(got, statusCode)
    assert.ok(Array.isArray(body.errors))
    if (body.errors.length > 0) assert.equal(error.message, body.errors[0])
    assert.ok(error.message.includes(words), `${error.message} does not say ${words}`)
    return true
  }
}
