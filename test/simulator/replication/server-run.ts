// One run from a seed, of whole servers: a primary and its secondaries for disaster recovery, with clients that call
// their API. What a run of stores (set-run.ts) checks at each step is checked here at the end.
import './light-crypto.ts'
import { isDeepStrictEqual } from 'node:util'
import { type PseudoRandom, pseudoRandom } from '../../fixtures/pseudo-random.ts'
import { operationsOf, type ReplicatedServer } from '../../fixtures/replicated-server.ts'
import { ReplicatedServers } from '../../fixtures/replicated-servers.ts'
import type { Outcome } from './seeded-run.ts'
import { SHORT_TIMES } from './simulated-set.ts'

const NAMES = ['one', 'two', 'three'] as const
const LEAST_STEPS = 3
const MORE_STEPS = 8
const PAUSES_MS = [0, 1, 10, 100, 700, 3_000]
const LONGEST_HEALING_MS = 60_000

/** Lives through one seed. */
export async function runServers(seed: number): Promise<Outcome> {
  const run = new ServerRun(seed)
  try {
    await run.live()
    return run.outcome(undefined)
  } catch (cause) {
    return run.outcome(`whole servers: ${cause instanceof Error ? cause.message : String(cause)}`)
  }
}

class ServerRun {
  readonly #random: PseudoRandom
  readonly #servers: ReplicatedServers
  readonly #lines: string[] = []
  #all: ReplicatedServer[] = []
  /** The share of the primary. It opens a secondary, too. */
  #share: Buffer | undefined
  readonly #off = new Set<ReplicatedServer>()

  constructor(seed: number) {
    this.#random = pseudoRandom(seed)
    this.#servers = new ReplicatedServers(seed, SHORT_TIMES)
  }

  outcome(fault: string | undefined): Outcome {
    return { fault, lines: this.#lines }
  }

  get #primary(): ReplicatedServer {
    return this.#all[0] as ReplicatedServer
  }

  async live(): Promise<void> {
    const random = this.#random
    for (const name of NAMES.slice(0, random.pick([2, 2, 3]))) this.#all.push(await this.#servers.start(name))
    this.#share = this.#primary.server.shares[0]
    await this.#write(this.#primary)
    for (const secondary of this.#all.slice(1)) await this.#servers.activate(this.#primary, secondary)
    for (let steps = LEAST_STEPS + random.int(MORE_STEPS); steps > 0; steps--) await this.#step()
    await this.#heal()
  }

  async #step(): Promise<void> {
    const random = this.#random
    const { time } = this.#servers.simulation
    const any = random.pick(this.#all)
    const kind = random.int(20)
    this.#lines.push(`${time.nowMs} ${kind} ${any.name}`)
    if (kind < 9) await this.#write(this.#primary)
    else if (kind < 10) await this.#call('POST', 'sys/rotate')
    else if (kind < 11) await this.#sealAndUnseal()
    else if (kind < 14) this.#crash(any)
    else if (kind < 16) await this.#start(any)
    else this.#trouble(random.pick(this.#all.slice(1)))
    await time.pass(random.pick(PAUSES_MS))
  }

  async #call(method: string, path: string, body?: unknown): Promise<void> {
    if (this.#off.has(this.#primary)) return
    const { status } = await this.#primary.call(method, path, body)
    this.#lines.push(`${path} ${status}`)
    if (status >= 500) throw new Error(`${method} ${path} answered ${status}`)
  }

  async #write(server: ReplicatedServer): Promise<void> {
    if (this.#off.has(server)) return
    const random = this.#random
    for (let writes = 1 + random.int(3); writes > 0; writes--) {
      const name = `n${random.int(4)}`
      const kind = random.int(7)
      if (kind === 0)
        await this.#call('PUT', `sys/policies/acl/${name}`, {
          policy: `path "${random.int(9)}" { capabilities = ["read"] }`,
        })
      else if (kind === 1) await this.#call('DELETE', `sys/policies/acl/${name}`)
      else if (kind === 2) await this.#call('POST', 'auth/token/create', { policies: [name], ttl: '1h' })
      else if (kind === 3) await this.#call('POST', `sys/mounts/${name}`, { type: 'transit' })
      else if (kind === 4) await this.#call('DELETE', `sys/mounts/${name}`)
      else if (kind === 5) await this.#call('POST', `${name}/keys/k`, { type: 'aes256-gcm96' })
      else await this.#call('POST', `cubbyhole/${name}`, { a: String(random.int(9)) })
    }
  }

  async #sealAndUnseal(): Promise<void> {
    await this.#call('POST', 'sys/seal')
    await this.#servers.simulation.time.pass(100)
    await this.#call('POST', 'sys/unseal', { key: this.#share?.toString('base64') })
  }

  #crash(server: ReplicatedServer): void {
    if (this.#off.has(server)) return
    server.kill()
    this.#off.add(server)
  }

  async #start(server: ReplicatedServer): Promise<void> {
    if (!this.#off.delete(server)) return
    await server.restart(this.#share)
  }

  #trouble({ name }: ReplicatedServer): void {
    const { network } = this.#servers
    const random = this.#random
    const [from, to] = random.chance(0.5) ? ([NAMES[0], name] as const) : ([name, NAMES[0]] as const)
    const kind = random.int(5)
    if (kind === 0) network.cut(from, to)
    else if (kind === 1) network.reset(from, to)
    else if (kind === 2) network.loseAt(from, to)
    else if (kind === 3) network.flipNext(from, to)
    else network.set(from, to, { delayMs: random.pick([0, 20, 200]), lossPerThousand: random.pick([0, 100]) })
  }

  /** All is well again: the secondaries get there, and have what the primary has. */
  async #heal(): Promise<void> {
    const { network } = this.#servers
    for (const { name } of this.#all.slice(1)) {
      for (const [from, to] of [
        [NAMES[0], name],
        [name, NAMES[0]],
      ] as const) {
        network.heal(from, to)
        network.set(from, to, { delayMs: 1, lossPerThousand: 0 })
      }
    }
    for (const server of this.#all) await this.#start(server)
    await this.#write(this.#primary)
    for (const secondary of this.#all.slice(1)) {
      await this.#servers.level(this.#primary, secondary, LONGEST_HEALING_MS)
      const [ours, theirs] = [await secondary.entries(), await this.#primary.entries()]
      if (!isDeepStrictEqual(ours, theirs))
        throw new Error(`I3 the entries of ${secondary.name} are not those of the primary`)
      const { status } = await secondary.call('GET', 'sys/health')
      if (status !== 472) throw new Error(`I25 ${secondary.name} says ${status} of its health`)
      const told = await this.#servers.simulation.time.until(operationsOf(secondary).told('dr'))
      this.#lines.push(`${secondary.name} ${told?.primary?.progress?.index}`)
    }
  }
}
