// The data directory of an earlier server opens in this one: every ciphertext decrypts, every token, policy, mount and
// key is as it was. A directory that was committed is never made anew; a new format adds another.
import { strict as assert } from 'node:assert'
import { chmodSync, cpSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { api, PROJECT, startServerProcess, temporaryDirectory } from '../fixtures/server-process.ts'

type Expected = {
  readonly plaintext: string
  readonly policy: string
  readonly token: string
  readonly rows: readonly { readonly path: string; readonly ciphertext: string; readonly options: object }[]
  readonly reads: Readonly<Record<string, object>>
}

const fixtures = join(PROJECT, 'test/fixtures')
const directories = readdirSync(fixtures).filter((name) => name.startsWith('data-v'))

test('there is at least one directory of an earlier server', () => {
  assert.notEqual(directories.length, 0)
})

for (const name of directories) {
  test(`S-05: ${name} opens, and everything in it is as it was`, async (context) => {
    const expected: Expected = JSON.parse(readFileSync(join(fixtures, name, 'expected.json'), 'utf8'))
    const copy = temporaryDirectory()
    context.after(copy.cleanUp)
    const data = join(copy.path, 'data')
    cpSync(join(fixtures, name), data, { recursive: true })
    // What git does not keep, and the server asks for.
    chmodSync(data, 0o700)
    for (const file of readdirSync(data)) chmodSync(join(data, file), 0o600)
    const server = await startServerProcess({ directory: data, token: 'fixture-root' })
    context.after(() => server.stop())
    for (const { path, ciphertext, options } of expected.rows) {
      const { status, body } = await api(server, 'POST', path, { ciphertext, ...options }, expected.token)
      assert.deepEqual([status, body.data], [200, { plaintext: expected.plaintext }], path)
    }
    for (const [path, data] of Object.entries(expected.reads)) {
      assert.deepEqual((await api(server, 'GET', path)).body.data, data, path)
    }
    assert.equal((await api(server, 'GET', 'sys/policies/acl/decrypt')).body.data?.policy, expected.policy)
    const { body } = await api(server, 'GET', 'auth/token/lookup-self', undefined, expected.token)
    assert.deepEqual(body.data?.meta, { made: 'by the fixture' })
    // And it can be written on.
    assert.equal((await api(server, 'POST', 'transit/keys/aes256-gcm96-plain/rotate')).body.data?.latest_version, 3)
  })
}
