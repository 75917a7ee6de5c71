// Managed keys in use: which mount may use which key, and faults of devices as refusals that say what a caller or an
// operator can do.
import { type Edition, requireFeature } from '../api/edition.ts'
import { fail } from '../api/errors.ts'
import type {
  DeviceHash,
  DeviceRandom,
  ManagedKey,
  ManagedKeyFacts,
  ManagedKeys,
  ManagedUse,
} from '../api/managed-keys.ts'
import type { MountEntry } from '../api/mount.ts'
import type { Devices } from './device-link.ts'
import type { ManagedKeyRecord } from './managed-key-record.ts'
import type { ManagedKeyStore } from './managed-key-store.ts'
import { type ManagedMechanism, mechanismOf } from './mechanisms.ts'
import type { DeviceKeySelector, FaultKind, OrderFault, OrderOutcome, Parameter } from './orders.ts'

/** The environment of the service. */
export type ServiceParts = {
  readonly store: ManagedKeyStore
  readonly devices: Devices
  readonly edition: Edition
}

const FEATURE = 'Managed Keys'
/** The size of a key that the device makes, unless the record names one. */
const USUAL_BITS: Readonly<Record<DeviceKeySelector['family'], number>> = { aes: 256, rsa: 2048, ec: 0 }

/** The managed keys of a server, and the random source of its devices. */
export class ManagedKeyService implements DeviceRandom {
  readonly store: ManagedKeyStore
  readonly devices: Devices
  readonly #edition: Edition

  constructor({ store, devices, edition }: ServiceParts) {
    this.store = store
    this.devices = devices
    this.#edition = edition
  }

  /** Checks that the edition has managed keys. @throws Refusal */
  requireOffered(): void {
    requireFeature(this.#edition, FEATURE)
  }

  /** Returns the keys of one mount. `mount` returns its entry at the time of each call, as its settings may change. */
  forMount(mount: () => MountEntry): ManagedKeys {
    return {
      find: async ({ name, id }) => {
        this.requireOffered()
        if (name === '' && id === '') {
          throw fail('field_missing', [
            'managed_key_name',
            'a key of type managed_key needs "managed_key_name" or "managed_key_id"',
          ])
        }
        const record = name === '' ? await this.store.findById(id) : await this.store.findByName(name)
        const isMeant = record !== undefined && (id === '' || record.uuid === id)
        // One sentence for unknown and for forbidden keys: a caller who may make transit keys must not learn which
        // managed keys exist.
        if (!isMeant || !isAllowed(mount(), record)) {
          const field = name === '' ? 'managed_key_id' : 'managed_key_name'
          throw fail('key_not_found', [`"${field}": ${notForMount(mount())}`])
        }
        return this.keyOf(record)
      },
      get: async (id) => {
        this.requireOffered()
        const record = await this.store.findById(id)
        if (record === undefined || !isAllowed(mount(), record)) {
          throw fail('key_not_found', [`the managed key of this version: ${notForMount(mount())}`])
        }
        return this.keyOf(record)
      },
    }
  }

  /** Returns the key without asking which mount may use it. */
  keyOf(record: ManagedKeyRecord): ManagedKey {
    return new DeviceKey(record, this.devices)
  }

  /** Returns random bytes of the first library's device; undefined if none is configured. @throws Refusal */
  async bytes(count: number): Promise<Buffer | undefined> {
    const [library] = this.devices.libraries
    if (library === undefined) return undefined
    const outcome = await this.devices.ask({ do: 'random', library, count })
    if ('bytes' in outcome && outcome.bytes.length === count) return asBuffer(outcome.bytes)
    throw fail('device_failed', [
      'the random source of the device',
      'fault' in outcome ? outcome.detail : 'too few bytes',
    ])
  }
}

/** True if the mount's `allowed_managed_keys` name the key, or any mount may use it. */
const isAllowed = ({ config }: MountEntry, { name, anyMount }: ManagedKeyRecord): boolean =>
  anyMount || config.allowedManagedKeys?.includes(name) === true

const notForMount = ({ path }: MountEntry): string =>
  `there is no such managed key that ${path} may use, see allowed_managed_keys of the mount and any_mount of the key`

/** Faults of the set-up, which an operator can mend by a request: 400. All others are the device's: 502. */
const SET_UP_WRONGLY: ReadonlySet<FaultKind> = new Set(['pin', 'no-key', 'several-keys', 'unfit'])

/** One managed key: turns steps of a cipher or a signature into orders, and outcomes into bytes or refusals. */
class DeviceKey implements ManagedKey {
  readonly #record: ManagedKeyRecord
  readonly #devices: Devices
  readonly #mechanism: ManagedMechanism

