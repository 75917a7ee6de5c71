// The server of somebody who never asked for devices: nothing of them is installed.
import { strict as assert } from 'node:assert'
import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { api, PROJECT, temporaryDirectory, watchServer } from '../../fixtures/server-process.ts'

test('without pkcs11js the server starts, says so, and refuses managed keys alone', async (context) => {
  const temporary = temporaryDirectory()
  const copy = join(temporary.path, 'keywright')
  mkdirSync(copy)
  for (const name of ['src', 'bin', 'package.json', 'native/pkcs11/package.json']) {
    cpSync(join(PROJECT, name), join(copy, name), { recursive: true })
  }
  symlinkSync(join(PROJECT, 'node_modules'), join(copy, 'node_modules'))
  const config = join(temporary.path, 'server.hcl')
  writeFileSync(
    config,
    `listener "tcp" { address = "127.0.0.1:0", tls_disable = true }
     storage "sqlite" { path = ${JSON.stringify(join(temporary.path, 'data'))} }
     kms_library "pkcs11" { name = "hsm", library = "/usr/lib/softhsm/libsofthsm2.so" }`,
  )
  const server = await watchServer(spawn(join(copy, 'bin/keywright'), ['server', '-config', config]))
  context.after(async () => {
    await server.stop()
    temporary.cleanUp()
  })
  const missing = /pkcs11js is not installed: run `npm run add:pkcs11` where the server is installed/
  assert.match(server.output(), missing)

  const { body } = await api(server, 'POST', 'sys/init', { secret_shares: 1, secret_threshold: 1 })
  const made = body as unknown as { keys: string[]; root_token: string }
  const caller = { address: server.address, token: made.root_token }
  await api(caller, 'POST', 'sys/unseal', { key: made.keys[0] })
  await api(caller, 'POST', 'sys/mounts/transit', { type: 'transit' })
  const key = { library: 'hsm', token_label: 't', key_label: 'k', mechanism: '0x1087', any_mount: true }
  assert.equal((await api(caller, 'POST', 'sys/managed-keys/pkcs11/k', key)).status, 204)
  const refused = await api(caller, 'POST', 'transit/keys/a', { type: 'managed_key', managed_key_name: 'k' })
  assert.deepEqual([refused.status, missing.test(JSON.stringify(refused.body))], [502, true])
  assert.equal((await api(caller, 'POST', 'transit/keys/b', {})).status, 200)
})
