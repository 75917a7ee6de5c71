// The data directory of an earlier server opens in this one: every ciphertext decrypts, every token, policy, mount and
// key is as it was. A directory that was committed is never made anew; a new format adds another.
import { strict as assert } from 'node:assert'
import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { runClient } from '../../fixtures/cli-run.ts'
import {
  api,
  PROJECT,
  type ServerProcess,
  startServerProcess,
  temporaryDirectory,
} from '../../fixtures/server-process.ts'

type Expected = {
  readonly plaintext: string
  readonly policy: string
  readonly token: string
  readonly rows: readonly { readonly path: string; readonly ciphertext: string; readonly options: object }[]
  readonly reads: Readonly<Record<string, object>>
}

const fixtures = join(PROJECT, 'test/fixtures')
const directories = readdirSync(fixtures).filter((name) => name.startsWith('data-v'))
const snapshots = readdirSync(fixtures).filter((name) => name.startsWith('snapshot-v'))

test('there is at least one directory, and one snapshot, of an earlier server', () => {
  assert.notEqual(directories.length, 0)
  assert.notEqual(snapshots.length, 0)
})

/** Every ciphertext decrypts, and what is read is as it was. */
async function requireAsItWas(server: ServerProcess, expected: Expected): Promise<void> {
  for (const { path, ciphertext, options } of expected.rows) {
    const { status, body } = await api(server, 'POST', path, { ciphertext, ...options }, expected.token)
    assert.deepEqual([status, body.data], [200, { plaintext: expected.plaintext }], path)
  }
  for (const [path, data] of Object.entries(expected.reads)) {
    // What is counted since is no part of what was stored then.
    const { encryption_counts: _, ...read } =
      (await api(server, 'GET', path, undefined, expected.token)).body.data ?? {}
    assert.deepEqual(read, data, path)
  }
}

/** A server on a copy of the directory, with what git does not keep, and the server asks for. */
async function startCopyOf(context: TestContext, name: string): Promise<ServerProcess> {
  const copy = temporaryDirectory()
  context.after(copy.cleanUp)
  const data = join(copy.path, 'data')
  cpSync(join(fixtures, name), data, { recursive: true })
  chmodSync(data, 0o700)
  for (const file of readdirSync(data)) chmodSync(join(data, file), 0o600)
  const server = await startServerProcess({ directory: data, token: 'fixture-root' })
  context.after(() => server.stop())
  return server
}

async function restore(server: ServerProcess, snapshot: Buffer, query: string) {
  const answer = await fetch(`${server.address}/v1/sys/storage/snapshot${query}`, {
    method: 'POST',
    headers: { 'X-Vault-Token': server.token },
    body: new Uint8Array(snapshot),
  })
  return { status: answer.status, text: await answer.text() }
}

for (const name of snapshots) {
  test(`P-10, Q-24: ${name} is restored by this server, and everything in it is as it was`, async (context) => {
    const folder = join(fixtures, name)
    const expected: Expected = JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8'))
    const fresh = temporaryDirectory()
    context.after(fresh.cleanUp)
    const server = await startServerProcess({ directory: join(fresh.path, 'data') })
    context.after(() => server.stop())
    const { status, text } = await restore(server, readFileSync(join(folder, 'keywright.snapshot')), '?force=true')
    assert.equal(status, 200, text)
    const key = readFileSync(join(folder, 'unseal-key'), 'utf8').trim()
    assert.equal((await api(server, 'PUT', 'sys/unseal', { key })).body.sealed, false)
    await requireAsItWas(server, expected)
  })

  test(`P-10: ${name} is restored by an upgraded server of its cluster, and only as it is`, async (context) => {
    const folder = join(fixtures, name)
    const file = join(folder, 'keywright.snapshot')
    const expected: Expected = JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8'))
    const key = readFileSync(join(folder, 'unseal-key'), 'utf8').trim()
    const inspected = await runClient(['operator', 'snapshot', 'inspect', '-format=json', file])
    const { entries } = JSON.parse(inspected.stdout)
    const server = await startCopyOf(context, name.replace('snapshot', 'data'))
    const snapshot = readFileSync(file)
    for (const query of ['', '?force=true']) {
      assert.equal((await api(server, 'PUT', 'sys/policies/acl/later', { policy: expected.policy })).status, 204)
      const damaged = snapshot.with(snapshot.length - 100, (snapshot.at(-100) ?? 0) ^ 1)
      assert.equal((await restore(server, Buffer.from(damaged), query)).status, 400)
      assert.equal((await api(server, 'GET', 'sys/policies/acl/later')).status, 200)
      const { status, text } = await restore(server, snapshot, query)
      assert.equal(status, 200, text)
      const { data } = JSON.parse(text)
      assert.deepEqual([data.seal_checked, data.entries], [true, entries])
      assert.equal((await api(server, 'PUT', 'sys/unseal', { key })).body.sealed, false)
      assert.equal((await api(server, 'GET', 'sys/policies/acl/later')).status, 404)
      await requireAsItWas(server, expected)
    }
    await server.stop()
    const command = [join(PROJECT, 'src/main.ts'), 'storage', 'verify', '-data', server.directory]
    const verified = spawnSync(process.execPath, command, { encoding: 'utf8' })
    assert.equal(verified.status, 0, verified.stdout + verified.stderr)
  })
}

for (const name of directories) {
  test(`S-05, P-68, Q-24: ${name} opens, and everything in it is as it was`, async (context) => {
    const expected: Expected = JSON.parse(readFileSync(join(fixtures, name, 'expected.json'), 'utf8'))
    const server = await startCopyOf(context, name)
    await requireAsItWas(server, expected)
    assert.equal((await api(server, 'GET', 'sys/policies/acl/decrypt')).body.data?.policy, expected.policy)
    const { body } = await api(server, 'GET', 'auth/token/lookup-self', undefined, expected.token)
    assert.deepEqual(body.data?.meta, { made: 'by the fixture' })
    // And it can be written on.
    assert.equal((await api(server, 'POST', 'transit/keys/aes256-gcm96-plain/rotate')).body.data?.latest_version, 3)
  })
}
