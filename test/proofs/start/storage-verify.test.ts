// `keywright storage verify` on the data of a real server: beside it, after a kill, and on damage.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { PROJECT, startServerProcess, temporaryDirectory } from '../../fixtures/server-process.ts'

type Result = { readonly status: number | null; readonly stdout: string; readonly stderr: string }

function verify(directory: string, args: readonly string[] = [], input = ''): Result {
  const command = [join(PROJECT, 'src/main.ts'), 'storage', 'verify', '-data', directory, ...args]
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { input, encoding: 'utf8' })
  return { status, stdout, stderr }
}

test('storage verify finds no fault beside a server, nor after its kill, and then the one that was made', async (t) => {
  const { path, cleanUp } = temporaryDirectory()
  t.after(cleanUp)
  const directory = join(path, 'data')
  const server = await startServerProcess({ directory })
  const send = async (method: string, to: string, body: object): Promise<void> => {
    const headers = { 'X-Vault-Token': server.token }
    const answer = await fetch(`${server.address}/v1/${to}`, { method, headers, body: JSON.stringify(body) })
    assert.ok(answer.ok, `${to}: ${answer.status}`)
  }
  await send('POST', 'sys/mounts/transit', { type: 'transit' })
  for (const name of ['a', 'b', 'c']) await send('POST', `transit/keys/${name}`, {})
  const beside = verify(directory)
  assert.equal(beside.stderr, '')
  assert.match(beside.stdout, /a server has the store open\n.*: no fault in \d+ entries and \d+ log records/)
  assert.equal(beside.status, 0)
  await send('POST', 'transit/keys/d', {})
  await server.kill()
  const after = verify(directory, ['-format=json'])
  assert.equal(after.status, 0, after.stdout + after.stderr)
  const report = JSON.parse(after.stdout)
  assert.deepEqual([report.findings, report.unchecked], [[], []])

  const database = new DatabaseSync(join(directory, 'keywright.db'))
  const [one, two] = database.prepare("SELECT key, value FROM data WHERE key LIKE '%/key/%' ORDER BY key").all()
  assert.ok(one !== undefined && two !== undefined)
  const update = database.prepare('UPDATE data SET value = ? WHERE key = ?')
  update.run(one.value as Uint8Array, two.key as string)
  update.run(two.value as Uint8Array, one.key as string)
  database.close()
  const damaged = verify(directory)
  assert.equal(damaged.status, 1)
  for (const { key } of [one, two]) assert.ok(damaged.stdout.includes(`Entry ${key} does not open`), damaged.stdout)
})

test('storage verify takes the unseal key from standard input, and says why it could not judge', async (t) => {
  const { path, cleanUp } = temporaryDirectory()
  t.after(cleanUp)
  const directory = join(path, 'data')
  const server = await startServerProcess({ directory })
  const key = /Unseal Key: (\S+)/.exec(server.output())?.[1] ?? ''
  await server.stop()
  const opened = verify(directory, ['-unseal-key'], `${key}\n`)
  assert.deepEqual([opened.status, opened.stderr], [0, ''])
  assert.doesNotMatch(opened.stdout, /Not checked/)
  for (const [input, says] of [
    ['', /needs 1 unseal keys, 0 were given/],
    ['nonsense\n', /neither hexadecimal nor base64/],
    [`${Buffer.alloc(32, 1).toString('base64')}\n`, /do not unseal this store/],
  ] as const) {
    const refused = verify(directory, ['-unseal-key'], input)
    assert.match(refused.stderr, says)
    assert.deepEqual([refused.status, refused.stdout], [2, ''])
    assert.ok(!refused.stderr.includes('nonsense'))
  }
  const nowhere = verify(join(path, 'nowhere'))
  assert.equal(nowhere.status, 2)
  assert.match(nowhere.stderr, /nowhere is missing/)
})
