// Whole servers in this process, in memory, in time that the test moves: the same seed gives the same run, to the byte.
// It is what a simulator of several clusters stands on. Nothing in it is real but the program: no thread, no file, no
// socket, no clock. What node draws itself does not repeat (drawn-by-node.ts).
import type { LeaveOnly } from '../../src/assembly/emptied-store.ts'
import { newChainHeadsMemory } from '../../src/audit/chain-heads.ts'
import type { World } from '../../src/lib/world.ts'
import { type Backend, HISTORY_ID_BYTES } from '../../src/storage/backend.ts'
import { openStore } from '../../src/storage/commit/transactional-store.ts'
import { MemoryBackend } from '../../src/storage/memory-backend.ts'
import { MemoryTables } from '../../src/storage/memory-tables.ts'
import { ReplaceableStore } from '../../src/storage/replaceable-store.ts'
import { type MemoryServer, type MemoryServerOptions, START_MS, startMemoryServer } from '../fixtures/memory-server.ts'
import { oneClassEach } from '../fixtures/one-class.ts'
import { simulatedWork } from './rsa-keys.ts'
import { SeededStream } from './seeded-stream.ts'
import { SimulatedFiles } from './simulated-files.ts'
import { VirtualTime } from './virtual-time.ts'

/** What is left of a server that was killed: its store, which an activation replaces, and its audit files. */
export type SimulatedMachine = {
  backend: Backend
  /** What the backend keeps, for tests that damage it. */
  tables?: MemoryTables
  readonly files: SimulatedFiles
}

export type SimulatedServer = Omit<MemoryServer, 'advance'> & {
  readonly world: World
  readonly machine: SimulatedMachine
  /** Each line of its log so far, with its time. */
  readonly logged: readonly string[]
  /** Ends it as a power cut would. Calls of it that wait do so for ever. */
  readonly kill: () => void
}

export type SimulatedServerOptions = Omit<MemoryServerOptions, 'store' | 'world' | 'log' | 'slow'> & {
  /** Where it runs; missing: a new one, whose store is empty. */
  readonly machine?: SimulatedMachine
}

/** One run: its time, its randomness, and its servers. */
export class Simulation {
  readonly seed: number
  readonly time: VirtualTime
  readonly #starts = new Map<string, number>()

  constructor(seed: number, startMs = START_MS) {
    this.seed = seed
    this.time = new VirtualTime(startMs, this.stream('order of threads').below)
  }

  /** Randomness of that name, which has nothing in common with that of any other. */
  stream(name: string): SeededStream {
    return new SeededStream(this.seed, name)
  }

  /** The world of one process that begins: each start under a name draws something else. */
  newWorld(name: string): World & { readonly kill: () => void } {
    const start = (this.#starts.get(name) ?? 0) + 1
    this.#starts.set(name, start)
    const request = async (): Promise<never> => {
      throw new Error('There is no network')
    }
    return { ...this.time.newThread(), random: this.stream(`${name} ${start}`), outbound: { request } }
  }

  /**
   * Starts a server. On a new machine it is not initialised, unless `shares` says so: then it is unsealed, too. On that
   * of one that was killed it comes up as a process does after a power cut: sealed.
   */
  async startServer(name: string, options: SimulatedServerOptions = {}): Promise<SimulatedServer> {
    const { kill, ...world } = this.newWorld(name)
    const machine: SimulatedMachine = options.machine ?? {
      backend: new MemoryBackend(world.random.bytes(HISTORY_ID_BYTES)),
      files: new SimulatedFiles(),
    }
    const logged: string[] = []
    const start = async (): Promise<MemoryServer> => {
      const kept = new ReplaceableStore(await openStore(machine.backend, world))
      const store = oneClassEach(kept)
      const leaveOnly: LeaveOnly = async (left) => {
        await kept.putAway()
        machine.tables = new MemoryTables(left, left.entries)
        machine.backend = new MemoryBackend(machine.tables)
        kept.putBack(await openStore(machine.backend, world))
      }
      return startMemoryServer({
        shares: 0,
        isNew: options.machine === undefined,
        ...options,
        store,
        leaveOnly,
        world,
        slow: simulatedWork(world, this.time),
        log: (level, message, fields = {}) =>
          void logged.push(`${world.clock.nowMs()} ${level} ${message} ${JSON.stringify(fields)}`),
        audit: { chainHeads: newChainHeadsMemory(), files: machine.files, ...options.audit },
      })
    }
    const { advance: _, ...server } = await this.time.until(start())
    return { ...server, world, machine, logged, kill }
  }
}
