// E-08: what each endpoint writes is what its mark says, and in every role a server refuses what it may not do with the
// right answer, before it has written anything., P-56: a DR secondary answers its own endpoints alone, with
// a token and without.
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { NodeRole } from '../../src/api/node-role.ts'
import { PrimaryLink } from '../../src/assembly/replication/primary-link.ts'
import type { SlowWork } from '../../src/lib/slow-work.ts'
import { realWorld } from '../../src/lib/world.ts'
import type { StorageClass } from '../../src/storage/contract.ts'
import { NO_LINKS } from '../../src/threads/late-links.ts'
import { mountAll, PLACED_ENDPOINTS, type Placed } from '../fixtures/endpoint-table.ts'
import type { Called, MemoryServerOptions } from '../fixtures/memory-server.ts'
import { inOrder, makeThings, plausibleCall } from '../fixtures/plausible-calls.ts'
import { quickWork } from '../fixtures/quick-work.ts'
import { PRIMARY_ADDRESS, type ServerWithRole, startWithRole } from '../fixtures/roles.ts'
import { simulatedPrimaryApi } from '../fixtures/simulated-primary-api.ts'
import { steppedTime } from '../fixtures/stepped-time.ts'

/** Bodies of any length, which a call in memory does not have. */
const STREAMS = ['snapshot-save', 'snapshot-restore']
/** Calls that a server does not carry out, and why. All others must succeed on a server without others. */
const NOT_DONE: readonly RegExp[] = [
  // What they need was not set up, or there is none of it.
  /^(hardening|remount-status|plugins-reload-status|managed-key|plugin-identity-configuration|config-reload|step-down)/,
  /^(transit-byok-export|transit-key-trim|transit-key-import-version|cubbyhole-list-folder)/,
  /^(cloud-login|cloud-rotate-root|audit-hash|audit-headers-read)/,
  /^approle-secret-id-(accessor-destroy|destroy-delete)/,
  // There is no other cluster whose token could be used.
  /^replication-(dr|performance|former)-secondary-enable$/,
  // This server is a secondary of none.
  /^dynamic-filter-secondary-read$/,
  /^replication-(performance|former)-secondary-(promote|disable|update-primary)$/,
  // Only a secondary for disaster recovery has operation tokens, and answers what takes one.
  /^replication-dr-secondary-(generate-operation-token|operation-token|promote|disable|update-primary|undone)/,
  /^replication-undone-(show|delete)$/,
  /^replication-dr-secondary-(reindex|recover|merkle-check)$/,
  // It would make a secondary, which answers little else.
  /^replication-(dr|performance|former)-primary-demote$/,
  // This server follows no primary.
  /^replication-recover$/,
  // They need shares, or the other kind of seal.
  /^(init|unseal|rekey|rotate-root|rotate-recovery|generate-root)/,
]
const NOTHING: readonly StorageClass[] = []
/** What a mark allows. One that may write for the set may write all of it on a primary. */
const ALLOWED: Readonly<Record<string, readonly StorageClass[]>> = {
  nothing: NOTHING,
  node: ['ignored'],
  cluster: ['ignored', 'local'],
}

/** Links that lead nowhere, so that the operations of replication are carried out. */
const LINKS: NonNullable<MemoryServerOptions['links']> = {
  primaryApi: simulatedPrimaryApi(() => undefined, { nowMs: () => 0 }),
  listenAt: [],
  clusterAddress: () => 'https://one.test:8201',
  host: () => ({
    play: async () => {},
    disconnect: async () => {},
    knock: async () => ({ kind: 'no-link', reason: 'unreachable', sentence: 'Nothing is there' }),
    handOver: async () => ({ kind: 'no-link' }),
    takeBack: async () => {},
    ask: async () => ({ kind: 'no-link' }),
    sealChanged: () => {},
    recover: async () => {},
    compareAgain: async () => {},
    status: async () => NO_LINKS,
    close: async () => {},
  }),
}

type Outcome = {
  readonly placed: Placed
  readonly answer: Called
  readonly classes: readonly StorageClass[]
  /** Work that was left to the pool. */
  readonly jobs: readonly string[]
}

/** Work of the pool, with the names of what it has done. */
function notedWork(): { readonly slow: SlowWork; readonly jobs: string[] } {
  const work = quickWork(realWorld())
  const jobs: string[] = []
  const run: SlowWork['run'] = (job, ...input) => {
    jobs.push(job.name)
    return work.run(job, ...input)
  }
  return { slow: { ...work, run }, jobs }
}

