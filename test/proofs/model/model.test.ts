// Keys, policies, tokens and mounts of a real server with several threads, against models with one: random calls of
// many clients at once, whose answers some order of them must explain. OPERATIONS says how many; `npm run
// torture:model` is the long form.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { type PseudoRandom, pseudoRandom } from '../../fixtures/pseudo-random.ts'
import { testSeed } from '../../fixtures/seed.ts'
import { api, startServerProcess, temporaryDirectory } from '../../fixtures/server-process.ts'
import type { Thing } from '../../model/call.ts'
import { Connection } from '../../model/connection.ts'
import { familyThing } from '../../model/family-model.ts'
import { keyThing } from '../../model/key-model.ts'
import { History } from '../../model/linearizability.ts'
import { mountThing } from '../../model/mount-model.ts'
import { policyThing } from '../../model/policy-model.ts'

const OPERATIONS = Number(process.env.OPERATIONS ?? '20000')
const CLIENTS = 12
/** Few things for many clients: calls of the same one overlap. */
const KINDS = { key: 3, policy: 2, family: 3, mount: 2 }
/** Calls after which a client takes another connection. */
const CALLS_PER_CONNECTION = 300

const MAKERS: Readonly<Record<keyof typeof KINDS, (name: string) => Watched>> = {
  key: (name) => watched(keyThing(name)),
  policy: (name) => watched(policyThing(name)),
  family: (name) => watched(familyThing(name)),
  mount: (name) => watched(mountThing(name)),
}

test(`Q-05 P-28 P-29 A-12: one thread explains ${OPERATIONS} calls of ${CLIENTS} clients`, async (context) => {
  const random = pseudoRandom(testSeed(context))
  const temporary = temporaryDirectory()
  context.after(() => temporary.cleanUp())
  const server = await startServerProcess({ directory: `${temporary.path}/data`, args: ['-threads=2'] })
  context.after(() => server.kill())
  await api(server, 'POST', 'sys/mounts/transit', { type: 'transit' })

  const run = new Run(server.address)
  await run.fill()
  await Promise.all(Array.from({ length: CLIENTS }, () => run.client(pseudoRandom(random.int(2 ** 31)))))
  for (const kind of Object.keys(KINDS)) {
    context.diagnostic(
      `${kind}: ${[...(run.answers.get(kind) ?? [])].map(([answer, count]) => `${count} × ${answer}`).join(', ')}`,
    )
  }
  assert.deepEqual(run.faults.slice(0, 3), [])
  assert.equal(run.done, OPERATIONS)
  assert.equal(await server.stop(), 0)
})

/** A thing with its history; calls are made through it alone. */
type Watched = {
  setUp(connection: Connection): Promise<void>
  isSpent(): boolean
  /** The answer, and what is wrong with it. */
  call(
    random: PseudoRandom,
    connection: Connection,
  ): Promise<{ readonly answer: string; readonly fault?: string | undefined }>
}

function watched<S>(thing: Thing<S>): Watched {
  const history = new History<S>(thing.name, thing.initial)
  return {
    setUp: thing.setUp,
    isSpent: thing.isSpent,
    call: async (random, connection) => {
      const { name, step, afterwards, send } = thing.next(random)
      const id = afterwards === undefined ? history.called(name, step) : history.called(name, step, afterwards)
      const answer = await send(connection)
      return { answer, fault: history.returned(id, answer) }
    },
  }
}

class Run {
  readonly #address: string
  readonly #places: { readonly kind: keyof typeof KINDS; thing: Watched }[] = []
  readonly faults: string[] = []
  /** By kind and answer, without what the answer showed. */
  readonly answers = new Map<string, Map<string, number>>()
  #begun = 0
  #made = 0
  done = 0

  constructor(address: string) {
    this.#address = address
  }

  async fill(): Promise<void> {
    const connection = new Connection(this.#address)
    for (const kind of Object.keys(KINDS) as (keyof typeof KINDS)[]) {
      for (let i = 0; i < KINDS[kind]; i++) this.#places.push({ kind, thing: await this.#make(kind, connection) })
    }
    connection.renew()
  }

  /** One request after the other, until all together have made enough. */
  async client(random: PseudoRandom): Promise<void> {
    const connection = new Connection(this.#address)
    for (let calls = 1; this.#begun < OPERATIONS && this.faults.length === 0; calls++) {
      this.#begun++
      const place = random.pick(this.#places)
      const { answer, fault } = await place.thing.call(random, connection)
      this.done++
      this.#count(place.kind, answer)
      if (fault !== undefined) this.faults.push(fault)
      if (place.thing.isSpent()) place.thing = await this.#make(place.kind, connection)
      if (calls % CALLS_PER_CONNECTION === 0) connection.renew()
    }
    connection.renew()
  }

  async #make(kind: keyof typeof KINDS, connection: Connection): Promise<Watched> {
    const thing = MAKERS[kind](`${kind}-${++this.#made}`)
    await thing.setUp(connection)
    return thing
  }

  #count(kind: string, answer: string): void {
    const [status = ''] = answer.split(' ')
    const counts = this.answers.get(kind) ?? new Map<string, number>()
    this.answers.set(kind, counts.set(status, (counts.get(status) ?? 0) + 1))
  }
}
