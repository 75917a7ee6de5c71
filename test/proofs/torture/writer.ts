// One client that writes without a pause until its server is gone: keys, policies and tokens of its own, and one key
// that all clients rotate. What is answered goes into the ledger.

import type { PseudoRandom } from '../../fixtures/pseudo-random.ts'
import { type ApiAnswer, api } from '../../fixtures/server-process.ts'
import {
  ABSENT,
  isDeletable,
  type Kind,
  keyValue,
  type Ledger,
  REVOKED,
  type Register,
  type Server,
  SHARED_KEY,
  VALID,
  versionOf,
} from './ledger.ts'

/** So that a long run compares what it changed and does not only grow. */
const MOST_PRESENT: Readonly<Record<Kind, number>> = { key: 60, policy: 40, token: 80 }
const MOST_CIPHERTEXTS = 50

/** Versions of the shared key: each is given to one rotation only, and none is taken back. */
export class SharedRotations {
  readonly #ledger: Ledger
  #given = new Set<number>()
  #least = 1
  #underWay = 0

  constructor(ledger: Ledger) {
    this.#ledger = ledger
  }

  begin(): void {
    this.#underWay += 1
  }

  acknowledge(version: number): void {
    this.#underWay -= 1
    this.#ledger.acknowledge([])
    if (this.#given.has(version)) this.#ledger.fault(`version ${version} of the shared key was given twice`)
    this.#given.add(version)
    this.#least = Math.max(this.#least, version)
  }

  async compare(server: Server): Promise<void> {
    const { body } = await api(server, 'GET', `transit/keys/${SHARED_KEY}`)
    const latest = Number(body.data?.latest_version)
    if (!(latest >= this.#least && latest <= this.#least + this.#underWay)) {
      this.#ledger.fault(
        `the shared key has version ${latest}, acknowledged ${this.#least}, and ${this.#underWay} were under way`,
      )
    }
    this.#least = latest
    this.#underWay = 0
  }
}

/** An answer of 5xx: whether the write happened is for the comparison to find out. */
class ServerFailed extends Error {
  override name = 'ServerFailed'
}

export class Writer {
  readonly #name: string
  readonly #ledger: Ledger
  readonly #shared: SharedRotations
  readonly #random: PseudoRandom
  readonly #own: Record<Kind, Register[]> = { key: [], policy: [], token: [] }
  readonly #children = new Map<Register, Register[]>()
  #made = 0
  #mayFail = false

  constructor(name: string, ledger: Ledger, shared: SharedRotations, random: PseudoRandom) {
    this.#name = name
    this.#ledger = ledger
    this.#shared = shared
    this.#random = random
  }

  /**
   * Ends when a request gets no answer, and when it `isOver`; with `mayFail` also when the server says that it failed.
   */
  async run(server: Server, mayFail = false, isOver = (): boolean => false): Promise<void> {
    this.#mayFail = mayFail
    try {
      while (!isOver()) await this.#step(server)
    } catch (cause) {
      if (cause instanceof ServerFailed) return
      // What `fetch` throws where the connection is gone; the system's own error is in it.
      if (!(cause instanceof TypeError && cause.cause !== undefined)) throw cause
    }
  }

  #step(server: Server): Promise<void> {
    const chosen = this.#random.int(100)
    if (chosen < 20) return this.#createKey(server)
    if (chosen < 40) return this.#rotate(server)
    if (chosen < 50) return this.#encrypt(server)
    if (chosen < 55) return this.#deleteKey(server)
    if (chosen < 58) return this.#rotateShared(server)
    if (chosen < 75) return this.#writePolicy(server)
    if (chosen < 80) return this.#deletePolicy(server)
    if (chosen < 93) return this.#createToken(server)
    return this.#revokeToken(server)
  }

  async #createKey(server: Server): Promise<void> {
    if (this.#present('key').length >= MOST_PRESENT.key) return this.#deleteKey(server)
    const register = this.#newRegister('key', this.#newName())
    await this.#write(server, [register], keyValue(1, false), 'POST', `transit/keys/${register.name}`)
  }

