// A server that opens itself, as a process: over restarts, and with a key that is not the right one.
import { strict as assert } from 'node:assert'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { api, startConfigured, temporaryDirectory } from '../../fixtures/server-process.ts'

test('a server with a static key is open after a restart, and sealed where the key is wrong', async (context) => {
  const directory = temporaryDirectory()
  context.after(() => directory.cleanUp())
  const [config, key] = [join(directory.path, 'server.hcl'), join(directory.path, 'key')]
  const storage = `storage "sqlite" { path = "${directory.path}/data" }\n`
  const seal = `seal "static" {\n current_key_id = "a"\n current_key = "file://${key}"\n}\n`
  writeFileSync(config, `listener "tcp" { address = "127.0.0.1:0", tls_disable = true }\n${storage}${seal}`)
  writeFileSync(key, Buffer.alloc(32, 1))
  const first = await startConfigured(config)
  context.after(() => first.stop())
  const made = await api(first, 'PUT', 'sys/init', { recovery_shares: 1, recovery_threshold: 1 })
  const token = String(made.body.root_token)
  assert.equal((await api({ ...first, token }, 'POST', 'sys/rotate')).status, 204)
  await first.stop()

  const second = await startConfigured(config)
  context.after(() => second.stop())
  const { body } = await api({ ...second, token }, 'GET', 'sys/key-status')
  assert.equal(body.term, 2)
  // An orderly end keeps the count as it was.
  assert.ok(Number(body.encryptions) < 100, String(body.encryptions))
  await second.stop()

  writeFileSync(key, Buffer.alloc(32, 2))
  const third = await startConfigured(config)
  context.after(() => third.stop())
  assert.equal((await api(third, 'GET', 'sys/seal-status')).body.sealed, true)
  assert.equal((await api({ ...third, token }, 'GET', 'sys/mounts')).status, 503)
  const said = third.output()
  assert.match(said, /The server stays sealed\. The static key "a" is not the one that this store was sealed with/)
})
