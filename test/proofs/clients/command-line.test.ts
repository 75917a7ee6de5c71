// The command line against a real server: what one command leaves, the next one finds.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type Ran, runClient } from '../../fixtures/cli-run.ts'
import { type ServerProcess, startServerProcess, temporaryDirectory } from '../../fixtures/server-process.ts'

const home = temporaryDirectory()
let server: ServerProcess
before(async () => {
  server = await startServerProcess()
})
after(async () => {
  await server.stop()
  home.cleanUp()
})

function keywright(words: string, token?: string): Promise<Ran> {
  const env = { VAULT_ADDR: server.address, HOME: home.path, ...(token === undefined ? {} : { VAULT_TOKEN: token }) }
  return runClient(words.split(' '), { env })
}

async function printed(words: string, token?: string): Promise<string> {
  const { code, stdout, stderr } = await keywright(words, token)
  assert.deepEqual([code, stderr], [0, ''], words)
  return stdout
}

test('command line: a walk from the login to a token that may do one thing', async () => {
  const loggedIn = await printed(`login ${server.token}`)
  assert.match(loggedIn, /^policies +\[root\]$/m)
  assert.equal(await printed('print token'), `${server.token}\n`)

  const enabled = 'Success! Enabled the transit secrets engine at: team/kms/\n'
  assert.equal(await printed('secrets enable -path=team/kms -default-lease-ttl=1h transit'), enabled)
  assert.match(await printed('secrets list'), /^team\/kms\/ +transit +transit_\w{8} +n\/a$/m)
  assert.equal(JSON.parse(await printed('secrets list -format=json'))['team/kms/'].config.default_lease_ttl, 3600)
  await printed('write -f team/kms/keys/orders')

  const file = join(home.path, 'orders.hcl')
  writeFileSync(file, 'path "team/kms/encrypt/orders" {\ncapabilities=["update"]\n}')
  await printed(`policy fmt ${file}`)
  assert.equal(await printed(`policy write orders ${file}`), 'Success! Uploaded policy: orders\n')
  const formatted = 'path "team/kms/encrypt/orders" {\n  capabilities = ["update"]\n}\n'
  assert.equal(await printed('policy read orders'), formatted)
  assert.equal(await printed('policy list'), 'default\norders\nroot\n')

  const app = await printed('token create -policy=orders -ttl=10m -field=token')
  assert.equal(await printed('token capabilities team/kms/encrypt/orders', app), 'update\n')
  assert.equal(await printed(`token capabilities ${app} team/kms/keys/orders`), 'deny\n')
  assert.match(await printed('token lookup', app), /^creation_ttl +10m$/m)
  const encrypted = await printed('write -field=ciphertext team/kms/encrypt/orders plaintext=YQ==', app)
  assert.match(encrypted, /^vault:v1:/)

  const denied = await keywright(`write team/kms/decrypt/orders ciphertext=${encrypted}`, app)
  assert.equal(denied.code, 2)
  assert.match(denied.stderr, /permission denied/)

  await printed('token renew', app)
  assert.equal(await printed('token revoke -self', app), 'Success! Revoked token (if it existed)\n')
  assert.equal((await keywright('token lookup', app)).code, 2)

  const offered = await printed('completion candidates -- policy read o')
  assert.equal(offered, 'orders\n')
  assert.equal(await printed('policy delete orders'), 'Success! Deleted policy: orders\n')
  assert.equal((await keywright('policy read orders')).stderr, 'No policy named: orders\n')
  await printed('secrets disable team/kms')
  assert.doesNotMatch(await printed('secrets list'), /team/)
})
