// Tokens by which mounts prove elsewhere who they are (identity federation), and the keys that sign them. One key signs
// for a day; the next one is published all that time before it signs; the one before stays published until every token
// that it signed has ended. Keys are made when the first token is asked for, and changed when a token is: nothing is
// signed, and nothing changes, for mounts that do not ask.
//
//   root/core/plugin-identity/keys           JSON, {"format":1, …}: the public halves, and when each counts
//   root/core/plugin-identity/private/KID    a private half, PKCS #8 in DER; gone when it signs no more
import { fail } from '../api/errors.ts'
import {
  type IdentityClaims,
  type IdentityTokens,
  MAX_IDENTITY_TOKEN_SECONDS,
  type PublishedIdentity,
  type PublishedKey,
} from '../api/identity-token.ts'
import { generateRs256, signRs256 } from '../crypto/jwt/rs256.ts'
import { count, group, listOf, oneOf, text } from '../lib/member-kinds.ts'
import { OneAtATime } from '../lib/one-at-a-time.ts'
import type { SlowWork } from '../lib/slow-work.ts'
import type { World } from '../lib/world.ts'
import { ROOT_NAMESPACE, systemScope } from '../storage/contract.ts'
import type { SealedStorage, View } from '../storage/sealed-storage.ts'
import { type RecordOf, storedRecord } from '../storage/stored-record.ts'

/** As `Rs256PublicKey`. */
const PUBLIC_KEY = { kid: text, n: text, e: text }
export const IDENTITY_KEYS = storedRecord('The set of keys of identity tokens', {
  format: oneOf(1),
  current: group({ ...PUBLIC_KEY, sinceMs: count }),
  /** Published, and signs nothing yet. */
  next: group(PUBLIC_KEY),
  former: listOf(group({ ...PUBLIC_KEY, untilMs: count })),
})
type KeySet = RecordOf<typeof IDENTITY_KEYS>
type Made = Awaited<ReturnType<typeof generateRs256>>

const FOLDER = `${ROOT_NAMESPACE}/core/plugin-identity/`
const KEYS = 'keys'
const privateOf = (kid: string): string => `private/${kid}`

const SIGNS_MS = 24 * 3_600_000
/** Clocks of those who check tokens may be behind. */
const LATE_MS = 10 * 60_000
const PATH = '/v1/identity/oidc/plugins'

type Parts = {
  readonly storage: SealedStorage
  readonly slow: SlowWork
  readonly world: World
  /** '' where the configuration names none. */
  readonly apiAddress: string
}

export class PluginIdentity implements IdentityTokens, PublishedIdentity {
  readonly #parts: Parts
  readonly #view: View
  readonly #changes = new OneAtATime()

  constructor(parts: Parts) {
    this.#parts = parts
    this.#view = parts.storage.view(systemScope, FOLDER)
  }

  issuer(): string {
    const { apiAddress } = this.#parts
    if (apiAddress === '')
      throw fail('not_configured', [
        'identity tokens need an address at which the cloud finds their keys: set api_addr in the configuration of ' +
          'the server',
      ])
    return apiAddress.replace(/\/+$/, '') + PATH
  }

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

  /** Read anew each time, on whichever thread: it is asked for rarely, and costs little. */
  async publishedKeys(): Promise<readonly PublishedKey[]> {
    const set = await this.#stored()
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

  /** Of which `material` is the caller's to wipe. */
  async #signingKey(): Promise<{ readonly kid: string; readonly material: Buffer }> {
    const set = await this.#stored()
    // Also one from days to come: the clock was wrong, and would let that key sign until then.
    const isDue = set === undefined || Math.abs(this.#parts.world.clock.nowMs() - set.current.sinceMs) >= SIGNS_MS
    const { kid } = (isDue ? await this.#change(set) : set).current
    const material = await this.#view.get(privateOf(kid))
    if (material === undefined) throw new Error('The key that signs identity tokens is not there')
    return { kid, material }
  }

  /** Makes the first keys, or lets the next one sign. */
  async #change(before: KeySet | undefined): Promise<KeySet> {
    const made: Made[] = []
    try {
      if (before === undefined) made.push(await this.#newKey())
      const next = await this.#newKey()
      made.push(next)
      return await this.#view.transaction(async (tx) => {
        const nowMs = this.#parts.world.clock.nowMs()
        const current = { ...(before?.next ?? (made[0] ?? next).publicKey), sinceMs: nowMs }
        const set: KeySet = { format: 1, current, next: next.publicKey, former: formerOf(before, nowMs) }
        for (const { publicKey, material } of made) tx.put(privateOf(publicKey.kid), material)
        if (before !== undefined) tx.delete(privateOf(before.current.kid))
        tx.put(KEYS, IDENTITY_KEYS.encode(set))
        return set
      })
    } finally {
      for (const { material } of made) material.fill(0)
    }
  }

  #newKey(): Promise<Made> {
    return generateRs256(this.#parts.world.random.bytes, this.#parts.slow)
  }

  async #stored(): Promise<KeySet | undefined> {
    const bytes = await this.#view.get(KEYS)
    return bytes === undefined ? undefined : IDENTITY_KEYS.decode(bytes)
  }
}

/** What signed until now signs no more: it goes when the last of its tokens has ended. */
function formerOf(before: KeySet | undefined, nowMs: number): KeySet['former'] {
  if (before === undefined) return []
  const { sinceMs: _sinceMs, ...last } = before.current
  const untilMs = nowMs + MAX_IDENTITY_TOKEN_SECONDS * 1000 + LATE_MS
  const others = before.former.filter((each) => each.untilMs > nowMs)
  // Where the clock was ahead, none is published for longer than that which goes now.
  return [...others.map((each) => ({ ...each, untilMs: Math.min(each.untilMs, untilMs) })), { ...last, untilMs }]
}
