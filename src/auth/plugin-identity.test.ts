import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { START_MS, startMemoryServer } from '../../test/fixtures/memory-server.ts'
import { MAX_IDENTITY_TOKEN_SECONDS } from '../api/identity-token.ts'
import { inlineWork } from '../lib/slow-work.ts'
import { realWorld } from '../lib/world.ts'
import { PluginIdentity } from './plugin-identity.ts'

const DAY_MS = 24 * 3_600_000
const TEN_MINUTES_MS = 600_000

const part = (jwt: string, at: number) => JSON.parse(Buffer.from(jwt.split('.')[at] ?? '', 'base64url').toString())

test('a key is published until its last token has ended also by a clock that is ten minutes behind', async () => {
  let nowMs = START_MS
  const world = { ...realWorld(), clock: { nowMs: () => nowMs, monotonicMs: () => nowMs } }
  const { storage } = (await startMemoryServer()).node
  const identity = new PluginIdentity({ storage, slow: inlineWork(world), world, apiAddress: 'https://keys.example' })
  const mint = () => identity.mint({ subject: 's', audience: 'a', ttlSeconds: MAX_IDENTITY_TOKEN_SECONDS + 1 })
  const kids = async () => (await identity.publishedKeys()).map(({ kid }) => kid)
  const first = String(part(await mint(), 0).kid)
  nowMs += DAY_MS - 1
  const last = await mint()
  assert.equal(part(last, 0).kid, first)
  nowMs += 1
  assert.notEqual(part(await mint(), 0).kid, first)
  const { iat, exp } = part(last, 1)
  assert.equal(exp - iat, MAX_IDENTITY_TOKEN_SECONDS)
  nowMs += MAX_IDENTITY_TOKEN_SECONDS * 1000 + TEN_MINUTES_MS - 1
  assert.ok((await kids()).includes(first))
  nowMs += 1
  assert.ok(!(await kids()).includes(first))
})
