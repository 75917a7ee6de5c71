// The keys that the directory signs with. As in the vendor's directory several are published at once, the next one
// before it is used. All tenants share them.
import { createHash, generateKeyPair, type KeyObject, type webcrypto } from 'node:crypto'
import { promisify } from 'node:util'
import type { Clock, Random } from '../src/lib/world.ts'
import { selfSigned } from './certificates.ts'

const generate = promisify(generateKeyPair)

/** A key pair, its id, and its public form. */
export type SigningKey = {
  readonly kid: string
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
  /** The public key as the key set shows it. */
  readonly jwk: PublishedKey
}

/** A member of the key set (RFC 7517): RSA without `alg`, like the vendor's. */
export type PublishedKey = webcrypto.JsonWebKey & {
  readonly kid?: string
  readonly x5t?: string
  readonly x5c?: readonly string[]
  readonly use?: string
  /** The issuer of the key: a template with `{tenantid}`, or one tenant's. Only the key set of version 2 has it. */
  readonly issuer?: string
}

/** How a rotation departs from the usual one, in which the old key stays published for a while. */
export type Rotation = {
  /** Removes the key that was in use from the key set at once. */
  readonly revoke?: boolean
  /** Signs with a key that is in no key set until `publish` is called. */
  readonly unannounced?: boolean
}

/** The keys of one directory, used and coming, and the key set as it is published. */
export class SigningKeys {
  /** The key in use; then those before it, newest first. */
  readonly #used: SigningKey[]
  #next: SigningKey
  #published: PublishedKey[]
  readonly #make: () => Promise<SigningKey>
  #foreign: Promise<SigningKey> | undefined

  private constructor(current: SigningKey, next: SigningKey, make: () => Promise<SigningKey>) {
    this.#used = [current]
    this.#next = next
    this.#published = [current.jwk, next.jwk]
    this.#make = make
  }

  static async make(clock: Clock, random: Random): Promise<SigningKeys> {
    const make = (): Promise<SigningKey> => makeSigningKey(clock.nowMs(), random)
    const [current, next] = await Promise.all([make(), make()])
    return new SigningKeys(current, next, make)
  }

  get current(): SigningKey {
    return this.#used[0] as SigningKey
  }

  /** The key that signed before the last rotation. @throws Error before the first rotation */
  get previous(): SigningKey {
    const key = this.#used[1]
    if (key === undefined) throw new Error('There is no previous key before the first rotation: rotate the keys first')
    return key
  }

  /** Finds a key that signs, did or will, published or not. */
  find(kid: string): SigningKey | undefined {
    return [...this.#used, this.#next].find((each) => each.kid === kid)
  }

  /** Returns a key of the same kind that the directory never had; always the same one. */
  foreign(): Promise<SigningKey> {
    this.#foreign ??= this.#make()
    return this.#foreign
  }

  /** The published key set, in order. */
  get published(): readonly PublishedKey[] {
    return this.#published
  }

  /** Puts the announced key into use, and announces another one. */
  async rotate({ revoke = false, unannounced = false }: Rotation = {}): Promise<SigningKey> {
    const old = this.current
    const fresh = await this.#make()
    this.#used.unshift(unannounced ? fresh : this.#next)
    if (revoke) this.withdraw(old.kid)
    if (!unannounced) {
      this.#next = fresh
      this.publish(fresh.jwk)
    }
    return this.current
  }

  /** Adds any member to the key set, good or malformed; by default the key in use. */
  publish(key: PublishedKey = this.current.jwk): void {
    this.#published = [...this.#published, key]
  }

  /** Removes the keys with this id from the key set. */
  withdraw(kid: string): void {
    this.#published = this.#published.filter((each) => each.kid !== kid)
  }

  /** Replaces the whole key set. */
  replacePublished(keys: readonly PublishedKey[]): void {
    this.#published = [...keys]
  }

  /** Makes a key of the same kind that neither signs nor is published: for `publish`, or for minting. */
  spare(): Promise<SigningKey> {
    return this.#make()
  }
}

async function makeSigningKey(nowMs: number, random: Random): Promise<SigningKey> {
  const pair = await generate('rsa', { modulusLength: 2048 })
  const certificate = selfSigned('Signing key of a cloud emulator', pair, nowMs, random)
  const kid = createHash('sha1').update(certificate).digest('base64url')
  const { n, e } = pair.publicKey.export({ format: 'jwk' })
  const jwk = { kty: 'RSA', use: 'sig', kid, x5t: kid, n, e, x5c: [certificate.toString('base64')] } as PublishedKey
  return { ...pair, kid, jwk }
}
