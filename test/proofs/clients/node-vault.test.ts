// The client node-vault for Node.js, unmodified, against a real server that it initialises itself.
import { strict as assert } from 'node:assert'
import { createPublicKey, verify } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { after, before } from 'node:test'
import nodeVault from 'node-vault'
import { temporaryDirectory } from '../../fixtures/server-process.ts'
import { ClientRun } from './client-run.ts'
import { type NewServer, newServer } from './new-server.ts'
import { isRefusal } from './node-vault-refusal.ts'

// biome-ignore lint/suspicious/noExplicitAny: the client's own types leave out most of its calls, and all its answers
type Client = any

const PLAINTEXT = Buffer.from('what nobody else may read').toString('base64')
const POLICY = 'path "transit/encrypt/kw" { capabilities = ["update"] }'
/** What it makes its calls of, and what it leaves open to be replaced. */
const INTERNAL = ['handleVaultResponse', 'request', 'generateFunction']

const run = new ClientRun({
  name: 'node-vault',
  language: 'JavaScript',
  offered: Object.entries(nodeVault({}))
    .filter(([name, value]) => typeof value === 'function' && !INTERNAL.includes(name))
    .map(([name]) => name),
})

let server: NewServer
let vault: Client
let unsealKeys: string[]

before(async () => {
  server = await newServer()
  vault = clientWith('')
})
after(() => server.end())

function clientWith(token: string, namespace?: string): Client {
  return run.watch(nodeVault({ endpoint: server.address, token, ...(namespace && { namespace }) }))
}

/** By a client of its own: it goes on with the token that it created. */
async function createToken(wanted: object = {}): Promise<{ client_token: string; accessor: string }> {
  return (await clientWith(vault.token).tokenCreate({ policies: ['encryptor'], ...wanted })).auth
}

run.flow('initialise and unseal', async () => {
  assert.deepEqual(await vault.initialized(), { initialized: false })
  const made = await vault.init({ secret_shares: 3, secret_threshold: 2 })
  unsealKeys = made.keys
  vault.token = made.root_token
  assert.equal((await vault.health()).sealed, true)
  assert.equal((await vault.unseal({ key: made.keys[0] })).progress, 1)
  assert.equal((await vault.unseal({ key: made.keys_base64[1] })).sealed, false)
})

run.flow('status and health', async () => {
  assert.deepEqual(await vault.initialized(), { initialized: true })
  const status = await vault.status()
  assert.deepEqual([status.sealed, status.t, status.n], [false, 2, 3])
  const health = await vault.health()
  assert.deepEqual([health.initialized, health.sealed], [true, false])
  assert.equal((await vault.leader()).ha_enabled, false)
})

run.flow('mounts', async () => {
  await vault.mount({ mount_point: 'transit', type: 'transit' })
  await vault.mount({ mount_point: 'second', type: 'transit', description: 'one more' })
  const { data } = await vault.mounts()
  assert.equal(data['second/'].type, 'transit')
  assert.equal(data['second/'].description, 'one more')
  const { migration_id: id } = (await vault.remount({ from: 'second', to: 'third' })).data
  assert.equal((await vault.read(`sys/remount/status/${id}`)).data.migration_info.status, 'success')
  await vault.unmount({ mount_point: 'third' })
  const left = (await vault.mounts()).data
  assert.deepEqual([left['second/'], left['third/']], [undefined, undefined])
})

run.flow('tune a mount, by read and write', async () => {
  await vault.write('sys/mounts/transit/tune', { default_lease_ttl: '1h', description: 'tuned' })
  const { data } = await vault.read('sys/mounts/transit/tune')
  assert.deepEqual([data.default_lease_ttl, data.description], [3600, 'tuned'])
})

