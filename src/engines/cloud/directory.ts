// What the identity provider publishes for one tenant: who issues its tokens, and the keys that sign them. Kept as long
// as it is good, then read anew before it is used again, and still used for a day while the provider does not answer.
import type { World } from '../../lib/world.ts'
import type { Cloud, IssuerPattern } from './clouds.ts'
import { LoginDeadline } from './deadline.ts'
import { type KeySet, readKeySet, type SigningKey } from './key-set.ts'
import { isGuid } from './names.ts'
import { CloudRefusal, CloudUnavailable } from './refusals.ts'
import type { Upstream } from './upstream.ts'

export type TokenVersion = 'v1' | 'v2'
type Documents = {
  readonly issuer: string
  /** The GUID in the issuer. */
  readonly tenant: string
  readonly keysUrl: string
}

const HOUR_MS = 3_600_000
const DOCUMENT_AGE_MS = 24 * HOUR_MS
const KEYS_AGE_MS = HOUR_MS
const LONGEST_MS = 24 * HOUR_MS
/** Anybody can name a key that there is not, so the provider is asked for it this often at most. */
const UNKNOWN_KEY_PAUSE_MS = 30_000
/** What is kept still serves after it: a login has time left for the rest. */
const REFRESH_MS = 3_000
/** As long as a provider that failed is not asked again, while what is kept serves. */
const FAILED_PAUSE_MS = 30_000
const MAX_BYTES = 256 << 10
const SERVICE = 'identity provider'

export class Directory {
  readonly #world: World
  readonly #upstream: Upstream
  readonly #cloud: Cloud
  readonly #url: string
  readonly #issuer: IssuerPattern
  readonly #documents: Kept<Documents>
  readonly #keys: Kept<KeySet>
  #lastAskedMs = -Infinity

  constructor(world: World, upstream: Upstream, cloud: Cloud, tenant: string, version: TokenVersion) {
    this.#world = world
    this.#upstream = upstream
    this.#cloud = cloud
    this.#issuer = cloud.issuers[version]
    const folder = version === 'v2' ? '/v2.0' : ''
    this.#url = `${cloud.authority}/${encodeURIComponent(tenant)}${folder}/.well-known/openid-configuration`
    this.#documents = new Kept(world, DOCUMENT_AGE_MS, (deadline) => this.#readDocuments(deadline))
    this.#keys = new Kept(world, KEYS_AGE_MS, (deadline) => this.#readKeys(deadline))
  }

  /** @throws CloudUnavailable */
  issuer(deadline: LoginDeadline): Promise<Pick<Documents, 'issuer' | 'tenant'>> {
    return this.#documents.get(deadline)
  }

  /** Undefined where the provider has none of that name. @throws CloudUnavailable */
  async key(kid: string, deadline: LoginDeadline): Promise<SigningKey | undefined> {
    const known = (await this.#keys.get(deadline)).get(kid)
    if (known !== undefined) return known
    const nowMs = this.#world.clock.monotonicMs()
    // Whoever comes while it is asked waits for that answer.
    if (nowMs - this.#lastAskedMs >= UNKNOWN_KEY_PAUSE_MS) this.#lastAskedMs = nowMs
    else if (!this.#keys.isRefreshing) {
      // What could not be read says nothing of the key.
      if (this.#keys.hasFailed) throw unexpected('the keys could not be read a moment ago')
      return undefined
    }
    return (await deadline.within(this.#keys.refresh())).get(kid)
  }

  async #readDocuments(deadline: LoginDeadline): Promise<Documents> {
    const { issuer, jwks_uri: keysUrl } = await this.#get(this.#url, deadline)
    const { before, after } = this.#issuer
    if (typeof issuer !== 'string' || !issuer.startsWith(before) || !issuer.endsWith(after))
      throw unexpected('the issuer is not of the form that the cloud has')
    const tenant = issuer.slice(before.length, issuer.length - after.length)
    if (!isGuid(tenant)) throw unexpected('the issuer names no tenant')
    if (typeof keysUrl !== 'string' || !this.#isOurs(keysUrl)) throw unexpected('the keys are at another place')
    return { issuer, tenant, keysUrl }
  }

  #isOurs(address: string): boolean {
    const url = address.length > 2_048 ? null : URL.parse(address)
    return url !== null && url.username === '' && url.password === '' && this.#cloud.keyOrigins.includes(url.origin)
  }

  async #readKeys(deadline: LoginDeadline): Promise<KeySet> {
    const { keysUrl } = await this.#documents.get(deadline)
    const keys = await readKeySet(await this.#get(keysUrl, deadline))
    if (keys === undefined) throw unexpected('the document of keys has no key that can be used, or one name twice')
    return keys
  }

  async #get(url: string, deadline: LoginDeadline) {
    try {
      return await this.#upstream.call({ service: SERVICE, method: 'GET', url, maxBytes: MAX_BYTES }, deadline)
    } catch (cause) {
      if (cause instanceof CloudRefusal) throw new CloudUnavailable(`${SERVICE} unavailable`, cause.message, cause)
      throw cause
    }
  }
}

const unexpected = (what: string) => new CloudUnavailable(`${SERVICE} unavailable`, `In its documents ${what}`)

/** A document that is read anew when it is old; the last good one serves where that fails, for a day. */
class Kept<T> {
  readonly #world: World
  readonly #ageMs: number
  readonly #read: (deadline: LoginDeadline) => Promise<T>
  #last: { readonly value: T; readonly atMs: number } | undefined
  /** When the last attempt failed; undefined where it did not. */
  #failedAtMs: number | undefined
  #underWay: Promise<T> | undefined

  constructor(world: World, ageMs: number, read: (deadline: LoginDeadline) => Promise<T>) {
    this.#world = world
    this.#ageMs = ageMs
    this.#read = read
  }

  /** Whether the last attempt did. */
  get hasFailed(): boolean {
    return this.#failedAtMs !== undefined
  }

  get isRefreshing(): boolean {
    return this.#underWay !== undefined
  }

  async get(deadline: LoginDeadline): Promise<T> {
    const nowMs = this.#world.clock.monotonicMs()
    const last = this.#last
    const ageMs = last === undefined ? Infinity : nowMs - last.atMs
    if (last !== undefined && ageMs <= this.#ageMs) return last.value
    if (last === undefined || ageMs > this.#ageMs + LONGEST_MS) return deadline.within(this.refresh())
    // Not every login waits for a provider that is down.
    if (this.#failedAtMs !== undefined && nowMs - this.#failedAtMs <= FAILED_PAUSE_MS) return last.value
    try {
      // Somebody else may have begun one that takes longer.
      const limit = new LoginDeadline(this.#world, Math.min(REFRESH_MS, deadline.leftMs))
      return await limit.within(this.refresh(REFRESH_MS))
    } catch (cause) {
      if (cause instanceof CloudUnavailable) return last.value
      throw cause
    }
  }

  /** @throws CloudUnavailable */
  refresh(ms?: number): Promise<T> {
    if (this.#underWay !== undefined) return this.#underWay
    const { clock } = this.#world
    // Age counts from when it was asked for.
    const atMs = clock.monotonicMs()
    const deadline = new LoginDeadline(this.#world, ms)
    const underWay = deadline
      .within(this.#read(deadline))
      .then(
        (value) => {
          this.#last = { value, atMs }
          this.#failedAtMs = undefined
          return value
        },
        (cause: unknown) => {
          this.#failedAtMs = clock.monotonicMs()
          throw cause
        },
      )
      .finally(() => {
        this.#underWay = undefined
      })
    underWay.catch(() => {})
    this.#underWay = underWay
    return underWay
  }
}
