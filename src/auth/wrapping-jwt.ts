// Wrapping tokens as JWTs: the wrapping token itself, signed by the cluster, with the address at which it can be
// unwrapped. A client can read from it where to go; only the token inside opens anything.
//
//   root/core/wrapping-key      the private key (crypto/jwt/es512.ts), behind the barrier
import type { KeyObject } from 'node:crypto'
import { describePublicKey, es512PublicHalf, generateEs512, loadEs512, readJwt, signJwt } from '../crypto/jwt/es512.ts'
import type { SlowWork } from '../lib/slow-work.ts'
import type { World } from '../lib/world.ts'
import { ROOT_NAMESPACE, systemScope } from '../storage/contract.ts'
import type { Invalidation } from '../storage/invalidation.ts'
import type { SealedStorage, View } from '../storage/sealed-storage.ts'

const CORE_FOLDER = `${ROOT_NAMESPACE}/core/`
const KEY_PATH = 'wrapping-key'
const TYPE = 'wrapping'
/** How far the clocks of readers may be behind ours. */
const EARLY_SECONDS = 5

type Parts = {
  readonly storage: SealedStorage
  readonly invalidation: Invalidation
  readonly slow: SlowWork
  readonly world: World
  /** Address at which to unwrap; empty if the configuration does not set `api_addr`. */
  readonly apiAddress: string
}

/** What a JWT says of the wrapping token in it. */
export type WrappingToken = {
  readonly token: string
  /** Accessor of the token in the wrapped answer, if there is one. */
  readonly wrappedAccessor: string | undefined
  readonly ttlSeconds: number
}

/** Signs and opens wrapping tokens in JWT form. The key stays in memory from its first use to seal. */
export class WrappingJwt {
  readonly #parts: Parts
  readonly #view: View
  #privateKey: KeyObject | undefined
  #publicKey: KeyObject | undefined

  constructor(parts: Parts) {
    this.#parts = parts
    this.#view = parts.storage.view(systemScope, CORE_FOLDER)
    const forget = () => {
      this.#privateKey = undefined
      this.#publicKey = undefined
    }
    parts.invalidation.register({ prefix: `core/${KEY_PATH}`, changed: forget, reset: forget })
  }

  /** Makes the key if there is none. Runs before requests are served, where the store may be written. */
  async addKey(): Promise<void> {
    if ((await this.#view.get(KEY_PATH)) !== undefined) return
    const stored = generateEs512(this.#parts.world.random.bytes)
    try {
      await this.#view.transaction(async (tx) => tx.put(KEY_PATH, stored))
    } finally {
      stored.fill(0)
    }
  }

  /** Returns `token` in JWT form. */
  async sign({ token, wrappedAccessor = '', ttlSeconds }: WrappingToken): Promise<string> {
    const { slow, world, apiAddress } = this.#parts
    this.#privateKey ??= await this.#load()
    const now = Math.floor(world.clock.nowMs() / 1000)
    const claims = {
      accessor: wrappedAccessor,
      // Readers take a missing address for one that they have to be told.
      ...(apiAddress === '' ? {} : { addr: apiAddress }),
      exp: now + ttlSeconds,
      iat: now,
      jti: token,
      nbf: now - EARLY_SECONDS,
      type: TYPE,
    }
    return signJwt(claims, this.#privateKey, slow)
  }

  /**
   * Returns the token inside; undefined if the text is no such JWT, or not signed by this cluster. `isLive` is asked
   * before the signature is checked, which costs a hundred times as much: a stranger cannot make the server check any.
   */
  async open(jwt: string, isLive: (token: string) => Promise<boolean>): Promise<string | undefined> {
    const read = readJwt(jwt)
    if (read === undefined) return undefined
    const { jti, type } = read.claims
    if (typeof jti !== 'string' || type !== TYPE || !(await isLive(jti))) return undefined
    this.#publicKey ??= es512PublicHalf(await this.#load())
    return (await read.isSigned(this.#publicKey, this.#parts.slow)) ? jti : undefined
  }

  /** Returns the public key, for `sys/wrapping/pubkey` and the check of JWTs elsewhere. */
  async publicKey(): Promise<ReturnType<typeof describePublicKey>> {
    this.#publicKey ??= es512PublicHalf(await this.#load())
    return describePublicKey(this.#publicKey)
  }

  async #load(): Promise<KeyObject> {
    const stored = await this.#view.get(KEY_PATH)
    if (stored === undefined) throw new Error('The key of wrapping tokens was never made')
    try {
      return loadEs512(stored)
    } finally {
      stored.fill(0)
    }
  }
}
