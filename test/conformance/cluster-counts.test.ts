// S6, D10: a server whose store refuses what the whole set shares encrypts all the same, with keys that it has.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startMemoryServer } from '../fixtures/memory-server.ts'
import { servingBeside } from '../fixtures/serving-node.ts'

const plaintext = 'YQ=='

test('S6 with replicated writes refused transit encrypts on every thread, and writes what is local', async () => {
  const server = await startMemoryServer()
  assert.equal((await server.call('POST', 'sys/mounts/transit', { type: 'transit' })).status, 204)
  assert.equal((await server.call('POST', 'transit/keys/k')).status, 200)
  await server.call('POST', 'transit/encrypt/k', { plaintext })
  const serving = await servingBeside(server)
  const written: string[] = []
  server.store.onCommit(({ operations }) => written.push(...operations.map((one) => one.class)))
  await server.store.setWritable((storageClass) => storageClass !== 'replicated')
  const batch_input = Array(3_000).fill({ plaintext })
  const send = (path: string, body: object) => serving.send('POST', path, Buffer.from(JSON.stringify(body)))
  const { ciphertext } = (await send('transit/encrypt/k', { plaintext })).body.data ?? {}
  const requests: readonly [string, object][] = [
    ['transit/encrypt/k', { plaintext }],
    ['transit/encrypt/k', { batch_input }],
    ['transit/datakey/plaintext/k', {}],
    ['transit/rewrap/k', { ciphertext }],
    ['transit/rewrap/k', { batch_input: [{ ciphertext }] }],
    ['transit/hmac/k', { input: plaintext }],
    ['transit/decrypt/k', { ciphertext }],
  ]
  for (const [path, body] of requests) {
    assert.equal((await send(path, body)).status, 200, path)
    assert.equal((await server.call('POST', path, body)).status, 200, path)
  }
  assert.ok(written.length > 0)
  assert.deepEqual([...new Set(written)], ['local'])
})
