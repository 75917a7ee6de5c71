// A set changes hands under load, with real processes, files and TLS between the clusters: by hand-overs as planned, by
// hand-overs in which one side is killed, and without its primary. `npm run torture:failover` is the long form. What
// each sequence is to do is in test/replication/failing-over.test.ts, in virtual time.
import { strict as assert } from 'node:assert'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { DR, modeOf, operationToken, promote } from '../../fixtures/failing-over.ts'
import { untilFollowed } from '../../fixtures/followed-stores.ts'
import { type PseudoRandom, pseudoRandom } from '../../fixtures/pseudo-random.ts'
import { activate, Cluster, takeBack } from '../../fixtures/real-cluster.ts'
import { testSeed } from '../../fixtures/seed.ts'
import { seededRuns } from '../../fixtures/seeded-runs.ts'
import { type ApiAnswer, temporaryDirectory } from '../../fixtures/server-process.ts'
import { ends, until } from '../../fixtures/until.ts'
import { requireSameEntries } from './compared.ts'
import { type Acknowledged, MovingWriters } from './moving-writers.ts'
import { takeUndone } from './undone-writes.ts'

const SWITCHOVERS = Number(process.env.SWITCHOVERS ?? '2')
const FAILOVER_KILLS = Number(process.env.FAILOVER_KILLS ?? '2')
const FAILOVER_LOSSES = Number(process.env.FAILOVER_LOSSES ?? '1')
/** How long writers write before something happens, at most. */
const MOST_LOAD_MS = 500
/** A primary that is to be lost takes so many writes more. */
const LAST_WRITES = 20

const temporary = temporaryDirectory()
let [now, next]: Cluster[] = []
let token = ''
let promotions = 0
/** A promotion takes about so long on this machine, and a demotion too. */
let operationMs = 100

/** The primary of the moment, and its secondary. */
const both = () => [now as Cluster, next as Cluster] as const

before(async () => {
  now = await Cluster.make('one', temporary.path)
  next = await Cluster.make('two', temporary.path)
  await now.must('POST', 'sys/mounts/transit', { type: 'transit' })
  token = await operationToken(now)
  await activate(now, next)
  await untilFollowed(now, next)
  next.token = now.token
})

after(async () => {
  for (const cluster of [now, next]) await cluster?.end()
  temporary.cleanUp()
})

/** The secondary is the primary now, and the other way round. */
function swap(): void {
  ;[now, next] = [next, now]
  promotions += 1
}

/** What `modeOf` gives. */
const [WRITING, FENCED, DEMOTED] = [
  ['primary', false, undefined],
  ['primary', true, 'fenced'],
  ['secondary', 'idle', 'no_primary'],
].map((mode) => JSON.stringify(mode))
const isFenced = async (cluster: Cluster): Promise<boolean> => (await cluster.status()).fenced === true

/** Both are level, have one root, and are what they are to be. */
async function requirePair(): Promise<void> {
  const [primary, secondary] = both()
  await untilFollowed(primary, secondary)
  const expected = {
    modes: ['primary', false, 'secondary', 'stream-wals'],
    promotions,
    sets: [true, true],
    members: [[secondary.name], secondary.name],
  }
  let found: unknown
  // Status looks once a second.
  const isAsExpected = async (): Promise<boolean> => {
    const [theirs, ours] = [await primary.status(), await secondary.status()]
    const isOne = (member: string): boolean => theirs[member] !== undefined && theirs[member] === ours[member]
    found = {
      modes: [theirs.mode, theirs.fenced, ours.mode, ours.state],
      promotions: theirs.ssct_generation_counter,
      sets: [isOne('cluster_id'), isOne('merkle_root')],
      members: [theirs.known_secondaries, ours.secondary_id],
    }
    return isDeepStrictEqual(found, expected)
  }
  await until(isAsExpected, 'the members are as expected').catch((cause: unknown) => {
    assert.deepEqual(found, expected)
    throw cause
  })
}

/** The primary has all of these writes, and none that was refused. */
async function requireNothingMissing(writers: MovingWriters, writes: readonly Acknowledged[]): Promise<void> {
  const [at] = both()
  const missing = await writers.missingAt(at, writes)
  assert.deepEqual(
    missing.slice(0, 5).map(({ name, by }) => `${name} by ${by.name}`),
    [],
    `${missing.length} of ${writes.length} are missing`,
  )
  assert.deepEqual((await writers.refusedAndThere(at)).slice(0, 5), [], 'what was refused is not there')
  assert.deepEqual(writers.faults.slice(0, 5), [])
}

/** What the former primary acknowledged and the new one lacks is what the former one keeps as undone. Says how much. */
async function requireUndone(writers: MovingWriters, primary: Cluster, former: Cluster): Promise<number> {
  const written = writers.by(former).map(({ name }) => name)
  const missing = await writers.missingAt(primary, writers.by(former))
  const undone = await takeUndone(former, token)
  assert.deepEqual(
    written.filter((name) => undone.has(name)),
    written.filter((name) => missing.some((each) => each.name === name)),
  )
  assert.deepEqual(
    writers.refused.filter((name) => undone.has(name)),
    [],
  )
  return missing.length
}

