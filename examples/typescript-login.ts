// Logs in a person with a password, and a machine with a secret id that only it has seen. Each may only encrypt.
import { Keywright } from 'keywright/client'

const { VAULT_ADDR: address = 'http://127.0.0.1:8200', VAULT_TOKEN: token } = process.env
const admin = new Keywright({ address, token })
const name = 'example-notes'
const policies = [name]
const policy = `path "transit/encrypt/${name}" { capabilities = ["update"] }`
if (!('transit/' in (await admin.read('sys/mounts')))) {
  await admin.write('sys/mounts/:path...', { path: 'transit', type: 'transit' })
}
await admin.write('transit/keys/:name', { name })
await admin.write('sys/policies/acl/:name...', { name, policy })
const mounts = await admin.read('sys/auth')
for (const type of ['userpass', 'approle']) {
  if (!(`${type}/` in mounts)) await admin.write('sys/auth/:path...', { path: type, type })
}

// A person. Before a login there is no token.
const anyone = admin.with({ token: undefined })
const [username, password] = ['example-kim', crypto.randomUUID()]
await admin.write('auth/userpass/users/:username', { username, password, token_policies: policies, token_ttl: '1h' })
const login = await anyone.write('auth/userpass/login/:username', { username, password })
const kim = anyone.with({ token: login.client_token })
await kim.write('transit/encrypt/:name', { name, plaintext: btoa('from kim') })
console.log(`${login.metadata?.username} is in for ${login.lease_duration} seconds`)

// A machine. It is handed a token that opens once: if that is spent already, another caller has opened it.
const role_name = 'example-ci'
await admin.write('auth/approle/role/:role_name', { role_name, token_policies: policies, secret_id_num_uses: 1 })
const { role_id } = await admin.read('auth/approle/role/:role_name/role-id', { role_name })
const wrapped = await admin.wrapping('5m').write('auth/approle/role/:role_name/secret-id', { role_name })

const { data } = await anyone.unwrap<{ secret_id: string }>(wrapped.token)
const { client_token } = await anyone.write('auth/approle/login', { role_id, secret_id: data.secret_id })
const ci = anyone.with({ token: client_token })
await ci.write('transit/encrypt/:name', { name, plaintext: btoa('from ci') })
const { allowed } = await ci.write('sys/policies/explain-self', {
  path: `transit/decrypt/${name}`,
  operation: 'update',
})
console.log(`the machine may decrypt: ${allowed}`)
await ci.write('auth/token/revoke-self')
