// What the identity provider publishes for one tenant: the issuer of its tokens, and the keys that sign them. Documents
// are kept for a time, then read again before they are used. While the provider does not answer they serve for another
// day.
import type { World } from '../../lib/world.ts'
import type { Cloud, IssuerPattern } from './clouds.ts'
import { LoginDeadline } from './deadline.ts'
import { type KeySet, readKeySet, type SigningKey } from './key-set.ts'
import { isGuid } from './names.ts'
import { CloudRefusal, CloudUnavailable } from './refusals.ts'
import type { Upstream } from './upstream.ts'

/** The version of a token. The provider publishes each at an address of its own, with its own form of issuer. */
export type TokenVersion = 'v1' | 'v2'
type Documents = {
  readonly issuer: string
  /** The GUID in the issuer. */
  readonly tenant: string
  readonly keysUrl: string
}

const HOUR_MS = 3_600_000
/** How long each document serves before it is read again. */
const DOCUMENT_AGE_MS = 24 * HOUR_MS
const KEYS_AGE_MS = HOUR_MS
/** How long it serves beyond that while the provider does not answer. */
const LONGEST_MS = 24 * HOUR_MS
/** Pause between questions for unknown keys: any caller can name a key that does not exist (threats L-08). */
const UNKNOWN_KEY_PAUSE_MS = 30_000
/**
 * Time for reading a document again while the old one still serves. Short, so that the login has time left for the
 * rest.
 */
const REFRESH_MS = 3_000
/** Pause before a provider that failed is asked again, while old documents serve. */
const FAILED_PAUSE_MS = 30_000
/** Bytes of one document. */
const MAX_BYTES = 256 << 10
const SERVICE = 'identity provider'

/** The documents of one tenant and token version. */
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

  /** Returns the issuer and its tenant. @throws CloudUnavailable */
  issuer(deadline: LoginDeadline): Promise<Pick<Documents, 'issuer' | 'tenant'>> {
    return this.#documents.get(deadline)
  }

  /** Returns the key of that name; undefined if the provider has none. @throws CloudUnavailable */
  async key(kid: string, deadline: LoginDeadline): Promise<SigningKey | undefined> {
    const known = (await this.#keys.get(deadline)).get(kid)
    if (known !== undefined) return known
    const nowMs = this.#world.clock.monotonicMs()
    // A caller that comes while the provider is asked waits for that answer.
    if (nowMs - this.#lastAskedMs >= UNKNOWN_KEY_PAUSE_MS) this.#lastAskedMs = nowMs
    else if (!this.#keys.isRefreshing) {
      // A failed read says nothing about the key, so this is no refusal.
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

/** A document that is read again when it is old. If that fails, the last good one serves for another day. */
class Kept<T> {
  readonly #world: World
  readonly #ageMs: number
  readonly #read: (deadline: LoginDeadline) => Promise<T>
  #last: { readonly value: T; readonly atMs: number } | undefined
  /** When the last attempt failed; undefined if it succeeded. */
  #failedAtMs: number | undefined
  #underWay: Promise<T> | undefined

  constructor(world: World, ageMs: number, read: (deadline: LoginDeadline) => Promise<T>) {
    this.#world = world
    this.#ageMs = ageMs
    this.#read = read
  }

  /** True if the last attempt failed. */
  get hasFailed(): boolean {
    return this.#failedAtMs !== undefined
  }

  /** True while the document is being read. */
  get isRefreshing(): boolean {
    return this.#underWay !== undefined
  }

  /** Returns the document, read again if it is old. @throws CloudUnavailable if there is none that may serve. */
  async get(deadline: LoginDeadline): Promise<T> {
    const nowMs = this.#world.clock.monotonicMs()
    const last = this.#last
    const ageMs = last === undefined ? Infinity : nowMs - last.atMs
    if (last !== undefined && ageMs <= this.#ageMs) return last.value
    if (last === undefined || ageMs > this.#ageMs + LONGEST_MS) return deadline.within(this.refresh())
    // While the provider is down, logins go on with the old document instead of each waiting for a failure.
    if (this.#failedAtMs !== undefined && nowMs - this.#failedAtMs <= FAILED_PAUSE_MS) return last.value
    try {
      // Another caller may have begun a read with a longer deadline, so this wait has its own limit.
      const limit = new LoginDeadline(this.#world, Math.min(REFRESH_MS, deadline.leftMs))
      return await limit.within(this.refresh(REFRESH_MS))
    } catch (cause) {
      if (cause instanceof CloudUnavailable) return last.value
      throw cause
    }
  }

  /** Reads the document again, or joins the read that is under way. @throws CloudUnavailable */
  refresh(ms?: number): Promise<T> {
    if (this.#underWay !== undefined) return this.#underWay
    const { clock } = this.#world
    // Age counts from the question, since the answer may be that old.
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