/** Calls every endpoint once; the one that seals comes last. */
async function callAll(
  role: Partial<NodeRole>,
  leaves: readonly string[],
  prepare: (server: ServerWithRole) => void = () => {},
  options: MemoryServerOptions = {},
): Promise<ReadonlyMap<string, Outcome>> {
  const { slow, jobs } = notedWork()
  const server = await startWithRole({ facts: { rawStorage: true }, slow, ...options })
  await mountAll(server.call)
  const things = await makeThings(server)
  await server.become(role)
  prepare(server)
  const outcomes = new Map<string, Outcome>()
  const called = inOrder(PLACED_ENDPOINTS).filter(({ endpoint: { id } }) => !leaves.includes(id))
  const last = ({ endpoint }: Placed): number => Number(endpoint.id === 'seal')
  for (const placed of called.toSorted((a, b) => last(a) - last(b))) {
    const { method, path, body, token, wrapTtl } = plausibleCall(placed, things)
    jobs.length = 0
    const { result, classes } = await server.committedBy(async () => {
      const answer = await server.call(method, path, body, token, wrapTtl === undefined ? {} : { wrapTtl })
      // A reindex goes on behind its answer.
      await server.node.services.treeChecks.settled()
      return answer
    })
    outcomes.set(placed.endpoint.id, { placed, answer: result, classes, jobs: [...jobs] })
  }
  return outcomes
}

const each = (outcomes: ReadonlyMap<string, Outcome>, check: (outcome: Outcome, id: string) => void): void => {
  for (const [id, outcome] of outcomes) check(outcome, id)
}

const errorsOf = ({ body }: Called): string => ((body.errors as string[] | undefined) ?? []).join(' ')
const isRefusedForRole = (answer: Called): boolean =>
  answer.status === 503 && errorsOf(answer).includes(`, at ${PRIMARY_ADDRESS}`)

/** What the same calls do on a server that follows no other. */
let alone: ReadonlyMap<string, Outcome>
before(async () => {
  alone = await callAll({}, STREAMS, undefined, { links: LINKS })
})

/** Carried out alone: elsewhere they would change the role that the test gave to the server, which has no links. */
const NEEDS_LINKS = /^(replication-((dr|performance|former)-(primary|secondary)|undone)|(paths|dynamic)-filter)-/
function requireAsAlone({ answer }: Outcome, id: string): void {
  const expected = NEEDS_LINKS.test(id) ? 400 : alone.get(id)?.answer.status
  assert.equal(answer.status, expected ?? answer.status, `${id}: ${JSON.stringify(answer)}`)
}

const wroteForSet = (id: string): boolean => alone.get(id)?.classes.includes('replicated') === true

test('E-08: an endpoint writes no more than its mark says', () => {
  each(alone, ({ placed, answer, classes }, id) => {
    const { writes = 'nothing' } = placed.endpoint
    assert.ok(answer.status < 300 || NOT_DONE.some((one) => one.test(id)), `${id}: ${JSON.stringify(answer)}`)
    const allowed = typeof writes === 'function' ? undefined : ALLOWED[writes]
    if (allowed !== undefined) for (const one of classes) assert.ok(allowed.includes(one), `${id} wrote ${one}`)
  })
  // Calls that change nothing would prove nothing.
  const writing = [...alone.keys()].filter(wroteForSet)
  assert.ok(writing.length >= 90, `only ${writing.length} endpoints wrote data of the set`)
})

/** What the role forbids is refused before work of seconds: callers ask again, and a link may be down for long. */
function requireCheap({ answer, jobs }: Outcome, id: string): void {
  if (answer.status === 503) assert.deepEqual(jobs, [], `${id} worked before it was refused`)
}

/** On a performance secondary that cannot reach its primary. `refusal` is what a handed request gets. */
function requireSecondary(outcomes: ReadonlyMap<string, Outcome>, refusal: RegExp): void {
  each(outcomes, (outcome, id) => {
    const { placed, answer, classes } = outcome
    const { writes, onlyOnPrimary } = placed.endpoint
    const shown = `${id}: ${answer.status} ${JSON.stringify(answer.body)}`
    assert.ok(answer.status < 500 || isRefusedForRole(answer), shown)
    if (answer.status === 503) assert.deepEqual(classes, NOTHING, `${id} wrote before it was refused`)
    requireCheap(outcome, id)
    assert.ok(!classes.includes('replicated'), `${id} wrote data of the set`)
    if (NEEDS_LINKS.test(id) || writes === undefined || writes === 'cluster' || writes === 'node') {
      requireAsAlone(outcome, id)
    } else if (onlyOnPrimary === true) {
      assert.equal(answer.status, 400, shown)
      if (wroteForSet(id)) assert.match(errorsOf(answer), /send the request to the primary/)
    } else if (wroteForSet(id)) {
      assert.equal(answer.status, 503, shown)
      assert.match(errorsOf(answer), refusal)
    }
  })
}

test('E-08: a performance secondary without a link refuses what its primary would do, and does the rest', async () => {
  requireSecondary(
    await callAll({ performance: 'secondary' }, ['snapshot-save']),
    /does not change what the set shares/,
  )
})

