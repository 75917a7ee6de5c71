// Clients that write all kinds of things, each over a connection of its own, and remember which answer on it told them
// what: so the recording says for each write before which moment it was acknowledged.
import { Agent, request } from 'node:http'
import type { PseudoRandom } from '../../../fixtures/pseudo-random.ts'
import type { DiskEvent } from './disk-log.ts'

export const ABSENT = 'absent'

export type Kind = 'policy' | 'key' | 'token' | 'entity' | 'mount'

/** Names the n-th answer on the connection from a port, counted from 1; `run` tells one server from the next. */
export type AnswerId = { readonly run: number; readonly port: number; readonly count: number }

/** One stored thing, with what was written to it, in order; one write at a time. */
export type Register = {
  readonly kind: Kind
  /** The client that writes it. */
  readonly owner: string
  readonly name: string
  readonly writes: { readonly value: string; readonly answer: AnswerId | undefined }[]
}

export type Answered = { readonly status: number; readonly data: Record<string, unknown>; readonly answer: AnswerId }

/** A client with one connection. */
export class OneConnection {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  readonly #address: string
  readonly #run: number
  readonly #counts = new Map<number, number>()

  constructor(address: string, run: number) {
    this.#address = address
    this.#run = run
  }

  send(method: string, path: string, body?: object | Buffer): Promise<Answered> {
    return new Promise((resolve, reject) => {
      const headers = { 'X-Vault-Token': 'root' }
      const outgoing = request(`${this.#address}/v1/${path}`, { method, agent: this.#agent, headers }, (response) => {
        const port = response.socket.localPort ?? 0
        const count = (this.#counts.get(port) ?? 0) + 1
        this.#counts.set(port, count)
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          const bytes = Buffer.concat(chunks)
          const isJson = response.headers['content-type'] === 'application/json'
          const data = isJson ? (JSON.parse(bytes.toString()) as Record<string, unknown>) : { bytes }
          resolve({ status: response.statusCode ?? 0, data, answer: { run: this.#run, port, count } })
        })
      })
      outgoing.on('error', reject)
      outgoing.end(body === undefined || Buffer.isBuffer(body) ? body : JSON.stringify(body))
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}

/** Of one kind that a client holds at once: later it changes and removes what it has. */
const MOST_HELD = 12

export class Client {
  readonly #name: string
  readonly #random: PseudoRandom
  readonly #registers: Register[]
  #made = 0

  /** What it writes goes to `registers`, from one server to the next. */
  constructor(name: string, random: PseudoRandom, registers: Register[]) {
    this.#name = name
    this.#random = random
    this.#registers = registers
  }

  async run(connection: OneConnection, writes: number): Promise<void> {
    for (let i = 0; i < writes; i++) await this.#step(connection)
  }

  #step(to: OneConnection): Promise<void> {
    const chosen = this.#random.int(100)
    if (chosen < 35) return this.#policy(to)
    if (chosen < 65) return this.#key(to)
    if (chosen < 80) return this.#token(to)
    if (chosen < 95) return this.#entity(to)
    return this.#mount(to)
  }

  async #policy(to: OneConnection): Promise<void> {
    const register = this.#held('policy')
    const path = `sys/policies/acl/${register.name}`
    if (this.#is(register) && this.#random.chance(0.3)) return this.#write(to, register, ABSENT, 'DELETE', path)
    // Some are long: they take pages of their own.
    const length = this.#random.chance(0.1) ? this.#random.int(9_000) : this.#random.int(60)
    const policy = `path "secret/${this.#made++}${'x'.repeat(length)}" { capabilities = ["read"] }`
    await this.#write(to, register, policy, 'POST', path, { policy })
  }

  async #key(to: OneConnection): Promise<void> {
    const register = this.#held('key')
    const path = `transit/keys/${register.name}`
    const { version, deletable } = keyOf(latestOf(register))
    if (version === 0) return this.#write(to, register, keyText(1, false), 'POST', path, {})
    if (deletable) return this.#write(to, register, ABSENT, 'DELETE', path)
    if (this.#random.chance(0.3)) {
      return this.#write(to, register, keyText(version, true), 'POST', `${path}/config`, { deletion_allowed: true })
    }
    await this.#write(to, register, keyText(version + 1, false), 'POST', `${path}/rotate`, {})
  }

  async #token(to: OneConnection): Promise<void> {
    const held = this.#all('token').filter((register) => latestOf(register) !== ABSENT)
    if (held.length > 0 && this.#random.chance(0.4)) {
      const register = this.#random.pick(held)
      return this.#write(to, register, ABSENT, 'POST', 'auth/token/revoke', { token: register.name })
    }
    const { status, data, answer } = await to.send('POST', 'auth/token/create', { policies: ['default'] })
    if (status !== 200) throw new Error(`A token was refused with ${status}`)
    const name = (data.auth as { readonly client_token: string }).client_token
    this.#registers.push({ kind: 'token', owner: this.#name, name, writes: [{ value: 'valid', answer }] })
  }

  async #entity(to: OneConnection): Promise<void> {
    const register = this.#held('entity')
    const path = `identity/entity/name/${register.name}`
    if (this.#is(register) && this.#random.chance(0.4)) return this.#write(to, register, ABSENT, 'DELETE', path)
    const policy = `p${this.#made++}`
    await this.#write(to, register, policy, 'POST', path, { policies: [policy] })
  }

  async #mount(to: OneConnection): Promise<void> {
    const register = this.#held('mount')
    const path = `sys/mounts/${register.name}`
    if (this.#is(register)) return this.#write(to, register, ABSENT, 'DELETE', path)
    const description = `d${this.#made++}`
    await this.#write(to, register, description, 'POST', path, { type: 'transit', description })
  }

  async #write(
    to: OneConnection,
    register: Register,
    value: string,
    method: string,
    path: string,
    body?: object,
  ): Promise<void> {
    const { status, answer, data } = await to.send(method, path, body)
    if (status >= 300) throw new Error(`${method} ${path} was refused with ${status} ${JSON.stringify(data)}`)
    register.writes.push({ value, answer })
  }

  #all(kind: Kind): Register[] {
    return this.#registers.filter((register) => register.kind === kind && register.owner === this.#name)
  }