const shown = (figures: readonly number[]): string => {
  const sorted = figures.map(Math.round).sort((a, b) => a - b)
  const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]
  return `p50 ${at(0.5)}, p99 ${at(0.99)}, most ${sorted.at(-1)}`
}

/** From the last write that the former primary acknowledged to the first one of the new primary. */
function pauseOf(writers: MovingWriters, former: Cluster, primary: Cluster, sinceMs: number): number {
  const last = Math.max(...writers.by(former).map(({ atMs }) => atMs))
  const first = Math.min(...writers.by(primary, sinceMs).map(({ atMs }) => atMs))
  return Math.max(0, first - last)
}

test(`T53 T60: ${SWITCHOVERS} hand-overs as planned, under load, lose nothing`, async (t) => {
  const random = pseudoRandom(testSeed(t))
  const writers = new MovingWriters('planned', both())
  const [pausesMs, answeredMs, bytes] = [[] as number[], [] as number[], [] as number[]]
  for (let each = 0; each < SWITCHOVERS; each++) {
    const [former, primary] = both()
    // What goes over the link with writes beside it says little of what the return costs.
    const isQuiet = each % 2 === 0
    await writers.during(async () => {
      await until(() => writers.areAt(former), 'all write to the primary')
      await sleep(random.int(MOST_LOAD_MS))
      const askedMs = performance.now()
      const promoted = await promote(primary, token)
      operationMs = performance.now() - askedMs
      answeredMs.push(operationMs)
      assert.equal(promoted.status, 200, JSON.stringify(promoted.body))
      await until(() => writers.areAt(primary), 'all write to the new primary')
      pausesMs.push(pauseOf(writers, former, primary, askedMs))
      if (!isQuiet) await takeBack(primary, former, token)
    })
    const before = primary.proxy.bytes
    if (isQuiet) await takeBack(primary, former, token)
    swap()
    await requirePair()
    if (isQuiet) bytes.push(primary.proxy.bytes - before)
  }
  await requireNothingMissing(writers, writers.acknowledged)
  t.diagnostic(`${writers.acknowledged.length} writes, 0 lost; pauses: ${shown(pausesMs)} ms`)
  t.diagnostic(`promotions answered: ${shown(answeredMs)} ms; bytes of a return: ${shown(bytes)}`)
})

type Operation = 'promote' | 'demote'

/** Begins the operation. Resolves when it is over: with its answer, or with none, where the server is gone. */
function begun(what: Operation, [primary, secondary]: readonly [Cluster, Cluster]): Promise<ApiAnswer | undefined> {
  const asked = what === 'promote' ? promote(secondary, token) : primary.call('POST', `${DR}/primary/demote`)
  return asked.catch(() => undefined)
}

/** What both are, once nothing of the operation is under way any more: what they were, or what they were to be. */
async function cameToRest(what: Operation, pair: readonly [Cluster, Cluster]): Promise<readonly boolean[]> {
  let writing: readonly boolean[] = []
  await until(async () => {
    const [ours, theirs] = [await modeOf(pair[0]), await modeOf(pair[1])].map((mode) => JSON.stringify(mode))
    writing = [ours === WRITING, theirs === WRITING]
    if (what === 'demote') return (ours === WRITING || ours === DEMOTED) && theirs?.startsWith('["secondary"') === true
    // A primary that handed over says nothing of that, and writes again when nobody took over.
    return theirs === WRITING ? ours === FENCED : ours === WRITING && theirs?.startsWith('["secondary"') === true
  }, `no half of ${what} is left`)
  return writing
}

/** True if both ends show the link. */
async function areLinked(primary: Cluster, secondary: Cluster): Promise<boolean> {
  const peers = (await primary.status()).secondaries as readonly Readonly<Record<string, unknown>>[] | undefined
  const { connection_state: state } = await secondary.status()
  return state === 'ready' && peers?.some((peer) => peer.connection_status === 'connected') === true
}

/**
 * The operator goes on, once there is a link to a primary that still is one: without it nobody asks what is missing.
 * With force only where the primary is one no more.
 */
async function promoted(primary: Cluster, secondary: Cluster): Promise<void> {
  let answer: ApiAnswer | undefined
  await until(async () => {
    if ((await primary.status()).mode === 'primary' && !(await areLinked(primary, secondary))) return false
    answer = await promote(secondary, token)
    if (answer.status === 503 && (await primary.status()).mode === 'secondary')
      answer = await promote(secondary, token, { force: true })
    assert.ok(answer.status === 200 || answer.status === 503, JSON.stringify(answer))
    return answer.status === 200
  }, `${secondary.name} is promoted`)
}

