// Clients of a soak. Each writes policies, keys, entities and tokens of its own, one request after the other at an even
// pace, logs in, and remembers what was answered. Clients of the pair turn to the other cluster where one refuses or is
// gone; clients of the region stay there, and what they write is handed to the primary.
import { setTimeout as sleep } from 'node:timers/promises'
import type { PseudoRandom } from '../../../fixtures/pseudo-random.ts'
import type { Cluster } from '../../../fixtures/real-cluster.ts'
import type { Asked, Outcome, Request, SoakTally } from './soak-tally.ts'

const ABSENT = 'absent'
const VALID = 'valid'
/** Of one client and kind, so that a long run changes what is there and does not only grow. */
const MOST_PRESENT = 15
const MOST_CIPHERTEXTS = 20
const MOST_CHECKED_ANSWERS = 0.3
/** Tokens of logins and short ones; they are looked for a while later. */
export const SHORT_TTL = 3
const EXPIRED_AFTER_MS = 1_000 * SHORT_TTL + 3_000
export const SOAK_USER = { name: 'ann', password: 'what-ann-knows' }

type Kind = 'policy' | 'key' | 'entity' | 'token'

/** What one client alone writes. */
export type StoredThing = {
  readonly kind: Kind
  /** Of a token: itself. */
  readonly name: string
  /** The region keeps its tokens to itself. */
  readonly isOfRegion: boolean
  /** As acknowledged last. */
  known: string
  /** As it may be, where a write had no answer. Nothing writes it any more then: that write may still come. */
  doubt: string | undefined
  /** The last answer said that it may be seen later. */
  isLate: boolean
  readonly ciphertexts: { readonly ciphertext: string; readonly plaintext: string }[]
}

type Place = { readonly path: (name: string) => string; readonly value: (data: Record<string, unknown>) => string }

const PLACES: Readonly<Record<Kind, Place>> = {
  policy: { path: (name) => `sys/policies/acl/${name}`, value: ({ policy }) => String(policy) },
  key: { path: (name) => `transit/keys/${name}`, value: ({ latest_version: version }) => String(version) },
  entity: {
    path: (name) => `identity/entity/name/${name}`,
    value: ({ metadata }) => String((metadata as Record<string, unknown> | undefined)?.n),
  },
  token: { path: () => 'auth/token/lookup-self', value: () => VALID },
}

export type ClientOptions = {
  readonly name: string
  /** Where it goes: the pair, or the region alone. */
  readonly clusters: readonly Cluster[]
  readonly isOfRegion: boolean
  readonly random: PseudoRandom
  readonly tally: SoakTally
  readonly pauseMs: number
}

/** One client. */
export class SoakClient {
  readonly stored: StoredThing[] = []
  readonly #options: ClientOptions
  readonly #short: { readonly token: string; readonly expiredMs: number }[] = []
  #at = 0
  #made = 0

  constructor(options: ClientOptions) {
    this.#options = options
  }

  /** Goes on until `isOver`. */
  async run(isOver: () => boolean): Promise<void> {
    const { pauseMs, random } = this.#options
    while (!isOver()) {
      await this.#step()
      await sleep(pauseMs / 2 + random.int(pauseMs))
    }
  }

  /** What of it the cluster does not have as it was acknowledged. */
  async missingAt(cluster: Cluster, wants: (thing: StoredThing) => boolean): Promise<readonly string[]> {
    const missing: string[] = []
    for (const thing of this.stored.filter(wants)) {
      const found = await this.#found(cluster, thing)
      if (found !== thing.known && (found === undefined || found !== thing.doubt))
        missing.push(`${thing.kind} ${thing.name}: ${thing.known} or ${thing.doubt} at ${cluster.name}, is ${found}`)
      else if (thing.kind === 'key' && found !== ABSENT) missing.push(...(await this.#unopened(cluster, thing)))
    }
    return missing
  }

  get #cluster(): Cluster {
    return this.#options.clusters[this.#at] as Cluster
  }

  #step(): Promise<unknown> {
    const chosen = this.#options.random.int(100)
    if (chosen < 25) return this.#writePolicy()
    if (chosen < 40) return this.#writeEntity()
    if (chosen < 50) return this.#createKey()
    if (chosen < 60) return this.#rotateKey()
    if (chosen < 72) return this.#encrypt()
    if (chosen < 80) return this.#remove()
    if (chosen < 86) return this.#createToken()
    if (chosen < 90) return this.#shortToken()
    if (chosen < 95) return this.#logIn()
    return this.#requireExpired()
  }