  /** One that this client has, or a new one. */
  #held(kind: Kind): Register {
    const all = this.#all(kind)
    const most = kind === 'mount' ? 2 : MOST_HELD
    if (all.length >= most || (all.length > 0 && this.#random.chance(0.5))) return this.#random.pick(all)
    const register: Register = { kind, owner: this.#name, name: `${this.#name}-${kind}-${this.#made++}`, writes: [] }
    this.#registers.push(register)
    return register
  }

  #is(register: Register): boolean {
    return latestOf(register) !== ABSENT
  }
}

export function latestOf({ writes }: Register): string {
  return writes.at(-1)?.value ?? ABSENT
}

export const keyText = (version: number, deletable: boolean): string =>
  `version ${version}${deletable ? ', deletable' : ''}`

function keyOf(value: string): { readonly version: number; readonly deletable: boolean } {
  return value === ABSENT
    ? { version: 0, deletable: false }
    : { version: Number(value.split(/[ ,]/)[1]), deletable: value.endsWith('deletable') }
}

/** The place of each answer among the events of one run, by port and count. */
export function placesOfAnswers(events: readonly DiskEvent[]): Map<string, number> {
  const places = new Map<string, number>()
  const counts = new Map<number, number>()
  for (const [at, event] of events.entries()) {
    if (event.kind !== 'answer') continue
    const count = (counts.get(event.port) ?? 0) + 1
    counts.set(event.port, count)
    places.set(`${event.port} ${count}`, at)
  }
  return places
}