/** One side is killed at a moment of the operation. */
async function killedWithin(what: Operation, random: PseudoRandom): Promise<string> {
  const [primary, secondary] = both()
  const killed = random.pick(both())
  const writers = new MovingWriters(`${what}-${promotions}`, both())
  await writers.during(() => sleep(random.int(MOST_LOAD_MS)))
  await untilFollowed(primary, secondary)
  const received = [...writers.acknowledged]
  // Early ones are more likely: a promotion waits at its end, and a demotion is over sooner.
  const afterMs = Math.round((random.int(100) / 100) ** 2 * operationMs)
  let writing: readonly boolean[] = []
  await writers.during(async () => {
    const asked = begun(what, [primary, secondary])
    await sleep(afterMs)
    await killed.kill()
    await killed.restart()
    await ends(asked, `${what} ends`)
    writing = await cameToRest(what, [primary, secondary])
    if (writing[1] !== true) await promoted(primary, secondary)
    await until(() => writers.areAt(secondary), 'all write to the new primary')
    await until(async () => what === 'demote' || (await isFenced(primary)), 'the former primary knows')
    await takeBack(secondary, primary, token)
  })
  swap()
  await requirePair()
  // What a primary acknowledged right before its end, and what it writes where its secondary is gone, may be lost.
  await requireNothingMissing(writers, [...received, ...writers.by(secondary)])
  const missing = await requireUndone(writers, secondary, primary)
  const who = killed === primary ? 'primary' : 'secondary'
  const became = writing[what === 'promote' ? 1 : 0] === (what === 'promote') ? 'happened' : 'did not happen'
  return (
    `${who} killed ${afterMs} ms within ${what}, which ${became}; ` +
    `${missing} of ${writers.acknowledged.length} writes are lost`
  )
}

test(`T61: of ${FAILOVER_KILLS} kills within promotions and demotions none leaves a half of one`, (t) => {
  let each = 0
  return seededRuns(t, FAILOVER_KILLS, async (seed) => {
    t.diagnostic(await killedWithin(each++ % 2 === 0 ? 'promote' : 'demote', pseudoRandom(seed)))
  })
})

type Loss = { readonly before?: (former: Cluster) => void; readonly after?: (primary: Cluster) => Promise<void> }

/** How a primary is lost: what comes before its end, and what after it. */
const LOSSES: Readonly<Record<string, Loss>> = {
  'behind a link that was cut': { before: ({ proxy }) => proxy.refuse() },
  'and its secondary with it': {
    after: async (primary) => {
      await primary.kill()
      await primary.restart()
    },
  },
  alone: {},
}

/** Without force, where the cluster says that it knows of nothing that is missing. True: with force. */
async function promotedAlone(primary: Cluster): Promise<boolean> {
  const answer = await promote(primary, token)
  if (answer.status === 200) return false
  assert.equal(answer.status, 503, JSON.stringify(answer.body))
  assert.match(JSON.stringify(answer.body), /not caught up/)
  const forced = await promote(primary, token, { force: true })
  assert.equal(forced.status, 200, JSON.stringify(forced.body))
  return true
}

/** The primary is killed under load, and comes back when its secondary has its place. */
async function lost(how: string, random: PseudoRandom): Promise<string> {
  const [former, primary] = both()
  const loss = LOSSES[how] ?? {}
  const writers = new MovingWriters(`lost-${promotions}`, both())
  await writers.during(() => sleep(random.int(MOST_LOAD_MS)))
  await untilFollowed(former, primary)
  const received = [...writers.acknowledged]
  let [isForced, fencedMs] = [false, 0]
  await writers.during(async () => {
    loss.before?.(former)
    const enough = writers.acknowledged.length + LAST_WRITES
    await until(() => writers.acknowledged.length > enough, 'the primary writes')
    await former.kill()
    await loss.after?.(primary)
    isForced = await promotedAlone(primary)
    await until(() => writers.areAt(primary), 'all write to the new primary')
    former.proxy.heal()
    await former.restart()
    const openMs = performance.now()
    await until(() => isFenced(former), 'the former primary is fenced')
    fencedMs = performance.now() - openMs
    await takeBack(primary, former, token)
  })
  swap()
  await requirePair()
  await requireNothingMissing(writers, [...received, ...writers.by(primary)])
  const missing = await requireUndone(writers, primary, former)
  return (
    `killed ${how}: promoted ${isForced ? 'with' : 'without'} force, fenced ${Math.round(fencedMs)} ms after it was ` +
    `open; ${missing} of the ${writers.by(former).length} writes of the former primary are lost`
  )
}

test(`T54 T55 T57: of ${FAILOVER_LOSSES} primaries that are lost each is fenced when it comes back`, (t) => {
  const all = Object.keys(LOSSES)
  let each = 0
  return seededRuns(t, FAILOVER_LOSSES, async (seed) => {
    t.diagnostic(await lost(all[each++ % all.length] ?? '', pseudoRandom(seed)))
  })
})

test('what is left of all that is the same on both, entry by entry', async (t) => {
  const [primary, secondary] = both()
  await Promise.all([primary.stop(), secondary.stop()])
  t.diagnostic(`${await requireSameEntries(primary.directory, secondary.directory)} entries`)
})