  constructor(record: ManagedKeyRecord, devices: Devices) {
    this.#record = record
    this.#devices = devices
    this.#mechanism = mechanismOf(record.mechanism)
  }

  get id() {
    return this.#record.uuid
  }
  get name() {
    return this.#record.name
  }
  get scheme() {
    return this.#mechanism.scheme
  }
  get oaepHash() {
    return this.#record.oaepHash
  }

  can(use: ManagedUse): boolean {
    return this.#mechanism.uses.includes(use) && this.#record.usages.includes(use)
  }

  async facts(): Promise<ManagedKeyFacts> {
    const { allowGenerateKey, keyBits, curve } = this.#record
    const { family, uses } = this.#mechanism
    const create = allowGenerateKey ? { bits: keyBits || USUAL_BITS[family], curve, uses } : undefined
    const outcome = await this.#devices.ask({ do: 'describe', key: this.#selector(), create })
    if (!('found' in outcome)) throw this.#refusal(outcome)
    const { bits, publicKey } = outcome.found
    return { bits, publicKey: publicKey === undefined ? undefined : asBuffer(publicKey) }
  }

  async seal(nonce: Buffer, plaintext: Buffer, associatedData: Buffer): Promise<Buffer> {
    const parameter: Parameter = { kind: 'aes-gcm', nonce, associatedData }
    return this.#bytes(await this.#ask('encrypt', parameter, plaintext))
  }

  async open(nonce: Buffer, sealed: Buffer, associatedData: Buffer): Promise<Buffer | undefined> {
    return this.#opened(await this.#ask('decrypt', { kind: 'aes-gcm', nonce, associatedData }, sealed))
  }

  async openOaep(sealed: Buffer): Promise<Buffer | undefined> {
    return this.#opened(await this.#ask('decrypt', { kind: 'rsa-oaep', hash: this.oaepHash }, sealed))
  }

  async signBlock(block: Buffer): Promise<Buffer> {
    const kind = this.scheme === 'ecdsa' ? 'ecdsa' : 'rsa-pkcs1'
    return this.#bytes(await this.#ask('sign', { kind }, block))
  }

  async signPss(digest: Buffer, hash: DeviceHash, saltBytes: number): Promise<Buffer> {
    return this.#bytes(await this.#ask('sign', { kind: 'rsa-pss', hash, saltBytes }, digest))
  }

  /** Gives the device an order with a copy of the data, as plain bytes. */
  #ask(what: 'encrypt' | 'decrypt' | 'sign', parameter: Parameter, data: Buffer): Promise<OrderOutcome> {
    return this.#devices.ask({ do: what, key: this.#selector(), with: parameter, data: new Uint8Array(data) })
  }

  #opened(outcome: OrderOutcome): Buffer | undefined {
    return 'fault' in outcome && outcome.fault === 'unopened' ? undefined : this.#bytes(outcome)
  }

  #bytes(outcome: OrderOutcome): Buffer {
    if ('bytes' in outcome) return asBuffer(outcome.bytes)
    throw this.#refusal(outcome)
  }

  /** Returns the refusal for a fault. Its sentence never holds the PIN, or data that the device was given. */
  #refusal(outcome: OrderOutcome) {
    const { fault, detail }: OrderFault =
      'fault' in outcome ? outcome : { fault: 'failed', detail: 'it answered otherwise' }
    const what = `managed key "${this.name}"`
    return SET_UP_WRONGLY.has(fault)
      ? fail('managed_key_unusable', [`${what}: ${detail}`])
      : fail('device_failed', [what, detail])
  }

  #selector(): DeviceKeySelector {
    const { library, slot, tokenLabel, pin, keyLabel, keyId } = this.#record
    return { library, slot, tokenLabel, pin, family: this.#mechanism.family, label: keyLabel, id: keyId }
  }
}

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
