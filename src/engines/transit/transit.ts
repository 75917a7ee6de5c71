// The transit engine: named keys that stay in the service, and operations with them on data that clients send.
import { DEFAULT_EDITION, type Edition } from '../../api/edition.ts'
import type { DeviceRandom, ManagedKeys } from '../../api/managed-keys.ts'
import type { Engine, MountableType, PromotedAs } from '../../api/mount.ts'
import { ACTIVE_PRIMARY, type NodeRole } from '../../api/node-role.ts'
import { Router } from '../../api/router.ts'
import type { SeenEntries } from '../../api/seen-entries.ts'
import { NoncePool } from '../../crypto/primitives/nonce-pool.ts'
import type { Log } from '../../lib/log.ts'
import type { SlowWork } from '../../lib/slow-work.ts'
import type { World } from '../../lib/world.ts'
import type { View } from '../../storage/sealed-storage.ts'
import { type AskPrimary, ClusterLedger, type GrantAnswer } from './budget/cluster-ledger.ts'
import { CountReader } from './budget/encryption-counts.ts'
import { type AllowanceAnswer, type AllowanceCall, MessageCountStore } from './budget/message-count-store.ts'
import { MessageCounter } from './budget/message-counter.ts'
import { MESSAGE_LIMITS, type MessageLimits } from './budget/message-limits.ts'
import { cmacEndpoint } from './endpoints/cmac-endpoint.ts'
import { TRANSIT_CONFIG_ENDPOINTS } from './endpoints/config-endpoints.ts'
import { DATAKEY_ENDPOINTS } from './endpoints/datakey-endpoint.ts'
import { decryptEndpoint } from './endpoints/decrypt-endpoint.ts'
import { encryptEndpoint } from './endpoints/encrypt-endpoint.ts'
import { hashEndpoint } from './endpoints/hash-endpoint.ts'
import { hmacEndpoint } from './endpoints/hmac-endpoint.ts'
import { IMPORT_EXPORT_ENDPOINTS } from './endpoints/import-export-endpoints.ts'
import { KEYPAIR_ENDPOINTS } from './endpoints/keypair-endpoints.ts'
import { KEYS_ENDPOINTS } from './endpoints/keys-endpoints.ts'
import { LIFECYCLE_ENDPOINTS } from './endpoints/lifecycle-endpoints.ts'
import { randomEndpoint } from './endpoints/random-endpoint.ts'
import { rewrapEndpoint } from './endpoints/rewrap-endpoint.ts'
import { signEndpoint } from './endpoints/sign-endpoint.ts'
import { verifyEndpoint } from './endpoints/verify-endpoint.ts'
import { AutoRotation } from './ring/auto-rotation.ts'
import { Keys } from './ring/keys.ts'
import type { RingHeader } from './ring/ring-header.ts'
import { rotate } from './ring/rotation.ts'
import { WrappingKeys } from './ring/wrapping-key.ts'

/** The environment of one mount, as assembly hands it in. */
export type TransitContext = {
  readonly storage: View
  readonly world: World
  readonly slow: SlowWork
  /** Missing: the default edition, in which all features are on. */
  readonly edition?: Edition
  /** The role of the node at the time of the call; missing: an active primary. */
  readonly role?: () => NodeRole
  readonly mount?: () => MountFacts
  readonly log?: Log
  /** The managed keys that this mount may use; missing: there are none. */
  readonly managedKeys?: ManagedKeys
  readonly deviceRandom?: DeviceRandom
  /** Asks the same mount on the thread that writes; missing: this thread is that one. */
  readonly callWriter?: (question: unknown) => Promise<unknown>
  /** Asks the cluster that owns the mount (`handleClusterCall`); missing: it is this one, or cannot be asked. */
  readonly askPrimary?: AskPrimary
  /** What clusters that may be promoted have got of the mount; missing: there is none. */
  readonly seen?: SeenEntries
  /** Missing: MESSAGE_LIMITS. */
  readonly limits?: MessageLimits
}

/** Facts of the mount, as they are at the call: a mount may move. */
type MountFacts = { readonly path: string; readonly local: boolean }

const NO_LOG: Log = () => {}

/** One mount of the engine on one thread. Endpoints take single parts of it, as their `Parts` say. */
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
  /** What clusters were granted, and what a promotion does to it; used on the thread that writes. */
  readonly ledger: ClusterLedger
  /** The counts of all threads; used on the thread that writes. */
  readonly messageCounts: MessageCountStore
  /** What this thread may still seal. */
  readonly budgets: MessageCounter
  readonly counts: CountReader
  readonly keys: Keys
  readonly nonces: NoncePool
  readonly wrappingKeys: WrappingKeys

  readonly #rotation: AutoRotation

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
    const { callWriter = (question) => this.handleWriterCall(question) } = context
    const { limits = MESSAGE_LIMITS, askPrimary, seen } = context
    this.counts = new CountReader(storage, limits)
    this.budgets = new MessageCounter({
      ask: (question) => callWriter(question) as Promise<AllowanceAnswer>,
      limits,
      onBegin: () => this.counts.forgetMount(),
    })
    this.keys = new Keys(storage, this.budgets, this.counts)
    this.nonces = new NoncePool(world.random.bytes)
    this.wrappingKeys = new WrappingKeys({
      storage,
      world,
      slow,
      nonces: this.nonces,
      role: this.role,
      mount: this.mount,
    })
    const counting = {
      storage,
      limits,
      keys: this.keys,
      role: this.role,
      mount: this.mount,
      log: this.log,
      randomBytes: world.random.bytes,
      rotate: (name: string, allow: (header: RingHeader) => void) => rotate(this, name, allow),
    }
    this.ledger = new ClusterLedger({ ...counting, seen })
    this.messageCounts = new MessageCountStore({ ...counting, ledger: this.ledger, askPrimary })
    this.#rotation = new AutoRotation(this)
  }

  get lookups() {
    return this.keys.lookups
  }

  changed(path: string): void {
    this.keys.changed(path)
    this.counts.changed(path)
    this.wrappingKeys.changed(path)
  }

  handleWriterCall(question: unknown): Promise<AllowanceAnswer> {
    return this.messageCounts.answer(question as AllowanceCall)
  }

  /** Answers the engine of the same mount on another cluster; runs on the thread that writes. */
  handleClusterCall(question: unknown, secondary: string): Promise<GrantAnswer> {
    return this.ledger.answer(question, secondary)
  }

  promoted(promotion: string, as: PromotedAs): Promise<void> {
    return this.ledger.promoted(as, promotion)
  }

  joinPrimary(): Promise<void> {
    return this.messageCounts.join()
  }

  upkeep(): Promise<void> {
    return this.#rotation.rotateDue()
  }

  reset(): void {
    this.keys.reset()
    this.counts.reset()
    this.budgets.reset()
    this.messageCounts.reset()
    this.wrappingKeys.reset()
  }
}

/** The engine as a mountable type, with all its endpoints. */
export const TRANSIT: MountableType<TransitContext> = {
  type: 'transit',
  kind: 'secret',
  summary: 'Encrypts, decrypts, signs, computes MACs and generates data keys with named keys that the server holds',
  page: { title: 'Transit: named keys' },
  router: new Router<Transit>([
    ...KEYS_ENDPOINTS,
    ...LIFECYCLE_ENDPOINTS,
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
    ...KEYPAIR_ENDPOINTS,
    ...IMPORT_EXPORT_ENDPOINTS,
    ...TRANSIT_CONFIG_ENDPOINTS,
  ]),
  create: (context) => new Transit(context),
}