  #writePolicy(): Promise<unknown> {
    const thing = this.#changed('policy')
    const policy = `path "secret/${thing.name}/${this.#made++}" { capabilities = ["read"] }`
    return this.#write(thing, policy, { method: 'PUT', path: PLACES.policy.path(thing.name), body: { policy } })
  }

  #writeEntity(): Promise<unknown> {
    const thing = this.#changed('entity')
    const n = String(this.#made++)
    const path = PLACES.entity.path(thing.name)
    return this.#write(thing, n, { method: 'POST', path, body: { metadata: { n } } })
  }

  async #createKey(): Promise<unknown> {
    if (this.#present('key').length >= MOST_PRESENT) return this.#rotateKey()
    const thing = this.#new('key', this.#newName())
    return this.#write(thing, '1', { method: 'POST', path: PLACES.key.path(thing.name), body: {} })
  }

  async #rotateKey(): Promise<unknown> {
    const thing = this.#pick('key')
    if (thing === undefined) return
    const path = `${PLACES.key.path(thing.name)}/rotate`
    return this.#write(thing, String(Number(thing.known) + 1), { method: 'POST', path, body: {} })
  }

  async #encrypt(): Promise<void> {
    const thing = this.#pick('key')
    if (thing === undefined || thing.isLate || thing.ciphertexts.length >= MOST_CIPHERTEXTS) return
    const plaintext = Buffer.from(`${thing.name} ${this.#made++}`).toString('base64')
    const asked = await this.#ask({ method: 'POST', path: `transit/encrypt/${thing.name}`, body: { plaintext } })
    const ciphertext = asked.answer?.body.data?.ciphertext
    if (asked.outcome !== 'done') return
    if (typeof ciphertext === 'string') thing.ciphertexts.push({ ciphertext, plaintext })
    else this.#fault(`encrypting with ${thing.name}: ${JSON.stringify(asked.answer)}`)
  }

  async #remove(): Promise<unknown> {
    const kind = this.#options.random.pick(['policy', 'key', 'entity', 'token'] as const)
    const thing = this.#pick(kind)
    if (thing === undefined) return
    const path = PLACES[kind].path(thing.name)
    if (kind === 'token')
      return this.#write(thing, ABSENT, { method: 'POST', path: 'auth/token/revoke', body: { token: thing.name } })
    if (kind === 'key') {
      const allowing = { method: 'POST', path: `${path}/config`, body: { deletion_allowed: true } }
      if ((await this.#write(thing, thing.known, allowing)) !== 'done') return
    }
    return this.#write(thing, ABSENT, { method: 'DELETE', path })
  }

  async #createToken(): Promise<unknown> {
    if (this.#present('token').length >= MOST_PRESENT) return this.#remove()
    const token = await this.#given('auth/token/create', { ttl: '12h', policies: ['default'] })
    if (token === undefined) return
    const thing = this.#new('token', token)
    thing.known = VALID
    this.#options.tally.acknowledged += 1
    return this.#check(thing)
  }

  async #shortToken(): Promise<void> {
    this.#keepShort(await this.#given('auth/token/create', { ttl: `${SHORT_TTL}s`, policies: ['default'] }))
  }

  async #logIn(): Promise<void> {
    const { name, password } = SOAK_USER
    this.#keepShort(await this.#given(`auth/userpass/login/${name}`, { password }, ''))
  }

  #keepShort(token: string | undefined): void {
    if (token === undefined) return
    this.#options.tally.acknowledged += 1
    this.#short.push({ token, expiredMs: performance.now() + EXPIRED_AFTER_MS })
  }

  /** Undefined where there was no answer of success. */
  async #given(path: string, body: object, token?: string): Promise<string | undefined> {
    const asked = await this.#ask({ method: 'POST', path, body, ...(token === undefined ? {} : { token }) })
    if (asked.outcome !== 'done') return
    const auth = asked.answer?.body.auth as { readonly client_token?: string } | undefined
    if (auth?.client_token === undefined) this.#fault(`${path}: ${JSON.stringify(asked.answer)}`)
    return auth?.client_token
  }

  /** A token whose time is over is one no more, wherever it is shown. */
  async #requireExpired(): Promise<void> {
    const at = this.#short.findIndex(({ expiredMs }) => expiredMs < performance.now())
    if (at < 0) return
    const [{ token } = { token: '' }] = this.#short.splice(at, 1)
    const { outcome, answer } = await this.#ask({ method: 'GET', path: PLACES.token.path(''), token })
    if (outcome === 'done' && answer?.status !== 403)
      this.#fault(`a token outlives its time: ${JSON.stringify(answer)}`)
  }

  async #write(thing: StoredThing, value: string, request: Request): Promise<Outcome> {
    thing.doubt = value
    const { outcome, answer } = await this.#ask(request)
    if (outcome === 'done') {
      if ((answer?.status ?? 0) >= 300) this.#fault(`${request.path}: ${JSON.stringify(answer)}`)
      this.#options.tally.acknowledged += 1
      thing.known = value
      thing.isLate = Array.isArray(answer?.body.warnings)
    }
    if (outcome === 'done' || outcome === 'refused') thing.doubt = undefined
    if (outcome === 'done') await this.#check(thing)
    return outcome
  }

  /** What was answered is seen at once by the one who was told. */
  async #check(thing: StoredThing): Promise<void> {
    const { random } = this.#options
    if (thing.isLate || !random.chance(MOST_CHECKED_ANSWERS)) return
    const found = await this.#found(this.#cluster, thing)
    if (found !== undefined && found !== thing.known)
      this.#fault(`${thing.kind} ${thing.name} is ${found} right behind the answer that it is ${thing.known}`)
  }

  /** Undefined where the cluster says nothing of it now. */
  async #found(cluster: Cluster, { kind, name }: StoredThing): Promise<string | undefined> {
    const request = { method: 'GET', path: PLACES[kind].path(name), ...(kind === 'token' ? { token: name } : {}) }
    const { outcome, answer } = await this.#options.tally.ask(cluster, request)
    if (outcome !== 'done' || answer === undefined) return undefined
    if (answer.status === 404 || (kind === 'token' && answer.status === 403)) return ABSENT
    return answer.status === 200 ? PLACES[kind].value(answer.body.data ?? {}) : `status ${answer.status}`
  }

  async #unopened(cluster: Cluster, { name, ciphertexts }: StoredThing): Promise<readonly string[]> {
    if (ciphertexts.length === 0) return []
    const body = { batch_input: ciphertexts.map(({ ciphertext }) => ({ ciphertext })) }
    const request = { method: 'POST', path: `transit/decrypt/${name}`, body }
    const { answer } = await this.#options.tally.ask(cluster, request)
    const results = (answer?.body.data?.batch_results ?? []) as readonly { readonly plaintext?: string }[]
    return ciphertexts
      .filter(({ plaintext }, i) => results[i]?.plaintext !== plaintext)
      .map(({ ciphertext }) => `key ${name} does not open ${ciphertext} at ${cluster.name}`)
  }

  async #ask(request: Request): Promise<Asked> {
    const { tally, clusters } = this.#options
    const asked = await tally.ask(this.#cluster, request)
    if (asked.outcome === 'refused') tally.refused += 1
    if (asked.outcome === 'open') tally.open += 1
    if (asked.outcome !== 'done') this.#at = (this.#at + 1) % clusters.length
    return asked
  }

  #fault(text: string): void {
    this.#options.tally.fault(`${this.#options.name} at ${this.#cluster.name}: ${text}`)
  }

  #newName(): string {
    return `${this.#options.name}-${this.#made++}`
  }

  #new(kind: Kind, name: string): StoredThing {
    const { isOfRegion } = this.#options
    const isOnlyThere = isOfRegion && kind === 'token'
    const thing = {
      kind,
      name,
      isOfRegion: isOnlyThere,
      known: ABSENT,
      doubt: undefined,
      isLate: false,
      ciphertexts: [],
    }
    this.stored.push(thing)
    return thing
  }

  #present(kind: Kind): readonly StoredThing[] {
    return this.stored.filter((each) => each.kind === kind && each.known !== ABSENT && each.doubt === undefined)
  }

  #pick(kind: Kind): StoredThing | undefined {
    const present = this.#present(kind)
    return present.length === 0 ? undefined : this.#options.random.pick(present)
  }

  /** One that is there, or a new one. */
  #changed(kind: Kind): StoredThing {
    const present = this.#present(kind)
    const isNew = present.length < MOST_PRESENT && this.#options.random.chance(0.5)
    return (isNew ? undefined : this.#pick(kind)) ?? this.#new(kind, this.#newName())
  }
}