  async #rotate(server: Server): Promise<void> {
    const register = this.#pick('key')
    if (register === undefined) return
    const value = keyValue(versionOf(register) + 1, isDeletable(register))
    await this.#write(server, [register], value, 'POST', `transit/keys/${register.name}/rotate`)
  }

  async #encrypt(server: Server): Promise<void> {
    const register = this.#pick('key')
    if (register === undefined || register.ciphertexts.length >= MOST_CIPHERTEXTS) return
    const plaintext = Buffer.from(`${register.name} ${this.#made++}`).toString('base64')
    const { status, body } = await api(server, 'POST', `transit/encrypt/${register.name}`, { plaintext })
    if (status === 200) this.#ledger.keepCiphertext(register, String(body.data?.ciphertext), plaintext)
    else this.#refused(`encrypting with ${register.name}, ${register.known}`, { status, body })
  }

  async #deleteKey(server: Server): Promise<void> {
    const register = this.#pick('key')
    if (register === undefined) return
    const path = `transit/keys/${register.name}`
    const allowed = keyValue(versionOf(register), true)
    await this.#write(server, [register], allowed, 'POST', `${path}/config`, { deletion_allowed: true })
    await this.#write(server, [register], ABSENT, 'DELETE', path)
  }

  async #rotateShared(server: Server): Promise<void> {
    this.#shared.begin()
    const { status, body } = await api(server, 'POST', `transit/keys/${SHARED_KEY}/rotate`)
    if (status === 200) this.#shared.acknowledge(Number(body.data?.latest_version))
    else this.#refused('rotating the shared key', { status, body })
  }

  async #writePolicy(server: Server): Promise<void> {
    const full = this.#present('policy').length >= MOST_PRESENT.policy
    const register =
      (full || this.#random.chance(0.4) ? this.#pick('policy') : undefined) ??
      this.#newRegister('policy', this.#newName())
    const policy = `path "secret/${this.#made++}" { capabilities = ["read"] }`
    await this.#write(server, [register], policy, 'POST', `sys/policies/acl/${register.name}`, { policy })
  }

  async #deletePolicy(server: Server): Promise<void> {
    const register = this.#pick('policy')
    if (register !== undefined)
      await this.#write(server, [register], ABSENT, 'DELETE', `sys/policies/acl/${register.name}`)
  }

  /** One in three is the child of another, and is revoked with it. */
  async #createToken(server: Server): Promise<void> {
    if (this.#present('token').length >= MOST_PRESENT.token) return this.#revokeToken(server)
    const parent = this.#random.chance(0.3) ? this.#pick('token') : undefined
    const made = await api(server, 'POST', 'auth/token/create', { policies: ['root'] }, parent?.name)
    if (made.status !== 200) return this.#refused('creating a token', made)
    const register = this.#newRegister(
      'token',
      (made.body.auth as { client_token: string }).client_token,
      VALID,
      parent,
    )
    if (parent !== undefined) this.#children.set(parent, [...(this.#children.get(parent) ?? []), register])
    this.#ledger.acknowledge([register])
  }

  async #revokeToken(server: Server): Promise<void> {
    const register = this.#pick('token')
    if (register === undefined) return
    await this.#write(server, this.#withChildren(register), REVOKED, 'POST', 'auth/token/revoke', {
      token: register.name,
    })
  }

  #withChildren(register: Register): Register[] {
    return [register, ...(this.#children.get(register) ?? []).flatMap((child) => this.#withChildren(child))]
  }

  async #write(
    server: Server,
    registers: readonly Register[],
    value: string,
    method: string,
    path: string,
    body?: object,
  ): Promise<void> {
    for (const register of registers) if (register.known !== REVOKED) this.#ledger.begin(register, value)
    const answer: ApiAnswer = await api(server, method, path, body)
    if (answer.status < 300) this.#ledger.acknowledge(registers)
    else this.#refused(`${method} ${path}`, answer)
  }

  #refused(what: string, { status, body }: ApiAnswer): void {
    if (this.#mayFail && status >= 500) throw new ServerFailed()
    this.#ledger.fault(`${what} gave ${status} ${JSON.stringify(body)}`)
  }

  #newName(): string {
    return `${this.#name}-${this.#made++}`
  }

  #newRegister(kind: Kind, name: string, known = ABSENT, parent?: Register): Register {
    const register = this.#ledger.add(kind, name, known, parent)
    this.#own[kind].push(register)
    return register
  }

  #present(kind: Kind): Register[] {
    return this.#own[kind].filter(({ known }) => known !== ABSENT && known !== REVOKED)
  }

  #pick(kind: Kind): Register | undefined {
    const present = this.#present(kind)
    return present.length === 0 ? undefined : this.#random.pick(present)
  }
}
