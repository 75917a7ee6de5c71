// What operators do with a set whose links, or whose store, do not do their part at once.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { primaryOfSet } from '../../../test/fixtures/set-cluster.ts'
import { steppedTime } from '../../../test/fixtures/stepped-time.ts'
import type { LinkStatus } from '../../replication/link/link-sides.ts'
import { findSecondary } from '../../replication/set/records.ts'
import { StorageFull } from '../../storage/errors.ts'
import { NO_LINKS } from '../../threads/late-links.ts'
import { type OperationsParts, OwnOperations } from './operations.ts'

const WANTED = { id: 'site/b', ttlMs: 60_000, publicKey: '' }

/** A primary with a secondary that was let in. Each step that fails is tried until `isWell`. */
async function stage(seed: number) {
  const { cluster, bundle } = await primaryOfSet(seed)
  await cluster.letIn(bundle)
  const time = steppedTime(0)
  const logged: string[] = []
  const done: string[] = []
  /** What is said of ids to the writes that wait. */
  const waiting: string[] = []
  const given = { status: NO_LINKS as LinkStatus, isWell: true }
  const step = (what: string) => async () => {
    if (!given.isWell) throw new StorageFull('The disk is full')
    done.push(what)
  }
  const parts = {
    view: cluster.view,
    store: { position: async () => ({ historyId: Buffer.alloc(16) }) },
    world: { clock: { nowMs: () => cluster.nowMs }, random: cluster.random, timers: time.timers },
    log: (_level: string, message: string) => void logged.push(message),
    links: { status: async () => given.status, disconnect: step('disconnect') },
    primarySide: { release: step('release'), dropHold: step('drop hold'), issued: () => done.push('issued') },
    synchronous: {
      forget: (id: string) => waiting.push(`forget ${id}`),
      issued: (id: string) => waiting.push(`issued ${id}`),
      told: [],
    },
    facts: () => ({ clusterAddresses: ['https://one.test:8201'], apiAddress: '' }),
    changed: async () => {},
  } as unknown as OperationsParts
  const stateOf = async () => (await cluster.run((tx) => findSecondary(tx, 'dr', WANTED.id)))?.state
  return { operations: new OwnOperations(parts), view: cluster.view, given, done, waiting, logged, time, stateOf }
}

test('an id gets no new token while nobody says whether its secondary is connected', async () => {
  const { operations, given, done, waiting, stateOf } = await stage(81)
  given.status = { ...NO_LINKS, isSilent: true }
  await assert.rejects(operations.secondaryToken('dr', WANTED), /do not say which secondaries are connected/)
  assert.deepEqual([await stateOf(), done], ['active', []])
  given.status = NO_LINKS
  assert.equal((await operations.secondaryToken('dr', WANTED)).replaced, 'secondary')
  assert.deepEqual(done, ['disconnect', 'release', 'issued'])
  // What the links say of it counts again once they are closed.
  assert.deepEqual(waiting, [`forget ${WANTED.id}`, `issued ${WANTED.id}`])
})

test('a token is given and a revocation counts though what follows fails; that is done when it can be', async () => {
  const { operations, given, done, logged, time, stateOf } = await stage(82)
  given.isWell = false
  assert.equal((await operations.secondaryToken('dr', WANTED)).kind, 'wrapped')
  await operations.revokeSecondary('dr', WANTED.id)
  assert.equal(await stateOf(), 'revoked')
  assert.equal(logged.length, 4)
  await time.advance(5_000)
  assert.deepEqual([logged.length, done], [8, ['issued']])
  given.isWell = true
  await time.advance(5_000)
  assert.deepEqual(done.toSorted(), ['disconnect', 'disconnect', 'drop hold', 'drop hold', 'issued'])
  await time.advance(600_000)
  assert.equal(done.length, 5)
})

test('a set ends though what follows fails', async () => {
  const { operations, given, done, time, stateOf } = await stage(83)
  given.isWell = false
  await operations.disablePrimary('dr')
  assert.equal(await stateOf(), undefined)
  given.isWell = true
  await time.advance(5_000)
  assert.deepEqual(done, ['drop hold'])
})

test('a revocation whose answer is late takes back no token that was given behind it', async () => {
  const { operations, view, waiting, stateOf } = await stage(84)
  const transaction = view.transaction.bind(view)
  const answered = Promise.withResolvers<void>()
  let isFirst = true
  view.transaction = async (work) => {
    const isLate = isFirst
    isFirst = false
    const result = await transaction(work)
    if (isLate) await answered.promise
    return result
  }
  const revoked = operations.revokeSecondary('dr', WANTED.id)
  const issued = operations.secondaryToken('dr', WANTED)
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
  answered.resolve()
  await Promise.all([revoked, issued])
  assert.deepEqual([await stateOf(), waiting.at(-1)], ['issued', `issued ${WANTED.id}`])
})