test('E-08: a performance secondary whose link is down refuses what its primary would do', async () => {
  const link = new PrimaryLink({
    ask: async () => ({ kind: 'no-link' }),
    timers: steppedTime(0).timers,
    primaryAddress: () => PRIMARY_ADDRESS,
  })
  const leaves = ['snapshot-save']
  const outcomes = await callAll({ performance: 'secondary' }, leaves, (server) => server.linkTo(link))
  requireSecondary(outcomes, /cannot be reached: nothing was written/)
})

const POWERLESS: readonly { name: string; role: Partial<NodeRole> }[] = [
  { name: 'a standby', role: { isStandby: true } },
  { name: 'a fenced primary', role: { isFenced: true, performance: 'primary', dr: 'primary' } },
]
for (const { name, role } of POWERLESS) {
  test(`E-08: ${name} writes nothing but what is of its own node, and answers what writes nothing`, async () => {
    each(await callAll(role, ['snapshot-save']), (outcome, id) => {
      const { placed, answer, classes } = outcome
      const { writes } = placed.endpoint
      const shown = `${id}: ${answer.status} ${JSON.stringify(answer.body)}`
      assert.ok(answer.status < 500 || isRefusedForRole(answer), shown)
      for (const one of classes) assert.equal(one, 'ignored', `${id} wrote ${one}`)
      requireCheap(outcome, id)
      if (id === 'health') assert.equal(answer.status, 473, shown)
      else if (writes === undefined || writes === 'node') requireAsAlone(outcome, id)
      else if (alone.get(id)?.classes.some((one) => one !== 'ignored')) assert.equal(answer.status, 503, shown)
    })
  })
}

test('E-08: a performance secondary whose copy is not whole tells its state, and serves no client', async () => {
  let served = 0
  each(await callAll({ performance: 'bootstrapping' }, ['snapshot-save']), (outcome, id) => {
    const { placed, answer, classes } = outcome
    const { whileCopied, whileSealed, onDrSecondary } = placed.endpoint
    const shown = `${id}: ${answer.status} ${JSON.stringify(answer.body)}`
    for (const one of classes) assert.equal(one, 'ignored', `${id} wrote ${one}`)
    if (whileCopied === true || whileSealed === true || onDrSecondary !== undefined) {
      served++
      if (id === 'health') assert.equal(answer.status, 473, shown)
      else requireAsAlone(outcome, id)
    } else {
      assert.equal(answer.status, 503, shown)
      assert.match(errorsOf(answer), /is being copied from its primary/)
    }
  })
  assert.ok(served > 20, `${served}`)
})

/** What a DR secondary answers that other clusters do not. No share is one of its primary. */
const OF_ATTEMPT: Readonly<Record<string, number>> = {
  'replication-dr-secondary-generate-operation-token-read': 200,
  'replication-dr-secondary-generate-operation-token': 200,
  'replication-dr-secondary-generate-operation-token-update': 400,
  'replication-dr-secondary-generate-operation-token-cancel': 204,
}
for (const dr of ['secondary', 'bootstrapping'] as const) {
  test(`E-08, T94: a DR cluster that is ${dr} answers open endpoints, and holders of operation tokens`, async () => {
    const left = new Set(Object.keys(OF_ATTEMPT))
    each(await callAll({ dr }, []), ({ placed, answer, classes }, id) => {
      assert.deepEqual(classes, NOTHING, id)
      const shown = `${id}: ${answer.status} ${JSON.stringify(answer.body)}`
      if (left.delete(id)) assert.equal(answer.status, OF_ATTEMPT[id], shown)
      else if (placed.endpoint.onDrSecondary === 'open')
        assert.equal(answer.status, id === 'health' ? 472 : alone.get(id)?.answer.status, shown)
      else if (placed.endpoint.onDrSecondary === 'operation-token') {
        assert.equal(answer.status, 403, shown)
        assert.match(errorsOf(answer), /^permission denied: .* must be an? (operation|batch) token/)
      } else {
        assert.equal(answer.status, 400, shown)
        assert.equal(errorsOf(answer), 'path disabled in replication DR secondary mode', id)
      }
    })
    assert.deepEqual([...left], [])
  })
}

test('E-08: a sealed DR secondary takes shares, and refuses the rest as any sealed server', async () => {
  const server = await startWithRole()
  await server.call('POST', 'sys/seal')
  await server.become({ dr: 'secondary' })
  assert.equal((await server.call('GET', 'sys/mounts')).status, 503)
  const key = server.shares[0]?.toString('hex')
  assert.equal((await server.call('POST', 'sys/unseal', { key })).status, 200)
  assert.equal((await server.call('POST', 'sys/unseal', { key })).status, 400)
})

test('E-08: a DR secondary answers what its listener opens to callers without a token', async () => {
  const server = await startWithRole({ listener: { unauthenticatedMetrics: true } })
  await server.become({ dr: 'secondary' })
  assert.equal((await server.call('GET', 'sys/metrics', undefined, '')).status, 200)
  assert.equal((await server.call('GET', 'sys/in-flight-req', undefined, '')).status, 400)
})
