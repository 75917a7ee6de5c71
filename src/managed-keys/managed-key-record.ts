// A managed key as it is stored: where the key is, what opens the way to it, and what may be done. JSON behind the
// barrier, {"format":1,…}; the PIN is in it, the key is not.
import { DEVICE_HASHES, type ManagedUse } from '../api/managed-keys.ts'
import { checked, count, flag, listOf, oneOf, text } from '../lib/member-kinds.ts'
import { type RecordOf, storedRecord } from '../storage/stored-record.ts'
import { findMechanism } from './mechanisms.ts'

export const USAGES: readonly ManagedUse[] = ['encrypt', 'decrypt', 'sign', 'verify']

export const MANAGED_KEY_RECORD = storedRecord(
  'A managed key',
  {
    uuid: text,
    name: text,
    /** Name of a `kms_library`. */
    library: text,
    /** In decimal, or ''. */
    slot: text,
    tokenLabel: text,
    pin: text,
    keyLabel: text,
    /** Hexadecimal digits, or ''. */
    keyId: text,
    /** Name of one of MECHANISMS. */
    mechanism: checked(text, (name) => findMechanism(name)?.name === name),
    /** 0, or of the key that is made. */
    keyBits: count,
    curve: text,
    oaepHash: oneOf(...DEVICE_HASHES),
    allowGenerateKey: flag,
    allowReplaceKey: flag,
    allowStoreKey: flag,
    anyMount: flag,
    usages: listOf(oneOf(...USAGES)),
    maxParallel: count,
  },
  'dropped',
)
export type ManagedKeyRecord = RecordOf<typeof MANAGED_KEY_RECORD>

export const encodeRecord = MANAGED_KEY_RECORD.encode
export const decodeRecord = MANAGED_KEY_RECORD.decode
