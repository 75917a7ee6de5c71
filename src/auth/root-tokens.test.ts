import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { startMemoryServer } from '../../test/fixtures/memory-server.ts'
import { realWorld } from '../lib/world.ts'
import { countRootTokens } from './root-tokens.ts'
import type { TokenStore } from './token-store.ts'

test('B-06, T-17: root tokens that live are counted, page by page, and no others', async () => {
  const { node, call } = await startMemoryServer()
  const make = (body: object) => call('POST', 'auth/token/create', body)
  for (let i = 0; i < 210; i++) await make({ policies: ['default'] })
  await make({ policies: ['root'] })
  await make({ policies: ['root', 'default'], ttl: '1h' })
  const gone = await make({ policies: ['root'] })
  await call('POST', 'auth/token/revoke', { token: (gone.body.auth as { client_token: string }).client_token })
  const world = (afterSeconds: number) => {
    const real = realWorld()
    const nowMs = Date.UTC(2026, 0, 1) + afterSeconds * 1000
    return { ...real, clock: { nowMs: () => nowMs, monotonicMs: () => nowMs } }
  }
  assert.deepEqual(await countRootTokens(node.tokens, world(0)), { found: 3, looked: 213, isPartial: false })
  assert.deepEqual(await countRootTokens(node.tokens, world(3_601)), { found: 2, looked: 213, isPartial: false })
  assert.deepEqual((await countRootTokens(node.tokens, world(0), 213)).isPartial, false)
  assert.deepEqual((await countRootTokens(node.tokens, world(0), 100)).isPartial, true)
})

test('no more than 50,000 tokens are looked at, and it is said that there are more', async () => {
  const storeOf = (tokens: number): TokenStore => {
    const names = Array.from({ length: tokens }, (_, at) => String(at).padStart(6, '0'))
    const list = async (_prefix: string, { after = '', limit = 0 } = {}) => {
      const from = after === '' ? 0 : Number(after) + 1
      return names.slice(from, from + limit)
    }
    return { view: { list, get: async () => undefined } } as unknown as TokenStore
  }
  const real = realWorld()
  const world = { ...real, timers: { ...real.timers, sleep: async () => {} } }
  assert.deepEqual(await countRootTokens(storeOf(50_000), world), { found: 0, looked: 50_000, isPartial: false })
  assert.deepEqual(await countRootTokens(storeOf(50_001), world), { found: 0, looked: 50_000, isPartial: true })
})
