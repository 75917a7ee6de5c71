// The client hashi-vault-js for Node.js, unmodified, against a real server.
import { strict as assert } from 'node:assert'
import { hostname } from 'node:os'
import { after, before } from 'node:test'
import Vault from 'hashi-vault-js'
import { api } from '../../fixtures/server-process.ts'
import { ClientRun } from './client-run.ts'
import { type OpenServer, openServer } from './new-server.ts'

const POLICY = 'path "transit/encrypt/kw" { capabilities = ["update"] }'
const OFFERED = Object.getOwnPropertyNames(Vault.prototype).filter((name) => name !== 'constructor')

// biome-ignore lint/suspicious/noExplicitAny: the client's own types leave open what each call answers
type Client = any

/** Of itself the client waits for a second: too short where many tests share a machine. */
const TIMEOUT_MS = 120_000

const run = new ClientRun({ name: 'hashi-vault-js', language: 'JavaScript', offered: OFFERED })

let server: OpenServer
let vault: Client
let root: string

before(async () => {
  server = await openServer()
  root = server.token
  vault = clientWith({ timeout: TIMEOUT_MS })
  await setUp('sys/policies/acl/encryptor', { policy: POLICY })
  await setUp('sys/auth/userpass', { type: 'userpass' })
  await setUp('sys/auth/approle', { type: 'approle' })
  await setUp('auth/approle/role/app', { token_policies: ['encryptor'], token_ttl: '10m' })
})
after(() => server.end())

function clientWith(settings: object): Client {
  return run.watch(new Vault({ baseUrl: `${server.address}/v1`, ...settings }))
}

/** What the client has no call for. */
async function setUp(path: string, body: object): Promise<void> {
  assert.ok((await api(server, 'POST', path, body)).status < 300, path)
}

function isRefusal(status: number): (error: unknown) => boolean {
  return (error) => {
    const { isVaultError, response } = error as { isVaultError?: boolean; response: { status: number; data: unknown } }
    assert.equal(isVaultError, true, String(error))
    assert.equal(response.status, status, JSON.stringify(response.data))
    return true
  }
}

run.flow('status and health, within the second that it waits of itself', async () => {
  const impatient = clientWith({})
  assert.equal((await impatient.sealStatus()).sealed, false)
  const health = await impatient.healthCheck({ standbyok: true })
  assert.deepEqual([health.initialized, health.sealed], [true, false])
})

run.flow('capabilities', async () => {
  const { client_token: token } = await vault.createToken(root, { policies: ['encryptor'] })
  const paths = ['transit/encrypt/kw', 'transit/decrypt/kw']
  for (const asked of [
    await vault.sysCapabilities(root, token, paths),
    await vault.sysCapabilitiesSelf(token, paths),
  ]) {
    assert.deepEqual([asked['transit/encrypt/kw'], asked['transit/decrypt/kw']], [['update'], ['deny']])
  }
})

run.flow('tokens', async () => {
  const made = await vault.createToken(root, { policies: ['encryptor'], ttl: '1h', meta: { team: 'a' } })
  assert.deepEqual(made.policies, ['default', 'encryptor'])
  const { client_token: token, accessor } = made
  assert.deepEqual((await vault.lookupToken(root, token)).meta, { team: 'a' })
  assert.equal((await vault.lookupSelfToken(token)).id, token)
  assert.equal((await vault.renewToken(root, token, '2h')).lease_duration, 7200)
  assert.equal((await vault.renewSelfToken(token, '3h')).lease_duration, 10800)
  assert.ok((await vault.listAccessors(root)).keys.includes(accessor))
  assert.equal((await vault.lookupAccessor(root, accessor)).id, '')
  // It sends an increment of null where none is given.
  assert.equal((await vault.renewAccessor(root, accessor)).lease_duration, 3600)
  await vault.revokeAccessor(root, accessor)
  await assert.rejects(vault.lookupSelfToken(token), isRefusal(403))
})

run.flow('the end of a token, batch tokens', async () => {
  const { client_token: one } = await vault.createToken(root, { policies: ['encryptor'] })
  assert.equal((await vault.revokeToken(root, one)).status, 204)
  const { client_token: two } = await vault.createToken(root, { policies: ['encryptor'] })
  await vault.revokeSelfToken(two)
  for (const token of [one, two]) await assert.rejects(vault.lookupSelfToken(token), isRefusal(403))
  const batch = await vault.createToken(root, { policies: ['encryptor'], type: 'batch', ttl: '5m', renewable: false })
  assert.deepEqual([batch.token_type, batch.accessor], ['batch', ''])
})

