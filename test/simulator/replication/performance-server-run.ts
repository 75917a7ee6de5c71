// One run from a seed, of whole servers: a primary and its secondaries for performance, all of which clients call. What
// a secondary may not write by itself it hands to the primary over its link. What was acknowledged must be there at the
// end, and what is a cluster's own stays its own.
import './light-crypto.ts'
import { isDeepStrictEqual } from 'node:util'
import { type PseudoRandom, pseudoRandom } from '../../fixtures/pseudo-random.ts'
import type { ReplicatedServer } from '../../fixtures/replicated-server.ts'
import { ReplicatedServers } from '../../fixtures/replicated-servers.ts'
import type { Outcome } from './seeded-run.ts'
import { SHORT_TIMES } from './simulated-set.ts'

const NAMES = ['one', 'two', 'three'] as const
const FAMILY = 'performance'
const LEAST_STEPS = 4
const MORE_STEPS = 10
const PAUSES_MS = [0, 1, 10, 100, 700, 3_000]
const LONGEST_HEALING_MS = 60_000
/** Without its primary a secondary says so, and that something may have been done that it heard no answer to. */
const UNAVAILABLE = 503

/** What may be stored under a name: what was acknowledged last, and what was asked for since without an answer. */
type Possible = Map<string, (string | undefined)[]>

/** Lives through one seed. */
export async function runPerformanceServers(seed: number): Promise<Outcome> {
  const run = new PerformanceServerRun(seed)
  try {
    await run.live()
    return run.outcome(undefined)
  } catch (cause) {
    return run.outcome(`whole servers: ${cause instanceof Error ? cause.message : String(cause)}`)
  }
}

class PerformanceServerRun {
  readonly #random: PseudoRandom
  readonly #servers: ReplicatedServers
  readonly #lines: string[] = []
  readonly #policies: Possible = new Map()
  readonly #own = new Map<ReplicatedServer, Possible>()
  #all: ReplicatedServer[] = []
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
    for (const secondary of this.#all.slice(1)) {
      await this.#servers.activate(this.#primary, secondary, secondary.name, FAMILY)
      await this.#servers.level(this.#primary, secondary, LONGEST_HEALING_MS, FAMILY)
      await this.#servers.giveRootToken(this.#primary, secondary)
    }
    for (let steps = LEAST_STEPS + random.int(MORE_STEPS); steps > 0; steps--) await this.#step()
    await this.#heal()
  }

  async #step(): Promise<void> {
    const random = this.#random
    const { time } = this.#servers
    const any = random.pick(this.#all)
    const kind = random.int(20)
    this.#lines.push(`${time.nowMs} ${kind} ${any.name}`)
    if (kind < 6) await this.#writePolicy(any)
    else if (kind < 9) await this.#writeOwn(any)
    else if (kind < 11) await this.#writeKey(any)
    else if (kind < 12) await this.#rotate(any)
    else if (kind < 14) this.#crash(any)
    else if (kind < 16) await this.#start(any)
    else this.#trouble(random.pick(this.#all.slice(1)))
    await time.pass(random.pick(PAUSES_MS))
  }

  /** The status of the answer; a secondary may have to do without its primary. */
  async #call(server: ReplicatedServer, method: string, path: string, body?: unknown): Promise<number> {
    const startMs = this.#servers.time.nowMs
    const { status, body: answer } = await server.call(method, path, body)
    const tookMs = this.#servers.time.nowMs - startMs
    this.#lines.push(`${server.name} ${path} ${status} ${tookMs}`)
    const isLate = tookMs > MOST_MS
    const isWrong = status >= 500 && (status !== UNAVAILABLE || server === this.#primary)
    if (isWrong || isLate)
      throw new Error(`${server.name} ${method} ${path}: ${status} in ${tookMs} ms ${JSON.stringify(answer)}`)
    return status
  }

  async #write(possible: Possible, name: string, value: string | undefined, status: () => Promise<number>) {
    const before = possible.get(name) ?? [undefined]
    possible.set(name, [...before, value])
    if ((await status()) < 300) possible.set(name, [value])
  }

  async #writePolicy(server: ReplicatedServer): Promise<void> {
    if (this.#off.has(server)) return
    const name = `n${this.#random.int(4)}`
    const path = `sys/policies/acl/${name}`
    const policy = this.#random.chance(0.25)
      ? undefined
      : `path "${this.#random.int(1_000)}" { capabilities = ["read"] }`
    await this.#write(this.#policies, name, policy, () =>
      policy === undefined ? this.#call(server, 'DELETE', path) : this.#call(server, 'PUT', path, { policy }),
    )
  }

  async #writeOwn(server: ReplicatedServer): Promise<void> {
    if (this.#off.has(server)) return
    const own: Possible = this.#own.get(server) ?? new Map()
    this.#own.set(server, own)
    const name = `c${this.#random.int(3)}`
    const value = String(this.#random.int(1_000))
    await this.#write(own, name, value, () => this.#call(server, 'POST', `cubbyhole/${name}`, { value }))
    await this.#call(server, 'POST', 'auth/token/create', { policies: ['default'], ttl: '1h' })
  }

  async #writeKey(server: ReplicatedServer): Promise<void> {
    if (this.#off.has(server)) return
    const mount = `m${this.#random.int(2)}`
    const kind = this.#random.int(4)
    if (kind === 0) await this.#call(server, 'POST', `sys/mounts/${mount}`, { type: 'transit' })
    else if (kind === 1) await this.#call(server, 'POST', `${mount}/keys/k`)
    else if (kind === 2) await this.#call(server, 'POST', `${mount}/keys/k/rotate`)
    else await this.#call(server, 'POST', `${mount}/encrypt/k`, { plaintext: 'aGk=' })
  }

  async #rotate(server: ReplicatedServer): Promise<void> {
    if (!this.#off.has(server)) await this.#call(server, 'POST', 'sys/rotate')
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

  /** All is well again: the secondaries get there, and all that was acknowledged is there. */
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
    await this.#writePolicy(this.#primary)
    for (const secondary of this.#all.slice(1))
      await this.#servers.level(this.#primary, secondary, LONGEST_HEALING_MS, FAMILY)
    for (const server of this.#all) await this.#require(server)
  }

  async #require(server: ReplicatedServer): Promise<void> {
    const read = async (path: string, member: string): Promise<string | undefined> => {
      const { status, body } = await server.call('GET', path)
      return status === 404 ? undefined : String(body.data?.[member])
    }
    const requireOne = async (possible: Possible, path: string, member: string): Promise<void> => {
      for (const [name, values] of possible) {
        const found = await read(path + name, member)
        if (!values.includes(found))
          throw new Error(`I10 ${server.name} has ${found} at ${path}${name}, and ${values.join(' or ')} was stored`)
      }
    }
    await requireOne(this.#policies, 'sys/policies/acl/', 'policy')
    await requireOne(this.#own.get(server) ?? new Map(), 'cubbyhole/', 'value')
    const root = async ({ server: { store } }: ReplicatedServer): Promise<Buffer> =>
      (await this.#servers.time.until(store.roots())).replicated
    if (!isDeepStrictEqual(await root(server), await root(this.#primary)))
      throw new Error(`I7 the root of ${server.name} is not that of the primary`)
  }
}

/** A call waits for its primary for 10 seconds at most. */
const MOST_MS = 10_500
