// A server that is killed within the deletion of a namespace: before each commit of it, and before some commit of the
// next server again. The last one ends the deletion by itself, and nobody can use the namespace in between (T-18).
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Backend } from '../../src/storage/backend.ts'
import { MemoryBackend } from '../../src/storage/memory-backend.ts'
import { MemoryTables } from '../../src/storage/memory-tables.ts'
import {
  type AskIn,
  type FullNamespace,
  fillNamespace,
  requireFull,
  requireGone,
  requireUnusable,
} from '../fixtures/full-namespace.ts'
import { recordsNaming } from '../fixtures/records-naming.ts'
import { SimulatedFiles } from './simulated-files.ts'
import { type SimulatedServer, Simulation } from './simulation.ts'

const PATH = 'w1'
/** The second server makes fewer commits than this. */
const SECOND_COMMITS = 7

/** The power of a machine: it goes before a commit. */
class Power {
  readonly #gone = Promise.withResolvers<void>()
  /** Commits that are still made; undefined: all. */
  left: number | undefined
  commits = 0

  /** Resolves when a commit was not made. */
  get gone(): Promise<void> {
    return this.#gone.promise
  }

  /** The backend as the server has it. */
  of(backend: MemoryBackend): Backend {
    const append: Backend['append'] = (...changes) => {
      if (this.left === 0) {
        this.#gone.resolve()
        return new Promise(() => {})
      }
      if (this.left !== undefined) this.left--
      this.commits++
      return backend.append(...changes)
    }
    return new Proxy(backend, {
      get: (of, name) => {
        const found = name === 'append' ? append : Reflect.get(of, name, of)
        return typeof found === 'function' ? found.bind(of) : found
      },
    })
  }
}

/** A store with the namespace in it. */
type Filled = { readonly tables: () => MemoryTables; readonly key: Buffer; readonly full: FullNamespace }

const askOf =
  (simulation: Simulation, server: SimulatedServer): AskIn =>
  (method, path, body, token, namespace = '', wrapTtl) =>
    simulation.time.until(
      server.call(method, path, body, token, { namespace, ...(wrapTtl === undefined ? {} : { wrapTtl }) }),
    )

async function filled(): Promise<Filled> {
  const simulation = new Simulation(1)
  const server = await simulation.startServer('one', { shares: 1 })
  const full = await fillNamespace(askOf(simulation, server), PATH)
  await requireFull(askOf(simulation, server), full)
  server.kill()
  const left = await server.store.snapshot()
  const entries = await left.stored('', Number.POSITIVE_INFINITY)
  const { position, histories } = left
  await left.close()
  const tables = () => new MemoryTables({ index: position.index, histories }, entries)
  return { tables, key: server.shares[0] as Buffer, full }
}

/** One machine on which a server follows the other. */
class Machine {
  readonly #simulation: Simulation
  readonly #filled: Filled
  readonly #backend: MemoryBackend
  readonly #files = new SimulatedFiles()
  server!: SimulatedServer
  power = new Power()

  constructor(seed: number, filled: Filled) {
    this.#simulation = new Simulation(seed)
    this.#filled = filled
    this.#backend = new MemoryBackend(filled.tables())
  }

  ask: AskIn = (...asked) => askOf(this.#simulation, this.server)(...asked)

  async start(): Promise<void> {
    this.power = new Power()
    const machine = { backend: this.power.of(this.#backend), files: this.#files }
    this.server = await this.#simulation.startServer('one', { machine, key: this.#filled.key })
  }

  /** Deletes the namespace, as far as the power lasts. */
  async delete(commits?: number): Promise<void> {
    const { server, power } = this
    power.left = commits
    const deleted = server.call('DELETE', `sys/namespaces/${PATH}`)
    await this.#simulation.time.until(Promise.race([deleted.then(() => this.#end()), power.gone]))
  }

  /** The deletion ends by itself, or with the power. */
  async rest(): Promise<void> {
    await this.#simulation.time.until(Promise.race([this.#end(), this.power.gone]))
  }

  async #end(): Promise<void> {
    const { node, world } = this.server
    while (node.namespaces.byId(this.#filled.full.id) !== undefined) await world.timers.sleep(1)
  }
}

test('T-18: a deletion that is cut off before any of its commits is ended by a next server', async (t) => {
  const store = await filled()
  const whole = new Machine(0, store)
  await whole.start()
  const before = whole.power.commits
  await whole.delete()
  const commits = whole.power.commits - before
  assert.ok(commits > SECOND_COMMITS, String(commits))
  t.diagnostic(`${commits} commits`)
  for (let made = 0; made < commits; made++) {
    const machine = new Machine(made, store)
    await machine.start()
    await machine.delete(made)
    machine.server.kill()
    await machine.start()
    if (made === 0) {
      await requireFull(machine.ask, store.full)
      continue
    }
    // The power of the second one goes, too.
    machine.power.left = made % SECOND_COMMITS
    await requireUnusable(machine.ask, store.full)
    await machine.rest()
    machine.server.kill()
    await machine.start()
    await requireUnusable(machine.ask, store.full)
    await machine.rest()
    await requireNothing(machine.server, store.full)
    await requireGone(machine.ask, store.full)
  }
})

/** What is left is the mount that moved away before, with its data. */
async function requireNothing(server: SimulatedServer, { id }: FullNamespace): Promise<void> {
  const left = await recordsNaming(server, id)
  const data = left.filter((key) => key.startsWith(`${id}/`))
  const others = left.filter((key) => !data.includes(key))
  assert.equal(new Set(data.map((key) => key.split('/').slice(1, 3).join('/'))).size, 1, String(left))
  assert.ok(data.every((key) => key.startsWith(`${id}/logical/`)))
  assert.equal(others.length, 1, String(left))
  assert.ok(others[0]?.startsWith('root/core/mounts/'))
}