run.flow('users, and login by name and password', async () => {
  await vault.createUserpassUser(root, 'ann', 'correct horse', ['encryptor'])
  assert.deepEqual((await vault.readUserpassUser(root, 'ann')).policies, ['encryptor'])
  const { client_token: token, metadata } = await vault.loginWithUserpass('ann', 'correct horse')
  assert.deepEqual(metadata, { username: 'ann' })
  assert.equal((await vault.lookupSelfToken(token)).display_name, 'userpass-ann')
  await vault.updateUserpassPassword(root, 'ann', 'another one')
  await vault.updateUserpassPolicies(root, 'ann', ['default'])
  await assert.rejects(vault.loginWithUserpass('ann', 'correct horse'), isRefusal(400))
  assert.deepEqual((await vault.loginWithUserpass('ann', 'another one')).policies, ['default'])
  await vault.updateUserpassUser(root, 'ann', 'a third one', ['encryptor'])
  assert.deepEqual((await vault.listUserpassUsers(root)).keys, ['ann'])
  await vault.deleteUserpassUser(root, 'ann')
  await assert.rejects(vault.readUserpassUser(root, 'ann'), isRefusal(404))
})

run.flow('secret ids of an approle, and login with them', async () => {
  const roleId = (await api(server, 'GET', 'auth/approle/role/app/role-id')).body.data?.role_id
  const { secret_id: secret, secret_id_accessor } = await vault.generateAppRoleSecretId(root, 'app', '{"team":"a"}')
  assert.equal((await vault.readAppRoleSecretId(root, 'app', secret)).secret_id_accessor, secret_id_accessor)
  const { policies, metadata } = await vault.loginWithAppRole(roleId, secret)
  assert.deepEqual([policies, metadata.team], [['default', 'encryptor'], 'a'])
  await vault.destroyAppRoleSecretId(root, 'app', secret)
  await assert.rejects(vault.loginWithAppRole(roleId, secret), isRefusal(400))
})

run.flow('namespaces: all of it once in `team/a`', async () => {
  await setUp('sys/namespaces/team', {})
  await setUp('team/sys/namespaces/a', {})
  await setUp('team/a/sys/policies/acl/inner', { policy: POLICY })
  await setUp('team/a/sys/auth/userpass', { type: 'userpass' })
  const inner = clientWith({ timeout: TIMEOUT_MS, namespace: 'team/a' })
  assert.equal((await inner.sealStatus()).sealed, false)
  await inner.createUserpassUser(root, 'ann', 'correct horse', ['inner'])
  await assert.rejects(vault.readUserpassUser(root, 'ann'), isRefusal(404))
  const { client_token: token, policies } = await inner.loginWithUserpass('ann', 'correct horse')
  assert.deepEqual(policies, ['default', 'inner'])
  assert.equal((await inner.lookupSelfToken(token)).namespace_path, 'team/a/')
  const paths = ['transit/encrypt/kw', 'transit/decrypt/kw']
  const asked = await inner.sysCapabilitiesSelf(token, paths)
  assert.deepEqual([asked['transit/encrypt/kw'], asked['transit/decrypt/kw']], [['update'], ['deny']])
  await assert.rejects(vault.sysCapabilitiesSelf(token, paths), isRefusal(403))
  const made = await inner.createToken(root, { policies: ['inner'], ttl: '10m' })
  assert.ok((await inner.listAccessors(root)).keys.includes(made.accessor))
  assert.equal((await vault.listAccessors(root)).keys.includes(made.accessor), false)
})

run.flow('host information, counters', async () => {
  const { host, memory } = await vault.sysHostInfo(root)
  assert.equal(host.hostname, hostname())
  assert.ok(memory.total > 0)
  assert.ok((await vault.sysInternalCounters(root, 'requests')).counters[0].total > 0)
  assert.ok((await vault.sysInternalCounters(root, 'tokens')).counters.service_tokens.total > 0)
  await api(server, 'POST', 'identity/entity', { name: 'counted' })
  assert.ok((await vault.sysInternalCounters(root, 'entities')).counters.entities.total > 0)
})

run.flow('metrics', async () => {
  const { Counters } = await vault.sysMetrics(root)
  assert.ok(Counters.length > 0)
})

/** Calls of an engine or a login method that is not here: one is made. 403: it sends no token. */
const ABSENT = [
  { what: 'login by LDAP', calls: /ldap/i, probe: () => vault.listLdapUsers(root) },
  { what: 'login by Kubernetes', calls: /k8s/i, probe: () => vault.listK8sRoles(root) },
  { what: 'login by certificate', calls: /^loginWithCert$/, probe: () => vault.loginWithCert('name'), status: 403 },
  { what: 'the KV engine', calls: /KV/, probe: () => vault.listKVSecrets(root, '') },
  { what: 'the PKI engine', calls: /Pki|CA|Certificate|Crl/, probe: () => vault.listPkiRoles(root) },
  { what: 'the Active Directory engine', calls: /AD[A-Z]/, probe: () => vault.listADRoles(root) },
  { what: 'the TOTP engine', calls: /TOTP/, probe: () => vault.readTOTPKey(root, 'name') },
]
for (const { what, calls, probe, status = 404 } of ABSENT) {
  const excuse = { note: 'not here', standsFor: OFFERED.filter((name) => calls.test(name)) }
  run.notOffered(what, excuse, () => assert.rejects(probe(), isRefusal(status)))
}

run.flow('seal and unseal', async () => {
  await vault.sysSeal(root)
  assert.equal((await vault.sealStatus()).sealed, true)
  await assert.rejects(vault.healthCheck(), isRefusal(503))
  assert.equal((await vault.sysUnseal(root, server.unsealKey, false, false)).sealed, false)
})

run.close()
