// The stored form of a managed key: where the key is, the PIN of its token, and what may be done with it. It is JSON
// behind the barrier, {"format":1,…}; the PIN is in it, the key is not.
import { DEVICE_HASHES, type ManagedUse } from '../api/managed-keys.ts'
import { checked, count, flag, listOf, oneOf, text } from '../lib/member-kinds.ts'
import { type RecordOf, storedRecord } from '../storage/stored-record.ts'
import { findMechanism } from './mechanisms.ts'

/** All uses that `usages` can name. */
export const USAGES: readonly ManagedUse[] = ['encrypt', 'decrypt', 'sign', 'verify']

/** The stored form of a managed key. It has the PIN, and never the key. */
export const MANAGED_KEY_RECORD = storedRecord(
  'A managed key',
  {
    uuid: text,
    name: text,
    /** Name of a `kms_library` stanza of the configuration. */
    library: text,
    /** Number of the slot in decimal; '' if the token is found by its label. */
    slot: text,
    tokenLabel: text,
    pin: text,
    keyLabel: text,
    /** CKA_ID in hexadecimal; '' if the key is found by its label. */
    keyId: text,
    /** The name of one of MECHANISMS (mechanisms.ts). */
    mechanism: checked(text, (name) => findMechanism(name)?.name === name),
    /** Bits of the key if the device makes it; 0: the usual size. */
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
/** A managed key with its PIN: it goes to no caller. */
export type ManagedKeyRecord = RecordOf<typeof MANAGED_KEY_RECORD>

/** Returns the stored bytes of a record. */
export const encodeRecord = MANAGED_KEY_RECORD.encode
/** Reads a record. @throws StorageCorrupt */
export const decodeRecord = MANAGED_KEY_RECORD.decode