run.flow('transit keys and ciphertexts', async () => {
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

run.flow('transit HMACs, signatures, hashes and random bytes, by write', async () => {
  await vault.transitCreateKey({ name: 'signer', type: 'ecdsa-p256' })
  const { hmac } = (await vault.write('transit/hmac/kw', { input: PLAINTEXT })).data
  assert.equal((await vault.write('transit/verify/kw', { input: PLAINTEXT, hmac })).data.valid, true)
  const { signature } = (await vault.write('transit/sign/signer/sha2-512', { input: PLAINTEXT })).data
  assert.equal((await vault.write('transit/verify/signer/sha2-512', { input: PLAINTEXT, signature })).data.valid, true)
  assert.equal((await vault.write('transit/verify/signer', { input: PLAINTEXT, signature })).data.valid, false)
  const key = createPublicKey((await vault.transitReadKey({ name: 'signer' })).data.keys[1].public_key)
  const bytes = Buffer.from(signature.slice('vault:v1:'.length), 'base64')
  assert.ok(verify('sha512', Buffer.from(PLAINTEXT, 'base64'), key, bytes))
  assert.equal((await vault.write('transit/hash/sha2-224', { input: PLAINTEXT })).data.sum.length, 56)
  assert.equal(Buffer.from((await vault.write('transit/random/24', {})).data.random_bytes, 'base64').length, 24)
})

run.flow('policies', async () => {
  await vault.addPolicy({ name: 'other', rules: POLICY })
  await vault.addPolicy({ name: 'encryptor', rules: POLICY })
  assert.ok((await vault.policies()).data.policies.includes('other'))
  assert.equal((await vault.getPolicy({ name: 'other' })).data.rules, POLICY)
  await vault.removePolicy({ name: 'other' })
  assert.ok(!(await vault.policies()).data.policies.includes('other'))
})

run.flow('capabilities and help, by write and help', async () => {
  const { client_token: token } = await createToken()
  const asked = await vault.write('sys/capabilities', { token, paths: ['transit/encrypt/kw', 'transit/decrypt/kw'] })
  assert.deepEqual(asked.data['transit/encrypt/kw'], ['update'])
  assert.deepEqual(asked.data['transit/decrypt/kw'], ['deny'])
  assert.match((await vault.help('transit/keys/kw')).help, /key/i)
})

run.flow('tokens', async () => {
  const auth = await createToken({ ttl: '1h', renewable: true })
  const limited = clientWith(auth.client_token)
  assert.equal((await limited.tokenLookupSelf()).data.id, auth.client_token)
  assert.equal((await vault.tokenLookup({ token: auth.client_token })).data.accessor, auth.accessor)
  assert.equal((await vault.tokenLookupAccessor({ accessor: auth.accessor })).data.id, '')
  assert.ok((await vault.tokenAccessors()).data.keys.includes(auth.accessor))
  // No body, and the content type of a form.
  assert.equal((await limited.tokenRenewSelf()).auth.client_token, auth.client_token)
  const renewing = clientWith(vault.token)
  assert.equal((await renewing.tokenRenew({ token: auth.client_token, increment: '2h' })).auth.lease_duration, 7200)
  await limited.encryptData({ name: 'kw', plaintext: PLAINTEXT })
  await vault.tokenRevoke({ token: auth.client_token })
  assert.equal((await vault.tokenLookupSelf()).data.display_name, 'root')
  await assert.rejects(limited.tokenLookupSelf(), isRefusal(403, 'permission denied'))
})

run.flow("tokens: orphans, accessors, and the end of one's own", async () => {
  const orphan = (await clientWith(vault.token).tokenCreateOrphan({ policies: ['encryptor'] })).auth
  assert.equal((await vault.tokenLookup({ token: orphan.client_token })).data.orphan, true)
  await vault.tokenRevokeAccessor({ accessor: orphan.accessor })
  await assert.rejects(clientWith(orphan.client_token).tokenLookupSelf(), isRefusal(403))
  const parent = await createToken({ policies: ['root'] })
  const child = (await clientWith(parent.client_token).tokenCreate({ policies: ['encryptor'] })).auth
  await vault.tokenRevokeOrphan({ token: parent.client_token })
  assert.equal((await clientWith(child.client_token).tokenLookupSelf()).data.orphan, true)
  await clientWith(child.client_token).tokenRevokeSelf()
  await assert.rejects(clientWith(child.client_token).tokenLookupSelf(), isRefusal(403))
})

run.flow('token roles', async () => {
  await vault.addTokenRole({ role_name: 'encrypting', allowed_policies: 'encryptor', orphan: true, period: 3600 })
  const role = (await vault.getTokenRole({ role_name: 'encrypting' })).data
  assert.deepEqual([role.allowed_policies, role.orphan, role.period], [['encryptor'], true, 3600])
  // A GET with ?list=true.
  assert.deepEqual((await vault.tokenRoles()).data.keys, ['encrypting'])
  const made = await clientWith(vault.token).tokenCreateRole({ role_name: 'encrypting', policies: ['encryptor'] })
  const { data } = await vault.tokenLookup({ token: made.auth.client_token })
  assert.deepEqual([data.role, data.period, data.orphan], ['encrypting', 3600, true])
  await vault.removeTokenRole({ role_name: 'encrypting' })
  await assert.rejects(vault.getTokenRole({ role_name: 'encrypting' }), isRefusal(404))
})

run.flow('login by name and password', async () => {
  await vault.enableAuth({ mount_point: 'userpass', type: 'userpass' })
  assert.equal((await vault.auths()).data['userpass/'].type, 'userpass')
  await vault.write('auth/userpass/users/ann', { password: 'correct horse', token_policies: ['encryptor'] })
  const ann = clientWith('')
  const { auth } = await ann.userpassLogin({ username: 'ann', password: 'correct horse' })
  assert.deepEqual([auth.policies, auth.metadata], [['default', 'encryptor'], { username: 'ann' }])
  await ann.encryptData({ name: 'kw', plaintext: PLAINTEXT })
  await assert.rejects(ann.userpassLogin({ username: 'ann', password: 'wrong' }), isRefusal(400))
  await vault.disableAuth({ mount_point: 'userpass' })
  await assert.rejects(ann.tokenLookupSelf(), isRefusal(403))
})

run.flow('login by approle', async () => {
  await vault.enableAuth({ mount_point: 'approle', type: 'approle' })
  await vault.addApproleRole({ role_name: 'app', policies: 'encryptor', token_ttl: 600, secret_id_num_uses: 5 })
  assert.equal((await vault.getApproleRole({ role_name: 'app' })).data.token_ttl, 600)
  assert.deepEqual((await vault.approleRoles()).data.keys, ['app'])
  const { role_id } = (await vault.getApproleRoleId({ role_name: 'app' })).data
  const made = (await vault.getApproleRoleSecret({ role_name: 'app', metadata: '{"team":"a"}' })).data
  const app = clientWith('')
  const { auth } = await app.approleLogin({ role_id, secret_id: made.secret_id })
  assert.deepEqual([auth.lease_duration, auth.metadata], [600, { role_name: 'app', team: 'a' }])
  await app.encryptData({ name: 'kw', plaintext: PLAINTEXT })
  await vault.updateApproleRoleId({ role_name: 'app', role_id: 'a-name-of-our-own' })
  await clientWith('').approleLogin({ role_id: 'a-name-of-our-own', secret_id: made.secret_id })
})

run.flow('secret ids of an approle', async () => {
  const secret = async () => (await vault.getApproleRoleSecret({ role_name: 'app' })).data
  const [one, two] = [await secret(), await secret()]
  const named = { role_name: 'app', secret_id: one.secret_id }
  assert.equal((await vault.approleSecretLookup(named)).data.secret_id_accessor, one.secret_id_accessor)
  assert.equal((await vault.approleSecretAccessors({ role_name: 'app' })).data.keys.length, 3)
  await vault.approleSecretDestroy(named)
  const accessor = { role_name: 'app', secret_id_accessor: two.secret_id_accessor }
  assert.equal((await vault.approleSecretAccessorLookup(accessor)).data.secret_id_num_uses, 5)
  await vault.approleSecretAccessorDestroy(accessor)
  assert.equal((await vault.approleSecretAccessors({ role_name: 'app' })).data.keys.length, 1)
  await vault.deleteApproleRole({ role_name: 'app' })
  await assert.rejects(vault.getApproleRole({ role_name: 'app' }), isRefusal(404))
})

run.flow('leases', async () => {
  const { client_token: token } = await createToken({ ttl: '1h' })
  const lease = async () =>
    `auth/token/create/${(await vault.list('sys/leases/lookup/auth/token/create')).data.keys[0]}`
  await vault.revokePrefix({ path_prefix: 'auth/token/create' })
  await assert.rejects(clientWith(token).tokenLookupSelf(), isRefusal(403))
  const { client_token: second } = await createToken({ ttl: '1h' })
  const id = await lease()
  assert.equal((await vault.renew({ lease_id: id, increment: 7200 })).auth.lease_duration, 7200)
  await vault.revoke({ lease_id: id })
  await assert.rejects(clientWith(second).tokenLookupSelf(), isRefusal(403))
})

run.flow('renewal by its own timers', async () => {
  const { client_token: token } = await createToken({ ttl: '1h' })
  const { keys } = (await vault.list('sys/leases/lookup/auth/token/create')).data
  const limited = clientWith(token)
  await limited.startTokenRenewal({ ttl: 1 })
  vault.startLeaseRenewal(`auth/token/create/${keys[0]}`, 1)
  const [[renewed], [lease]] = await Promise.all([once(limited, 'token:renewed'), once(vault, 'lease:renewed')])
  assert.equal(renewed.auth.client_token, token)
  assert.equal(lease.result.auth.renewable, true)
  limited.stopTokenRenewal()
  vault.stopLeaseRenewal(lease.leaseId)
  vault.stopAllRenewals()
})

run.flow('wrapped answers', async () => {
  const wrapped = await vault.read('transit/keys/kw', { headers: { 'X-Vault-Wrap-TTL': '60' } })
  assert.equal(wrapped.wrap_info.creation_path, 'transit/keys/kw')
  assert.equal((await vault.unwrap({ token: wrapped.wrap_info.token })).data.name, 'kw')
  await assert.rejects(vault.unwrap({ token: wrapped.wrap_info.token }), isRefusal(400))
})

run.flow('a cubbyhole, by write, read, list and delete', async () => {
  await vault.write('cubbyhole/mine', { colour: 'green' })
  assert.deepEqual((await vault.read('cubbyhole/mine')).data, { colour: 'green' })
  assert.deepEqual((await vault.list('cubbyhole')).data.keys, ['mine'])
  await vault.delete('cubbyhole/mine')
  await assert.rejects(vault.read('cubbyhole/mine'), isRefusal(404))
})

run.flow('identity, by write, read and list', async () => {
  const { id } = (await vault.write('identity/entity', { name: 'ann', policies: ['encryptor'] })).data
  assert.equal((await vault.read('identity/entity/name/ann')).data.id, id)
  await vault.write('identity/group', { name: 'staff', member_entity_ids: [id] })
  assert.equal((await vault.read(`identity/entity/id/${id}`)).data.group_ids.length, 1)
  assert.deepEqual((await vault.list('identity/entity/id')).data.keys.includes(id), true)
})

run.flow('a new data key, a root token by shares', async () => {
  await vault.rotate()
  const otp = 'x'.repeat((await vault.read('sys/generate-root/attempt')).otp_length)
  const { nonce } = await vault.generateRootInit({ otp })
  await vault.generateRootCancel()
  const started = await vault.generateRootInit({ otp })
  assert.notEqual(started.nonce, nonce)
  await vault.generateRootUpdate({ key: unsealKeys[0], nonce: started.nonce })
  const done = await vault.generateRootUpdate({ key: unsealKeys[2], nonce: started.nonce })
  const token = Buffer.from(done.encoded_token, 'base64').map((byte) => byte ^ 'x'.charCodeAt(0))
  assert.equal((await clientWith(token.toString()).tokenLookupSelf()).data.policies[0], 'root')
})

run.flow('refusals, told by message and status', async () => {
  const limited = clientWith((await createToken()).client_token)
  const { ciphertext } = (await limited.encryptData({ name: 'kw', plaintext: PLAINTEXT })).data
  await assert.rejects(limited.decryptData({ name: 'kw', ciphertext }), isRefusal(403, 'permission denied'))
  await assert.rejects(clientWith('no-such-token').tokenLookupSelf(), isRefusal(403, 'permission denied'))
  await assert.rejects(vault.encryptData({ name: 'kw', plaintext: 'not base64!' }), isRefusal(400, 'base64'))
  await assert.rejects(vault.list('transit/no-such'), isRefusal(404))
})

run.flow('audit devices', async () => {
  const { path, cleanUp } = temporaryDirectory()
  await vault.enableAudit({ name: 'log', type: 'file', options: { file_path: `${path}/audit.log` } })
  assert.equal((await vault.audits())['log/'].type, 'file')
  await vault.encryptData({ name: 'kw', plaintext: PLAINTEXT })
  await vault.disableAudit({ name: 'log' })
  assert.match(readFileSync(`${path}/audit.log`, 'utf8'), /"path":"transit\/encrypt\/kw"/)
  cleanUp()
})

run.flow('namespaces: all of it once in `team/a`', async () => {
  assert.equal((await vault.write('sys/namespaces/team', { custom_metadata: { owner: 'kim' } })).data.path, 'team/')
  const { custom_metadata } = (await vault.update('sys/namespaces/team', { custom_metadata: { floor: '3' } })).data
  assert.deepEqual(custom_metadata, { owner: 'kim', floor: '3' })
  const team = clientWith(vault.token, 'team')
  await team.write('sys/namespaces/a', {})
  assert.deepEqual((await team.list('sys/namespaces')).data.keys, ['a/'])
  const inner = clientWith(vault.token, 'team/a')
  await inner.mount({ mount_point: 'transit', type: 'transit' })
  await inner.transitCreateKey({ name: 'kw' })
  await inner.addPolicy({ name: 'inner', policy: POLICY })
  assert.equal((await vault.policies()).data.policies.includes('inner'), false)
  await inner.enableAuth({ mount_point: 'userpass', type: 'userpass' })
  await inner.write('auth/userpass/users/ann', { password: 'correct horse', token_policies: ['inner'] })
  const ann = clientWith('', 'team/a')
  const { auth } = await ann.userpassLogin({ username: 'ann', password: 'correct horse' })
  assert.deepEqual(auth.policies, ['default', 'inner'])
  assert.equal((await ann.tokenLookupSelf()).data.namespace_path, 'team/a/')
  const { ciphertext } = (await ann.encryptData({ name: 'kw', plaintext: PLAINTEXT })).data
  assert.equal((await inner.decryptData({ name: 'kw', ciphertext })).data.plaintext, PLAINTEXT)
  for (const elsewhere of [clientWith(auth.client_token), clientWith(auth.client_token, 'team')])
    await assert.rejects(elsewhere.encryptData({ name: 'kw', plaintext: PLAINTEXT }), isRefusal(403))
  const made = (await inner.tokenCreate({ policies: ['inner'], ttl: '10m' })).auth.client_token
  await clientWith(made, 'team/a').encryptData({ name: 'kw', plaintext: PLAINTEXT })
  assert.equal((await team.delete('sys/namespaces/a')).data.status, 'in-progress')
  await assert.rejects(clientWith(made).tokenLookupSelf(), isRefusal(403))
})

run.notOffered('step down', { note: 'one server, no standby yet' }, async () => {
  await assert.rejects(vault.stepDown(), isRefusal(400, 'no other node'))
})

run.notOffered('change a part of a secret (PATCH)', { note: 'namespaces alone have it' }, async () => {
  await assert.rejects(vault.update('cubbyhole/mine', { colour: 'red' }), isRefusal(405))
})

run.notOffered(
  'other login methods',
  {
    note: 'Kubernetes, Google, GitHub, AWS, LDAP, Okta, RADIUS, certificates, JWT',
    standsFor: ['addKubernetesRole', 'getKubernetesRole', 'deleteKubernetesRole', 'certLogin', 'awsIamLogin'],
  },
  async () => {
    await assert.rejects(vault.enableAuth({ mount_point: 'ldap', type: 'ldap' }), isRefusal(400))
    const user = { username: 'ann', password: 'none' }
    for (const login of ['ldapLogin', 'oktaLogin', 'radiusLogin'])
      await assert.rejects(vault[login](user), isRefusal(404))
    for (const login of ['gcpLogin', 'jwtLogin', 'kubernetesLogin']) {
      await assert.rejects(vault[login]({ role: 'r', jwt: 'j' }), isRefusal(404))
    }
    await assert.rejects(vault.githubLogin({ token: 't' }), isRefusal(404))
  },
)

run.notOffered('secrets engines', { note: 'databases, KV', standsFor: ['destroySecretVersions'] }, async () => {
  await assert.rejects(vault.mount({ mount_point: 'database', type: 'database' }), isRefusal(400))
  await assert.rejects(vault.generateDatabaseCredentials({ name: 'x', databasePath: 'database' }), isRefusal(404))
})

run.flow('seal and unseal', async () => {
  await vault.seal()
  await assert.rejects(vault.transitReadKey({ name: 'kw' }), isRefusal(503))
  for (const key of unsealKeys.slice(1)) await vault.unseal({ key })
  assert.equal((await vault.transitReadKey({ name: 'kw' })).data.name, 'kw')
})

run.close()
