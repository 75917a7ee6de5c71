// Identity tokens, by which mounts prove to other services who they are (identity federation), and the keys that sign
// them. A key signs for a day. The next one is published during all that time, so that verifiers know it before it
// signs. The former one stays published until every token it signed has ended. Keys are made with the first token and
// changed only when a token is asked for: mounts that use none cost nothing.
//
// Each cluster has keys of its own, as its address is an issuer of its own. So it signs without its primary, it retires
// a key by its own clock and tokens, and no other cluster can sign for its mounts.
//
//   root/core/local-plugin-identity/keys           JSON, {"format":1, …}: the public halves, and when each counts
//   root/core/local-plugin-identity/private/KID    a private half, PKCS #8 in DER; deleted when it stops signing
//
// Version 0.1.0 stored the same below root/core/plugin-identity/, which is shared. They are copied from there when a
// token is asked for, and removed with the next change of keys. To a performance secondary they are another's.
import { fail } from '../api/errors.ts'
import {
  type IdentityClaims,
  type IdentityTokens,
  MAX_IDENTITY_TOKEN_SECONDS,
  type PublishedIdentity,
  type PublishedKey,
} from '../api/identity-token.ts'
import type { NodeRole } from '../api/node-role.ts'
import { generateRs256, signRs256 } from '../crypto/jwt/rs256.ts'
import { count, group, listOf, oneOf, text } from '../lib/member-kinds.ts'
import { OneAtATime } from '../lib/one-at-a-time.ts'
import type { SlowWork } from '../lib/slow-work.ts'
import type { World } from '../lib/world.ts'
import { ROOT_NAMESPACE, systemScope } from '../storage/contract.ts'
import type { SealedStorage, View, ViewTransaction } from '../storage/sealed-storage.ts'
import { type RecordOf, storedRecord } from '../storage/stored-record.ts'

/** The members of `Rs256PublicKey`. */
const PUBLIC_KEY = { kid: text, n: text, e: text }
/** The stored set of public keys. One record, so that a change of keys is seen whole or not at all. */
export const IDENTITY_KEYS = storedRecord('The set of keys of identity tokens', {
  format: oneOf(1),
  current: group({ ...PUBLIC_KEY, sinceMs: count }),
  /** Published, but signs nothing yet. */
  next: group(PUBLIC_KEY),
  former: listOf(group({ ...PUBLIC_KEY, untilMs: count })),
})
type KeySet = RecordOf<typeof IDENTITY_KEYS>
type Made = Awaited<ReturnType<typeof generateRs256>>

const FOLDER = `${ROOT_NAMESPACE}/core/local-plugin-identity/`
const SHARED_FOLDER = `${ROOT_NAMESPACE}/core/plugin-identity/`
const KEYS = 'keys'
const privateOf = (kid: string): string => `private/${kid}`

/** More entries than 0.1.0 stored there: the set, and two private halves. */
const MOST_SHARED = 10

/** Time that a key signs: one day. */
const SIGNS_MS = 24 * 3_600_000
/** How far the clocks of verifiers may be behind ours. */
const LATE_MS = 10 * 60_000
/** Path of the issuer below `api_addr`; verifiers find discovery document and keys below it. */
const PATH = '/v1/identity/oidc/plugins'

type Parts = {
  readonly storage: SealedStorage
  readonly slow: SlowWork
  readonly world: World
  readonly nodeRole: () => NodeRole
  /** Empty if the configuration does not set `api_addr`. */
  readonly apiAddress: string
}

/**
 * Mints identity tokens and publishes their keys. Minting may change keys, so it runs on the writing thread; publishing
 * runs on any.
 */
export class PluginIdentity implements IdentityTokens, PublishedIdentity {
  readonly #parts: Parts
  readonly #view: View
  readonly #shared: View
  readonly #changes = new OneAtATime()

  constructor(parts: Parts) {
    this.#parts = parts
    this.#view = parts.storage.view(systemScope, FOLDER)
    this.#shared = parts.storage.view(systemScope, SHARED_FOLDER)
  }

  /** Returns the `iss` of tokens. @throws Refusal if `api_addr` is not set. */
  issuer(): string {
    const { apiAddress } = this.#parts
    if (apiAddress === '')
      throw fail('not_configured', [
        'identity tokens need an address at which the cloud finds their keys: set api_addr in the configuration of ' +
          'the server',
      ])
    return apiAddress.replace(/\/+$/, '') + PATH
  }

  /**
   * Signs a token for `subject`, valid for at most MAX_IDENTITY_TOKEN_SECONDS.
   * @throws Refusal if `api_addr` is not set.
   */
  async mint({ subject, audience, ttlSeconds }: IdentityClaims): Promise<string> {
    const { slow, world } = this.#parts
    const iss = this.issuer()
    const { kid, material } = await this.#changes.run(() => this.#signingKey())
    try {
      const iat = Math.floor(world.clock.nowMs() / 1000)
      const exp = iat + Math.min(ttlSeconds, MAX_IDENTITY_TOKEN_SECONDS)
      const claims = { iss, sub: subject, aud: audience, iat, nbf: iat, exp, jti: world.random.uuid() }
      return await signRs256(claims, kid, material, slow)
    } finally {
      material.fill(0)
    }
  }

