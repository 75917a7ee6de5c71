// A development server whose unseal key was changed opens itself all the same, whenever it was stopped.
import { strict as assert } from 'node:assert'
import { spawnSync } from 'node:child_process'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import {
  api,
  PROJECT,
  type ServerProcess,
  startServerProcess,
  temporaryDirectory,
} from '../../fixtures/server-process.ts'

/** Started before; each is given the same directory. */
function stage(t: TestContext) {
  const { path, cleanUp } = temporaryDirectory()
  const directory = join(path, 'data')
  t.after(cleanUp)
  const start = async (): Promise<ServerProcess> => {
    const server = await startServerProcess({ directory })
    t.after(() => server.stop())
    return server
  }
  const file = join(directory, 'development-keys.json')
  const keys = (): Record<string, string | undefined> => JSON.parse(readFileSync(file, 'utf8'))
  return { directory, start, file, keys }
}

const unsealKey = (server: ServerProcess): string => /Unseal Key: (.+)/.exec(server.output())?.[1] ?? ''

async function rekey(server: ServerProcess, shares: number, threshold: number): Promise<readonly string[]> {
  const started = await api(server, 'PUT', 'sys/rekey/init', { secret_shares: shares, secret_threshold: threshold })
  const given = { key: unsealKey(server), nonce: started.body.nonce }
  const { status, body } = await api(server, 'PUT', 'sys/rekey/update', given)
  assert.equal(status, 200, JSON.stringify(body))
  return body.keys_base64 as string[]
}

test('it opens itself after a rekey, into one share and into several; the new shares open it too', async (t) => {
  const { directory, start, keys, file } = stage(t)
  const first = await start()
  const old = unsealKey(first)
  const [only = ''] = await rekey(first, 1, 1)
  assert.deepEqual([keys().unseal_key, keys().next_unseal_key], [only, undefined])
  assert.equal(statSync(file).mode & 0o777, 0o600)
  await first.kill()
  const second = await start()
  assert.equal(unsealKey(second), only)
  assert.notEqual(only, old)
  const shares = await rekey(second, 3, 2)
  await second.kill()
  const third = await start()
  assert.match(unsealKey(third), /not stored here: a rekey/)
  assert.equal((await api(third, 'GET', 'sys/mounts')).status, 200)
  await api(third, 'PUT', 'sys/seal')
  await api(third, 'PUT', 'sys/unseal', { key: shares[0] })
  assert.equal((await api(third, 'PUT', 'sys/unseal', { key: shares[2] })).body.sealed, false)
  await third.stop()
  const verify = [join(PROJECT, 'src/main.ts'), 'storage', 'verify', '-data', directory]
  const verified = spawnSync(process.execPath, verify, { encoding: 'utf8' })
  assert.deepEqual([verified.status, verified.stderr], [0, ''])
  assert.match(verified.stdout, /no fault/)
  assert.doesNotMatch(verified.stdout, /no unseal key was given/)
})

test('stopped when file or store alone had the new key, it opens itself', async (t) => {
  const { start, file, keys } = stage(t)
  const first = await start()
  const old = unsealKey(first)
  const token = 'root'
  const write = (unseal: string, next: string): void =>
    writeFileSync(file, JSON.stringify({ unseal_key: unseal, next_unseal_key: next, root_token: token }))
  await first.stop()
  // The store has the old key still.
  write(old, Buffer.alloc(32, 7).toString('base64'))
  const second = await start()
  assert.deepEqual([unsealKey(second), keys().unseal_key, keys().next_unseal_key], [old, old, undefined])
  const [only = ''] = await rekey(second, 1, 1)
  await second.stop()
  // The store has the new key already.
  write(old, only)
  const third = await start()
  assert.deepEqual([unsealKey(third), keys().unseal_key, keys().next_unseal_key], [only, only, undefined])
})

test('a snapshot of before a rekey: unsealed once with the key of its day, it opens itself again', async (t) => {
  const { start, keys } = stage(t)
  const first = await start()
  const old = unsealKey(first)
  const headers = { 'X-Vault-Token': first.token }
  const url = `${first.address}/v1/sys/storage/snapshot`
  const snapshot = await (await fetch(url, { headers })).arrayBuffer()
  const [only = ''] = await rekey(first, 1, 1)
  assert.equal((await fetch(url, { method: 'POST', headers, body: snapshot })).status, 200)
  assert.equal((await api(first, 'PUT', 'sys/unseal', { key: only })).status, 400)
  assert.equal(keys().unseal_key, only)
  assert.equal((await api(first, 'PUT', 'sys/unseal', { key: old })).body.sealed, false)
  await first.stop()
  const second = await start()
  assert.deepEqual([unsealKey(second), keys().unseal_key], [old, old])
  assert.equal((await api(second, 'GET', 'sys/mounts')).status, 200)
})
