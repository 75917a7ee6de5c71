// A managed key as it is stored: where the key is, what opens the way to it, and what may be done. JSON behind the
// barrier, {"format":1,…}; the PIN is in it, the key is not.
import { DEVICE_HASHES, type DeviceHash, type ManagedUse } from '../api/managed-keys.ts'
import { isJsonObject, type JsonObject, parseStoredJson } from '../lib/json.ts'
import { own } from '../lib/own.ts'
import { findMechanism } from './mechanisms.ts'

export const USAGES: readonly ManagedUse[] = ['encrypt', 'decrypt', 'sign', 'verify']

export type ManagedKeyRecord = {
  readonly uuid: string
  readonly name: string
  /** Name of a `kms_library`. */
  readonly library: string
  /** In decimal, or ''. */
  readonly slot: string
  readonly tokenLabel: string
  readonly pin: string
  readonly keyLabel: string
  /** Hexadecimal digits, or ''. */
  readonly keyId: string
  /** Name of one of MECHANISMS. */
  readonly mechanism: string
  /** 0, or of the key that is made. */
  readonly keyBits: number
  readonly curve: string
  readonly oaepHash: DeviceHash
  readonly allowGenerateKey: boolean
  readonly allowReplaceKey: boolean
  readonly allowStoreKey: boolean
  readonly anyMount: boolean
  readonly usages: readonly ManagedUse[]
  readonly maxParallel: number
}

export const encodeRecord = (record: ManagedKeyRecord): Buffer => Buffer.from(JSON.stringify({ format: 1, ...record }))

export function decodeRecord(bytes: Buffer): ManagedKeyRecord {
  const stored = parseStoredJson(bytes)
  if (!isJsonObject(stored) || stored.format !== 1) throw new Error('A managed key has an unknown format')
  const usages = stored.usages
  return {
    uuid: text(stored, 'uuid'),
    name: text(stored, 'name'),
    library: text(stored, 'library'),
    slot: text(stored, 'slot'),
    tokenLabel: text(stored, 'tokenLabel'),
    pin: text(stored, 'pin'),
    keyLabel: text(stored, 'keyLabel'),
    keyId: text(stored, 'keyId'),
    mechanism: known(stored, 'mechanism', findMechanism(text(stored, 'mechanism'))?.name),
    keyBits: count(stored, 'keyBits'),
    curve: text(stored, 'curve'),
    oaepHash: known(
      stored,
      'oaepHash',
      DEVICE_HASHES.find((hash) => hash === stored.oaepHash),
    ),
    allowGenerateKey: flag(stored, 'allowGenerateKey'),
    allowReplaceKey: flag(stored, 'allowReplaceKey'),
    allowStoreKey: flag(stored, 'allowStoreKey'),
    anyMount: flag(stored, 'anyMount'),
    usages: USAGES.filter((use) => Array.isArray(usages) && usages.includes(use)),
    maxParallel: count(stored, 'maxParallel'),
  }
}

function text(stored: JsonObject, name: string): string {
  const value = own(stored, name)
  if (typeof value !== 'string') throw unknown(name)
  return value
}

function flag(stored: JsonObject, name: string): boolean {
  const value = own(stored, name)
  if (typeof value !== 'boolean') throw unknown(name)
  return value
}

function count(stored: JsonObject, name: string): number {
  const value = own(stored, name)
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) throw unknown(name)
  return value
}

function known<T>(_stored: JsonObject, name: string, value: T | undefined): T {
  if (value === undefined) throw unknown(name)
  return value
}

const unknown = (name: string): Error => new Error(`A managed key has a "${name}" that cannot be`)
