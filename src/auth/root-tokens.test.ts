import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { startMemoryHouse } from '../../test/fixtures/memory-house.ts'
import { realWorld } from '../lib/world.ts'
import { countRootTokens } from './root-tokens.ts'

test('B-06, T-17: root tokens that live are counted, page by page, and no others', async () => {
  const { house, call } = await startMemoryHouse()
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
  assert.deepEqual(await countRootTokens(house.tokens, world(0)), { found: 3, looked: 213, isPartial: false })
  assert.deepEqual(await countRootTokens(house.tokens, world(3_601)), { found: 2, looked: 213, isPartial: false })
  assert.deepEqual((await countRootTokens(house.tokens, world(0), 213)).isPartial, false)
  assert.deepEqual((await countRootTokens(house.tokens, world(0), 100)).isPartial, true)
})
