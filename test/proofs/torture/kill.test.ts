// Promise P-01: a write that was answered survives kill -9 at any moment. KILLS says how often; `npm run torture` is
// the long form. Clients write from this process, so what they were told outlives the server. Of two kills
// one comes while a commit is held open, the other at a random moment.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { canHoldWithin, holdable, holdCommit, type Moment } from '../../fixtures/held-commit.ts'
import { type PseudoRandom, pseudoRandom } from '../../fixtures/pseudo-random.ts'
import { testSeed } from '../../fixtures/seed.ts'
import {
  api,
  type ServerProcess,
  spawnKeywright,
  startServerProcess,
  temporaryDirectory,
} from '../../fixtures/server-process.ts'
import { faultsOf } from '../../fixtures/store-faults.ts'
import { Ledger, SHARED_KEY } from './ledger.ts'
import { SharedRotations, Writer } from './writer.ts'

const KILLS = Number(process.env.KILLS ?? '12')
const WRITERS = 6
/** Threads that serve; each writer's connections are with some of them. */
const SERVING = ['-threads=2']
const LEAST_LOAD_MS = 5
const MOST_LOAD_MS = 300
/** Some kills meet a server that is just starting, whatever it is doing then: reading, recovering its journal. */
const START_KILLS = 0.1
const MOST_START_MS = 400
/** How long a held commit stays open before the kill; the other threads serve on meanwhile. */
const MOST_HELD_MS = 30

test(`P-01 F-01: no acknowledged write is lost by ${KILLS} kills under load`, async (context) => {
  const random = pseudoRandom(testSeed(context))
  const temporary = temporaryDirectory()
  context.after(() => temporary.cleanUp())
  const directory = `${temporary.path}/data`
  const ledger = new Ledger()
  const shared = new SharedRotations(ledger)
  const writers = Array.from(
    { length: WRITERS },
    (_, i) => new Writer(`w${i}`, ledger, shared, pseudoRandom(random.int(2 ** 31))),
  )

  const request = `${temporary.path}/hold`
  const moments: readonly Moment[] = canHoldWithin() ? ['before', 'within', 'after'] : ['before', 'after']
  const open = new Map<Moment, number>(moments.map((moment) => [moment, 0]))
  const start = () => startServerProcess({ directory, args: SERVING, env: holdable(request) })
  let server = await start()
  context.after(() => server.kill())
  await api(server, 'POST', 'sys/mounts/transit', { type: 'transit' })
  await api(server, 'POST', `transit/keys/${SHARED_KEY}`)

  let kills = 0
  let heldKills = 0
  while (kills < KILLS && ledger.faults.length === 0) {
    const moment = heldKills * 2 <= kills ? random.pick(moments) : undefined
    await killUnderLoad(server, writers, random, async () => {
      if (moment === undefined) return
      const { held, release } = await holdCommit(server.pid, request, moment)
      assert.ok(held, `no commit could be held open ${moment}`)
      open.set(moment, (open.get(moment) ?? 0) + 1)
      heldKills += 1
      await sleep(random.int(MOST_HELD_MS + 1))
      await server.kill()
      release()
    })
    assert.deepEqual(faultsOf(directory), [])
    kills += 1
    if (kills < KILLS && random.chance(START_KILLS)) {
      await killStart(directory, random)
      kills += 1
    }
    server = await start()
    await shared.compare(server)
    await ledger.compare(server, random, kills === KILLS)
  }

  context.diagnostic(
    `${kills} kills, ${ledger.acknowledged} acknowledged writes, ${ledger.faults.length} lost or torn; ` +
      `under way at a kill: ${ledger.inDoubt}, of which ${ledger.happened} happened; ` +
      `kills that met an open commit: ${[...open].map(([moment, count]) => `${count} ${moment} it`).join(', ')}`,
  )
  assert.deepEqual(ledger.faults.slice(0, 10), [])
  assert.ok(ledger.acknowledged > KILLS, 'the clients wrote next to nothing: this run proves nothing')
  assert.equal(await server.stop(), 0)
})

test('F-01: a server killed while it makes its first keys starts again', async (context) => {
  const random = pseudoRandom(testSeed(context))
  for (let i = 0; i < Math.ceil(KILLS / 10); i++) {
    const temporary = temporaryDirectory()
    context.after(() => temporary.cleanUp())
    const directory = `${temporary.path}/data`
    await killStart(directory, random)
    const server = await startServerProcess({ directory })
    context.after(() => server.kill())
    assert.equal((await api(server, 'GET', 'auth/token/lookup-self')).status, 200)
    assert.equal(await server.stop(), 0)
  }
})

/** `last` is what is done with the server before the kill. */
async function killUnderLoad(
  server: ServerProcess,
  writers: readonly Writer[],
  random: PseudoRandom,
  last: () => Promise<void>,
): Promise<void> {
  const load = Promise.all(writers.map((writer) => writer.run(server)))
  await sleep(LEAST_LOAD_MS + random.int(MOST_LOAD_MS - LEAST_LOAD_MS + 1))
  await last()
  await server.kill()
  await load
}

async function killStart(directory: string, random: PseudoRandom): Promise<void> {
  const child = spawnKeywright(['server', '-dev', '-dev-listen-address=127.0.0.1:0', '-data', directory])
  const ended = new Promise((resolve) => child.once('exit', resolve))
  await sleep(random.int(MOST_START_MS + 1))
  child.kill('SIGKILL')
  await ended
}
