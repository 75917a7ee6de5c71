// The thread of the links to other clusters in the life of a server: there from its start, whatever the seal does, and
// ended before the thread that writes.
import { strict as assert } from 'node:assert'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { api, type RunningProcess, startConfigured, temporaryDirectory } from '../../fixtures/server-process.ts'

/** How many threads of this name the process has: proc(5), comm. */
function threadsNamed(pid: number, name: string): number {
  const names = readdirSync(`/proc/${pid}/task`).map((id) => readFileSync(`/proc/${pid}/task/${id}/comm`, 'latin1'))
  return names.filter((each) => each.trim() === name).length
}

test('a server starts, is unsealed, sealed and stopped with the thread of its links', async (context) => {
  const { path, cleanUp } = temporaryDirectory()
  const config = join(path, 'server.hcl')
  writeFileSync(
    config,
    `storage "sqlite" { path = "${path}/data" }\nlistener "tcp" {\n address = "127.0.0.1:0"\n tls_disable = true\n}`,
  )
  const server: RunningProcess = await startConfigured(config)
  context.after(async () => {
    await server.kill()
    cleanUp()
  })
  assert.equal(threadsNamed(server.pid, 'linking'), 1)
  const made = await api({ ...server, token: '' }, 'POST', 'sys/init', { secret_shares: 1, secret_threshold: 1 })
  const { keys, root_token: token } = made.body as unknown as { readonly keys: string[]; readonly root_token: string }
  const caller = { address: server.address, token }
  assert.equal((await api(caller, 'PUT', 'sys/unseal', { key: keys[0] })).body.sealed, false)
  assert.equal((await api(caller, 'GET', 'sys/mounts')).status, 200)
  assert.equal((await api(caller, 'PUT', 'sys/seal')).status, 204)
  assert.equal((await api(caller, 'PUT', 'sys/unseal', { key: keys[0] })).body.sealed, false)
  assert.equal(threadsNamed(server.pid, 'linking'), 1)
  assert.equal(await server.stop(), 0)
  assert.doesNotMatch(server.output(), / (?:error|warn) +linking /)
})
