// A start does not look at the tokens there are, and the removal of those that ended while the server was down leaves
// callers their turn. TOKENS=1000000 is the long form, whose figures are in the diagnostics.
import { strict as assert } from 'node:assert'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ROOT_ID } from '../../../src/api/namespace.ts'
import { assembleWriting } from '../../../src/assembly/writing-node.ts'
import type { TokenEntry } from '../../../src/auth/token-entry.ts'
import { inlineWork } from '../../../src/lib/slow-work.ts'
import { realWorld } from '../../../src/lib/world.ts'
import { openSqliteStore } from '../../../src/storage/sqlite/sqlite-store.ts'
import { LIMITS } from '../../fixtures/memory-server.ts'
import { api, type ServerProcess, startServerProcess, temporaryDirectory } from '../../fixtures/server-process.ts'

const TOKENS = Number(process.env.TOKENS ?? '2000')
/** Made in one transaction. */
const PAGE = 500
const MOST_WAIT_MS = 120_000 + TOKENS * 5
const LIST_PAGE = 5_000
const COUNT_EVERY_MS = TOKENS > 10_000 ? 5_000 : 100

test(`${TOKENS} tokens, half of them ended while the server was down`, async (context) => {
  const temporary = temporaryDirectory()
  context.after(() => temporary.cleanUp())
  const directory = join(temporary.path, 'data')
  await (await startServerProcess({ directory })).stop()
  const { server: empty, startMs: emptyMs } = await timedStart(directory)
  const emptyMib = residentMib(empty)
  await empty.stop()
  const live = await fill(directory)
  const { server, startMs } = await timedStart(directory)
  context.after(() => server.stop())
  const startMib = residentMib(server)
  const before = performance.now()
  assert.equal((await api(server, 'GET', 'auth/token/lookup-self', undefined, live)).status, 200)
  const slowestMs = await untilRemoved(server)
  const removedMs = performance.now() - before
  assert.equal((await api(server, 'GET', 'auth/token/lookup-self', undefined, live)).status, 200)
  context.diagnostic(
    `start to answering: ${emptyMs.toFixed(0)} ms without tokens, ${startMs.toFixed(0)} ms with them; ended tokens ` +
      `removed ${removedMs.toFixed(0)} ms after it; slowest write of a caller meanwhile ${slowestMs.toFixed(0)} ms; ` +
      `memory: ${emptyMib} MiB without tokens, ${startMib} MiB after the start, ${residentMib(server)} MiB at the end`,
  )
})

async function timedStart(directory: string): Promise<{ readonly server: ServerProcess; readonly startMs: number }> {
  const before = performance.now()
  const server = await startServerProcess({ directory })
  return { server, startMs: performance.now() - before }
}

/** Tokens straight into the store, as if they had been made an hour ago; returns one of those that live. */
async function fill(directory: string): Promise<string> {
  const world = realWorld()
  const store = await openSqliteStore({ directory, random: world.random, clock: world.clock })
  const server = await assembleWriting({
    role: 'all',
    store,
    world,
    slow: inlineWork(world),
    log: () => {},
    facts: { reportedVersion: '1.21.0', storageType: 'sqlite', apiAddress: '', clusterName: '' },
    tokenLimits: LIMITS,
  })
  const keys = JSON.parse(readFileSync(join(directory, 'development-keys.json'), 'utf8')) as { unseal_key: string }
  await server.operations.unseal(Buffer.from(keys.unseal_key, 'base64'))
  // It would remove them as fast as they come.
  server.expiry.stop()
  const { tokens } = server
  const hourAgoMs = world.clock.nowMs() - 3_600_000
  let last = ''
  for (let made = 0; made < TOKENS; made += PAGE) {
    await tokens.view.transaction(async (tx) => {
      for (let at = made; at < Math.min(made + PAGE, TOKENS); at++) {
        last = tokens.newToken(ROOT_ID)
        const ttl = at % 2 === 0 ? 1_800 + (at % 1_000) : 36_000
        const entry: TokenEntry = {
          ...server.tokenService.rootEntry(),
          policies: ['default'],
          path: 'auth/token/create',
          createdAtMs: hourAgoMs,
          creationTtlSeconds: ttl,
          expiry: { atMs: hourAgoMs + ttl * 1_000 },
          renewable: true,
        }
        assert.ok(await tokens.insertWith(tx, last, entry))
      }
    })
  }
  await server.rest()
  await store.close()
  return last
}

/** Writes like a caller until only the live tokens are left; returns how long the slowest took. */
async function untilRemoved(server: ServerProcess): Promise<number> {
  const deadline = performance.now() + MOST_WAIT_MS
  const policy = 'path "a" { capabilities = ["read"] }'
  let slowestMs = 0
  let nextCountAt = 0
  for (;;) {
    const before = performance.now()
    const { status } = await api(server, 'POST', 'sys/policies/acl/p', { policy })
    assert.equal(status, 204)
    slowestMs = Math.max(slowestMs, performance.now() - before)
    if (performance.now() >= nextCountAt) {
      if ((await countLeases(server)) === TOKENS / 2) return slowestMs
      nextCountAt = performance.now() + COUNT_EVERY_MS
    }
    assert.ok(performance.now() < deadline, 'the tokens that ended are not removed')
    await sleep(100)
  }
}

/** In pages, as a caller should who knows that there are many. */
async function countLeases(server: ServerProcess): Promise<number> {
  let count = 0
  for (let after = ''; ; ) {
    const { body } = await api(
      server,
      'GET',
      `sys/leases/lookup/auth/token/create?list=true&limit=${LIST_PAGE}&after=${after}`,
    )
    const keys = (body.data?.keys ?? []) as string[]
    count += keys.length
    if (keys.length < LIST_PAGE) return count
    after = keys.at(-1) ?? ''
  }
}

/** Of the whole process; '?' where the system does not tell. */
function residentMib({ pid }: ServerProcess): string {
  if (process.platform !== 'linux') return '?'
  const [, kib] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return (Number(kib) / 1024).toFixed(0)
}
