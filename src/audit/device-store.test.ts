import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { realWorld } from '../lib/world.ts'
import type { SealedStorage } from '../storage/sealed-storage.ts'
import { DeviceStore } from './device-store.ts'

/** A store with a single entry, the list of headers. */
function storeOf(headers: string) {
  const logged: string[] = []
  const view = {
    get: async (key: string) => (key === 'audit-headers' ? Buffer.from(headers) : undefined),
    list: async () => [],
  }
  const storage = { view: () => view } as unknown as SealedStorage
  const store = new DeviceStore(storage, realWorld().random, (level) => {
    logged.push(level)
  })
  return { store, logged }
}

test('headers that cannot be read are none, and the log says so', async () => {
  for (const text of ['x', '[]', '{"format":2,"headers":{}}', '{"format":1,"headers":{"a":null}}']) {
    const { store, logged } = storeOf(text)
    assert.deepEqual((await store.read()).headerNames, [], text)
    assert.deepEqual(logged, ['error'], text)
  }
  const { store, logged } = storeOf('{"format":1,"headers":{"a":{"hmac":true}}}')
  assert.deepEqual((await store.read()).headerNames, ['a'])
  assert.deepEqual(logged, [])
})

test('U-03: a header that gives access is not recorded, though what is stored asks for it', async () => {
  const setting = { hmac: false }
  const headers = { a: setting, cookie: setting, 'x-vault-inline-auth-parameter-jwt': setting, authorization: setting }
  const { store, logged } = storeOf(JSON.stringify({ format: 1, headers }))
  assert.deepEqual((await store.read()).headerNames, ['a'])
  assert.deepEqual(logged, [])
})
