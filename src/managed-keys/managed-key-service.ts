// Managed keys in use: which mount may use which, and what a device answers, told as what a caller or an operator can
// do about it.
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

export type ServiceParts = {
  readonly store: ManagedKeyStore
  readonly devices: Devices
  readonly edition: Edition
}

const FEATURE = 'Managed Keys'
/** The usual size of a key that is made. */
const USUAL_BITS: Readonly<Record<DeviceKeySelector['family'], number>> = { aes: 256, rsa: 2048, ec: 0 }

export class ManagedKeyService implements DeviceRandom {
  readonly store: ManagedKeyStore
  readonly devices: Devices
  readonly #edition: Edition

  constructor({ store, devices, edition }: ServiceParts) {
    this.store = store
    this.devices = devices
    this.#edition = edition
  }

  /** @throws Refusal where the edition has none */
  requireOffered(): void {
    requireFeature(this.#edition, FEATURE)
  }

  /** The keys of one mount; `mount` gives it as it is at the call. */
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
        // One sentence, so that who may make keys does not learn which managed keys there are.
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

  /** Whatever mount may use it. */
  keyOf(record: ManagedKeyRecord): ManagedKey {
    return new DeviceKey(record, this.devices)
  }

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

/** By name, as the mount was told; or every mount. */
const isAllowed = ({ config }: MountEntry, { name, anyMount }: ManagedKeyRecord): boolean =>
  anyMount || config.allowedManagedKeys?.includes(name) === true

const notForMount = ({ path }: MountEntry): string =>
  `there is no such managed key that ${path} may use, see allowed_managed_keys of the mount and any_mount of the key`

/** What somebody set up wrongly, and can mend by a request. The others are of the device. */
const SET_UP_WRONGLY: ReadonlySet<FaultKind> = new Set(['pin', 'no-key', 'several-keys', 'unfit'])

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
    const outcome = await this.#devices.ask({ do: 'describe', key: this.#place(), create })
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

  #ask(what: 'encrypt' | 'decrypt' | 'sign', parameter: Parameter, data: Buffer): Promise<OrderOutcome> {
    return this.#devices.ask({ do: what, key: this.#place(), with: parameter, data: new Uint8Array(data) })
  }

  #opened(outcome: OrderOutcome): Buffer | undefined {
    return 'fault' in outcome && outcome.fault === 'unopened' ? undefined : this.#bytes(outcome)
  }

  #bytes(outcome: OrderOutcome): Buffer {
    if ('bytes' in outcome) return asBuffer(outcome.bytes)
    throw this.#refusal(outcome)
  }

  /** Neither the PIN nor what the device was given is in any of its sentences. */
  #refusal(outcome: OrderOutcome) {
    const { fault, detail }: OrderFault =
      'fault' in outcome ? outcome : { fault: 'failed', detail: 'it answered otherwise' }
    const what = `managed key "${this.name}"`
    return SET_UP_WRONGLY.has(fault)
      ? fail('managed_key_unusable', [`${what}: ${detail}`])
      : fail('device_failed', [what, detail])
  }

  #place(): DeviceKeySelector {
    const { library, slot, tokenLabel, pin, keyLabel, keyId } = this.#record
    return { library, slot, tokenLabel, pin, family: this.#mechanism.family, label: keyLabel, id: keyId }
  }
}

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
