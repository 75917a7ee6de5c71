import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { startMemoryServer } from '../../../test/fixtures/memory-server.ts'

test('there is no sys/raw where the configuration does not ask for it', async () => {
  const { call } = await startMemoryServer()
  for (const [method, path] of [
    ['LIST', 'sys/raw'],
    ['GET', 'sys/raw/core/cluster'],
    ['POST', 'sys/raw/core/cluster'],
    ['DELETE', 'sys/raw/core/cluster'],
  ] as const) {
    const { status, body } = await call(method, path, method === 'POST' ? { value: 'x' } : undefined)
    assert.deepEqual([status, body], [404, { errors: ['unsupported path'] }], `${method} ${path}`)
  }
})

test('entries are listed, read, replaced and removed, and the server takes the change over at once', async () => {
  const { call } = await startMemoryServer({ facts: { rawStorage: true } })
  await call('POST', 'sys/policies/acl/p', { policy: 'path "a" { capabilities = ["read"] }' })
  assert.deepEqual((await call('LIST', 'sys/raw')).body.data?.keys, ['core/', 'sys/'])
  assert.deepEqual((await call('LIST', 'sys/raw/sys/policy')).body.data?.keys, ['p'])
  const entry = JSON.parse(String((await call('GET', 'sys/raw/sys/policy/p')).body.data?.value))
  assert.equal(entry.text, 'path "a" { capabilities = ["read"] }')
  const changed = JSON.stringify({ ...entry, text: 'path "b" { capabilities = ["read"] }' })
  assert.equal((await call('PUT', 'sys/raw/sys/policy/p', { value: changed })).status, 204)
  assert.equal((await call('GET', 'sys/policies/acl/p')).body.data?.policy, 'path "b" { capabilities = ["read"] }')
  assert.equal((await call('DELETE', 'sys/raw/sys/policy/p')).status, 204)
  assert.equal((await call('GET', 'sys/policies/acl/p')).status, 404)
  assert.equal((await call('GET', 'sys/raw/sys/policy/p')).status, 404)
})

test('entries of mounts keep where they belong, those of local mounts too', async () => {
  const { call } = await startMemoryServer({ facts: { rawStorage: true } })
  for (const local of [false, true]) {
    await call('POST', 'sys/mounts/t', { type: 'transit', local })
    await call('POST', 't/keys/k')
    const { uuid } = (await call('GET', 'sys/mounts/t')).body.data as { uuid: string }
    const folder = `logical/${uuid}`
    const walk = async (path: string): Promise<string[]> => {
      const keys = ((await call('LIST', `sys/raw/${path}`)).body.data?.keys ?? []) as string[]
      const below = await Promise.all(
        keys.map((key) => (key.endsWith('/') ? walk(`${path}/${key.slice(0, -1)}`) : [`${path}/${key}`])),
      )
      return below.flat()
    }
    const paths = await walk(folder)
    assert.ok(paths.length > 0)
    for (const path of paths) {
      const { value } = (await call('GET', `sys/raw/${path}?encoding=base64`)).body.data as { value: string }
      assert.equal((await call('PUT', `sys/raw/${path}`, { value, encoding: 'base64' })).status, 204, path)
    }
    assert.equal((await call('POST', 't/encrypt/k', { plaintext: 'YQ==' })).status, 200)
    await call('DELETE', 'sys/mounts/t')
  }
})

test('what opens the barrier is neither read nor written', async () => {
  const { call } = await startMemoryServer({ facts: { rawStorage: true } })
  for (const name of ['keyring', 'former-keys', 'key-use', 'seal-config', 'root-key', 'recovery-key']) {
    for (const [method, body] of [['GET'], ['PUT', { value: 'x' }], ['DELETE']] as const) {
      const { status } = await call(method, `sys/raw/core/${name}`, body)
      assert.equal(status, 400, `${method} ${name}`)
    }
  }
})

test('what the audit is made of is neither read nor written', async () => {
  const { call } = await startMemoryServer({ facts: { rawStorage: true } })
  await call('PUT', 'sys/audit/f', { type: 'file', options: { file_path: 'discard' } })
  for (const name of ['audit-key', 'audit-headers', 'audit/x', 'local-audit/x', 'declared-audit/x', 'audit-history']) {
    for (const [method, body] of [['GET'], ['PUT', { value: 'x' }], ['DELETE']] as const)
      assert.equal((await call(method, `sys/raw/core/${name}`, body)).status, 400, `${method} ${name}`)
  }
  assert.equal((await call('GET', 'sys/raw/core/audit-key?encoding=base64')).status, 400)
  assert.equal((await call('GET', 'sys/mounts')).status, 200)
})

test('a path that no entry can have, and a value that is none, are the caller’s mistake', async () => {
  const { call } = await startMemoryServer({ facts: { rawStorage: true } })
  assert.equal((await call('PUT', 'sys/raw/nowhere/x', { value: 'x' })).status, 400)
  assert.equal((await call('PUT', `sys/raw/sys/policy/${'x'.repeat(1100)}`, { value: 'x' })).status, 400)
  assert.equal((await call('PUT', 'sys/raw/logical/no-uuid/x', { value: 'x' })).status, 400)
  const bad = await call('PUT', 'sys/raw/sys/policy/p', { value: '!', encoding: 'base64' })
  assert.equal(bad.status, 400)
  await call('PUT', 'sys/raw/sys/policy/p', { value: '/w==', encoding: 'base64' })
  const notText = await call('GET', 'sys/raw/sys/policy/p')
  assert.equal(notText.status, 400)
  assert.match(JSON.stringify(notText.body), /must be base64/)
})
