// The transit engine: named keys that do not leave the service, and what they do with data sent to it.
import { DEFAULT_EDITION, type Edition } from '../../api/edition.ts'
import type { DeviceRandom, ManagedKeys } from '../../api/managed-keys.ts'
import type { Engine, EngineType } from '../../api/mount.ts'
import { ACTIVE_PRIMARY, type NodeRole } from '../../api/node-role.ts'
import { Router } from '../../api/router.ts'
import { NoncePool } from '../../crypto/nonce-pool.ts'
import type { Log } from '../../lib/log.ts'
import type { SlowWork } from '../../lib/slow-work.ts'
import type { World } from '../../lib/world.ts'
import type { View } from '../../storage/sealed-storage.ts'
import { AutoRotation } from './auto-rotation.ts'
import { BudgetBook } from './budget-book.ts'
import { type BudgetAnswer, BudgetLedger, type BudgetQuestion } from './budget-ledger.ts'
import { cmacEndpoint } from './cmac-endpoint.ts'
import { CONFIG_ENDPOINTS } from './config-endpoints.ts'
import { DATAKEY_ENDPOINTS } from './datakey-endpoint.ts'
import { decryptEndpoint } from './decrypt-endpoint.ts'
import { encryptEndpoint } from './encrypt-endpoint.ts'
import { CountReader } from './encryption-counts.ts'
import { hashEndpoint } from './hash-endpoint.ts'
import { hmacEndpoint } from './hmac-endpoint.ts'
import { Keys } from './keys.ts'
import { KEYS_ENDPOINTS } from './keys-endpoints.ts'
import { LIFE_ENDPOINTS } from './life-endpoints.ts'
import { MOVING_ENDPOINTS } from './moving-endpoints.ts'
import { PAIR_ENDPOINTS } from './pair-endpoints.ts'
import { randomEndpoint } from './random-endpoint.ts'
import { rewrapEndpoint } from './rewrap-endpoint.ts'
import { signEndpoint } from './sign-endpoint.ts'
import { verifyEndpoint } from './verify-endpoint.ts'
import { WrappingKeys } from './wrapping-key.ts'

/** What one mount is given. */
export type TransitContext = {
  readonly storage: View
  readonly world: World
  readonly slow: SlowWork
  /** Missing: all features are on. */
  readonly edition?: Edition
  /** Missing: one node alone. */
  readonly role?: () => NodeRole
  readonly mount?: () => MountFacts
  readonly log?: Log
  /** Missing: there are none. */
  readonly managedKeys?: ManagedKeys
  readonly deviceRandom?: DeviceRandom
  /** Where another thread writes: asks the same mount there. */
  readonly askWriter?: (question: unknown) => Promise<unknown>
}

/** What the engine wants to know of its mount. */
type MountFacts = { readonly path: string; readonly local: boolean }

const NO_LOG: Log = () => {}

/** One mount of the engine. */
export class Transit implements Engine {
  readonly storage: View
  readonly world: World
  readonly slow: SlowWork
  readonly edition: Edition
  readonly role: () => NodeRole
  readonly mount: () => MountFacts
  readonly log: Log
  readonly managedKeys: ManagedKeys | undefined
  readonly deviceRandom: DeviceRandom | undefined
  /** Where messages are counted, in the thread that writes. */
  readonly ledger = new BudgetLedger(this)
  readonly budgets: BudgetBook
  readonly counts: CountReader
  readonly keys: Keys
  readonly nonces: NoncePool
  readonly wrappingKeys: WrappingKeys

  readonly #rotation = new AutoRotation(this)

  constructor(context: TransitContext) {
    const { storage, world, slow, edition = DEFAULT_EDITION } = context
    this.storage = storage
    this.world = world
    this.slow = slow
    this.edition = edition
    this.managedKeys = context.managedKeys
    this.deviceRandom = context.deviceRandom
    this.role = context.role ?? (() => ACTIVE_PRIMARY)
    this.mount = context.mount ?? (() => ({ path: '', local: false }))
    this.log = context.log ?? NO_LOG
    const { askWriter = (question) => this.answer(question) } = context
    this.budgets = new BudgetBook((question) => askWriter(question) as Promise<BudgetAnswer>)
    this.counts = new CountReader(storage)
    this.keys = new Keys(storage, this.budgets)
    this.nonces = new NoncePool(world.random.bytes)
    this.wrappingKeys = new WrappingKeys({ storage, world, slow, nonces: this.nonces })
  }

  get lookups() {
    return this.keys.lookups
  }

  changed(path: string): void {
    this.keys.changed(path)
    this.counts.changed(path)
    this.wrappingKeys.changed(path)
  }

  answer(question: unknown): Promise<BudgetAnswer> {
    return this.ledger.answer(question as BudgetQuestion)
  }

  upkeep(): Promise<void> {
    return this.#rotation.look()
  }

  reset(): void {
    this.keys.reset()
    this.counts.reset()
    this.wrappingKeys.reset()
  }
}

export const TRANSIT: EngineType<TransitContext> = {
  type: 'transit',
  kind: 'secret',
  summary: 'Encrypts, decrypts, signs, authenticates and makes data keys with named keys that stay here',
  router: new Router([
    ...KEYS_ENDPOINTS,
    ...LIFE_ENDPOINTS,
    encryptEndpoint,
    decryptEndpoint,
    rewrapEndpoint,
    ...DATAKEY_ENDPOINTS,
    signEndpoint,
    verifyEndpoint,
    hmacEndpoint,
    cmacEndpoint,
    randomEndpoint,
    hashEndpoint,
    ...PAIR_ENDPOINTS,
    ...MOVING_ENDPOINTS,
    ...CONFIG_ENDPOINTS,
  ]),
  create: (context) => new Transit(context),
}
