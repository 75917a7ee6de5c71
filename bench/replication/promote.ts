// A secondary for disaster recovery takes the place of its primary: how long the first write waits for it, and when the
// leases that ended in the meantime are gone. One process over SQLite, without links.
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT_ID } from '../../src/api/namespace.ts'
import { realWorld } from '../../src/lib/world.ts'
import { newAuthority } from '../../src/replication/set/certificates.ts'
import { enablePrimary } from '../../src/replication/set/primary-operations.ts'
import { putState, readState, SETS_FOLDER } from '../../src/replication/set/records.ts'
import { systemScope } from '../../src/storage/contract.ts'
import { openSqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import { type MemoryServer, startMemoryServer } from '../../test/fixtures/memory-server.ts'
import { commitPromotion, takeStoredRole } from '../../test/fixtures/promotion.ts'
import { KEY, MOUNT } from '../targets.ts'
import { machineMs } from './helpers.ts'
import { write } from './plant.ts'
import type { Figure, Stage } from './stage.ts'

const HOUR_MS = 3_600_000
const PER_RECORD = 500
/** A folder for each second in which tokens end, the earliest first. */
const ENDS = 'root/sys/token/expiry/'
const PATH = 'auth/token/create'

/** A promotion with so many keys, and with the leases of the sizes. */
export async function measurePromote(stage: Stage, keys: number): Promise<Figure[]> {
  const { leases } = stage.sizes
  const directory = join(stage.path, 'promoted')
  mkdirSync(directory, { mode: 0o700 })
  const world = realWorld()
  const onFatal = (cause: Error): never => {
    throw cause
  }
  const store = await openSqliteStore({ ...world, directory, onFatal })
  try {
    const server = await startMemoryServer({ store, world, isNew: true })
    await must(server, 'POST', `sys/mounts/${MOUNT}`, { type: 'transit' })
    await must(server, 'POST', `${MOUNT}/keys/${KEY}`)
    await write(store, server.node.storage, { entries: keys, perRecord: PER_RECORD })
    await follow(server)
    // As from its primary: nobody else writes here, and the end of leases is nobody's work.
    await store.setWritable(() => true)
    await lend(server, leases)
    return await promoted(stage, server, `promotion with ${keys} keys and ${leases} leases`)
  } finally {
    await store.close()
  }
}

async function promoted(stage: Stage, server: MemoryServer, what: string): Promise<Figure[]> {
  const { node, store } = server
  const [startMs, wallMs] = [machineMs(), Date.now()]
  await commitPromotion({ node, store, world: realWorld() })
  const committedMs = machineMs()
  const changed = takeStoredRole({ node, store, world: realWorld() })
  const isServed = async (): Promise<boolean> =>
    (await server.call('PUT', 'sys/policies/acl/first', { policy: 'path "a" { capabilities = ["read"] }' })).status <
    300
  while (!(await isServed())) await new Promise(setImmediate)
  const servedMs = machineMs()
  await changed
  const changedMs = machineMs()
  const areGone = async (): Promise<boolean> => {
    const [first = ''] = await store.list(ENDS, { limit: 1 })
    return Number(first.slice(0, -1)) * 1_000 > wallMs
  }
  await stage.until(areGone, 'the leases that ended are gone')
  const goneMs = machineMs()
  await node.operations.seal()
  const ms = (from: number, to: number): string => `${(to - from).toFixed(0)} ms`
  return [
    { what: `${what}: commit`, figure: ms(startMs, committedMs) },
    { what: `${what}: from the change of role to the first write`, figure: ms(committedMs, servedMs) },
    { what: `${what}: until all work of a primary has begun`, figure: ms(committedMs, changedMs) },
    {
      what: `${what}: until the half that ended is gone`,
      figure: `${((goneMs - committedMs) / 1_000).toFixed(1)} s`,
    },
  ]
}

/** Makes it a secondary by its records. */
async function follow({ node }: MemoryServer): Promise<void> {
  const { random, clock } = realWorld()
  const set = { setId: random.uuid(), family: 'dr' } as const
  const nowMs = clock.nowMs()
  const authority = newAuthority(set, { random, nowMs })
  await node.storage.view(systemScope, SETS_FOLDER).transaction(async (tx) => {
    await enablePrimary(tx, { ...set, authority, clusterAddress: '', nowMs })
    putState(tx, 'dr', { ...((await readState(tx, 'dr')) ?? assert.fail()), mode: 'secondary' })
  })
  const role = { isStandby: false, dr: 'secondary', performance: 'disabled', isFenced: false } as const
  await node.changeRole({ role, primaryAddress: '' })
}

/** Tokens with leases, of which every second one has ended: within the last hour, one after the other. */
async function lend({ node }: MemoryServer, leases: number): Promise<void> {
  const { tokens, tokenService } = node
  const nowMs = Date.now()
  for (let from = 0; from < leases; from += PER_RECORD) {
    await tokens.view.transaction(async (tx) => {
      for (let each = from; each < Math.min(leases, from + PER_RECORD); each++) {
        const atMs = nowMs + (each % 2 === 0 ? 24 * HOUR_MS : -Math.floor((HOUR_MS * each) / leases))
        const entry = { ...tokenService.rootEntry(), policies: ['default'], path: PATH, expiry: { atMs } }
        assert.ok(await tokens.insertWith(tx, tokens.newToken(ROOT_ID), entry))
      }
    })
  }
}

async function must({ call }: MemoryServer, method: string, path: string, body?: object): Promise<void> {
  const { status, body: answer } = await call(method, path, body)
  assert.ok(status < 300, `${method} ${path}: ${status} ${JSON.stringify(answer)}`)
}