  /**
   * Returns the keys that verifiers should accept. Read from storage each time, on any thread: it is rarely asked for.
   */
  async publishedKeys(): Promise<readonly PublishedKey[]> {
    const set = (await storedIn(this.#view)) ?? (this.#ownsShared() ? await storedIn(this.#shared) : undefined)
    if (set === undefined) return []
    const nowMs = this.#parts.world.clock.nowMs()
    return [set.current, set.next, ...set.former.filter(({ untilMs }) => untilMs > nowMs)].map(({ kid, n, e }) => ({
      kty: 'RSA',
      use: 'sig',
      alg: 'RS256',
      kid,
      n,
      e,
    }))
  }

  /** Returns the key to sign with, after a change of keys if one is due. The caller wipes `material`. */
  async #signingKey(): Promise<{ readonly kid: string; readonly material: Buffer }> {
    const set = (await storedIn(this.#view)) ?? (await this.#copyShared())
    // A start in the future counts as due too: the clock was wrong, and the key would sign until that day.
    const isDue = set === undefined || Math.abs(this.#parts.world.clock.nowMs() - set.current.sinceMs) >= SIGNS_MS
    const { kid } = (isDue ? await this.#change(set) : set).current
    const material = await this.#view.get(privateOf(kid))
    if (material === undefined) throw notThere()
    return { kid, material }
  }

  #ownsShared(): boolean {
    const { performance } = this.#parts.nodeRole()
    return performance === 'disabled' || performance === 'primary'
  }

  /** Takes over the keys that 0.1.0 stored; returns undefined if there are none. */
  async #copyShared(): Promise<KeySet | undefined> {
    if (!this.#ownsShared()) return undefined
    return this.#parts.storage.transaction(async (folders) => {
      const shared = folders.at(systemScope, SHARED_FOLDER)
      const own = folders.at(systemScope, FOLDER)
      const set = await storedIn(shared)
      if (set === undefined) return undefined
      for (const { kid } of [set.current, set.next]) {
        const material = await shared.get(privateOf(kid))
        if (material === undefined) throw notThere()
        own.put(privateOf(kid), material)
        material.fill(0)
      }
      own.put(KEYS, IDENTITY_KEYS.encode(set))
      return set
    })
  }

  /** Removes what was copied. */
  async #removeShared(): Promise<void> {
    if (!this.#ownsShared() || (await this.#shared.get(KEYS)) === undefined) return
    await this.#shared.transaction(async (tx) => {
      for (const path of await tx.keys('', '', MOST_SHARED)) tx.delete(path)
    })
  }

  /** Makes the first keys, or lets the next key sign and makes another next one. */
  async #change(before: KeySet | undefined): Promise<KeySet> {
    const made: Made[] = []
    try {
      if (before === undefined) made.push(await this.#newKey())
      const next = await this.#newKey()
      made.push(next)
      const changed = await this.#view.transaction(async (tx) => {
        const nowMs = this.#parts.world.clock.nowMs()
        const current = { ...(before?.next ?? (made[0] ?? next).publicKey), sinceMs: nowMs }
        const set: KeySet = { format: 1, current, next: next.publicKey, former: formerOf(before, nowMs) }
        for (const { publicKey, material } of made) tx.put(privateOf(publicKey.kid), material)
        if (before !== undefined) tx.delete(privateOf(before.current.kid))
        tx.put(KEYS, IDENTITY_KEYS.encode(set))
        return set
      })
      await this.#removeShared()
      return changed
    } finally {
      for (const { material } of made) material.fill(0)
    }
  }

  #newKey(): Promise<Made> {
    return generateRs256(this.#parts.world.random.bytes, this.#parts.slow)
  }
}

async function storedIn(folder: View | ViewTransaction): Promise<KeySet | undefined> {
  const bytes = await folder.get(KEYS)
  return bytes === undefined ? undefined : IDENTITY_KEYS.decode(bytes)
}

const notThere = (): Error => new Error('The key that signs identity tokens is not there')

/**
 * Returns the retired keys after a change. The key that signed until now stays until the last of its tokens has ended.
 */
function formerOf(before: KeySet | undefined, nowMs: number): KeySet['former'] {
  if (before === undefined) return []
  const { sinceMs: _sinceMs, ...last } = before.current
  const untilMs = nowMs + MAX_IDENTITY_TOKEN_SECONDS * 1000 + LATE_MS
  const others = before.former.filter((each) => each.untilMs > nowMs)
  // If the clock was ahead, older ends may lie too far off. None is published for longer than the key retired now.
  return [...others.map((each) => ({ ...each, untilMs: Math.min(each.untilMs, untilMs) })), { ...last, untilMs }]
}
