// Writes of a managed key over the API: members that are sent change the stored record, the others stay.
import { fail } from '../api/errors.ts'
import { DEVICE_HASHES } from '../api/managed-keys.ts'
import { type ManagedKeyRecord, USAGES } from './managed-key-record.ts'
import { findMechanism, type ManagedMechanism } from './mechanisms.ts'
import type { KeyFamily } from './orders.ts'

/** Curves of keys that a device may make. */
export const MANAGED_CURVES: readonly string[] = ['p256', 'p384', 'p521']
/** Largest `max_parallel`. */
export const MOST_PARALLEL = 1_000
const MOST_CHARACTERS = 256
/** Limit for `key_id`, as CKA_ID has none of its own. */
const MOST_ID_DIGITS = 256
const BITS: Readonly<Record<KeyFamily, readonly number[]>> = { aes: [128, 256], rsa: [2048, 3072, 4096], ec: [] }

/** The members of a request; undefined ones were not sent. */
export type GivenManagedKey = {
  readonly library?: string | undefined
  readonly slot?: string | undefined
  readonly token_label?: string | undefined
  readonly pin?: string | undefined
  readonly key_label?: string | undefined
  readonly key_id?: string | undefined
  readonly mechanism?: string | undefined
  readonly key_bits?: number | undefined
  readonly curve?: string | undefined
  readonly rsa_oaep_hash?: string | undefined
  readonly allow_generate_key?: boolean | undefined
  readonly allow_replace_key?: boolean | undefined
  readonly allow_store_key?: boolean | undefined
  readonly any_mount?: boolean | undefined
  readonly usages?: readonly string[] | undefined
  readonly max_parallel?: number | undefined
}

const invalid = (field: string, why: string) => fail('field_invalid', [field, why])

/** Returns the record after a write; a new one gets a UUID from `newId`. @throws Refusal naming the field */
export function changedManagedKey(
  name: string,
  given: GivenManagedKey,
  before: ManagedKeyRecord | undefined,
  newId: () => string,
): ManagedKeyRecord {
  const mechanism = mechanismOf(given, before)
  const record: ManagedKeyRecord = {
    uuid: before?.uuid ?? newId(),
    name,
    library: given.library ?? before?.library ?? '',
    slot: slotOf(given.slot) ?? before?.slot ?? '',
    tokenLabel: textOf('token_label', given.token_label) ?? before?.tokenLabel ?? '',
    pin: textOf('pin', given.pin) ?? before?.pin ?? '',
    keyLabel: textOf('key_label', given.key_label) ?? before?.keyLabel ?? '',
    keyId: idOf(given.key_id) ?? before?.keyId ?? '',
    mechanism: mechanism.name,
    keyBits: bitsOf(mechanism, given.key_bits) ?? before?.keyBits ?? 0,
    curve: curveOf(given.curve) ?? before?.curve ?? '',
    oaepHash: hashOf(given.rsa_oaep_hash) ?? before?.oaepHash ?? 'sha256',
    allowGenerateKey: given.allow_generate_key ?? before?.allowGenerateKey ?? false,
    allowReplaceKey: given.allow_replace_key ?? before?.allowReplaceKey ?? false,
    allowStoreKey: given.allow_store_key ?? before?.allowStoreKey ?? false,
    anyMount: given.any_mount ?? before?.anyMount ?? false,
    usages: usagesOf(mechanism, given.usages) ?? before?.usages ?? mechanism.uses,
    maxParallel: given.max_parallel ?? before?.maxParallel ?? 1,
  }
  requireWhole(record, mechanism)
  return record
}

/** Checks that the record says where the key is and, if the key may be made, how. @throws Refusal */
function requireWhole(record: ManagedKeyRecord, { family }: ManagedMechanism): void {
  if (record.library === '') throw fail('field_missing', ['library'])
  if (record.slot === '' && record.tokenLabel === '')
    throw invalid('token_label', 'is missing: name the token, or its slot')
  if (record.keyLabel === '' && record.keyId === '')
    throw invalid('key_label', 'is missing: name the key, or its key_id')
  if (!record.allowGenerateKey) return
  if (family === 'ec' && record.curve === '')
    throw invalid('curve', `is missing for a key that may be made: ${MANAGED_CURVES.join(', ')}`)
  if (record.keyLabel === '') throw invalid('key_label', 'is missing for a key that may be made')
}

/** Returns the mechanism. A stored one never changes, since versions of transit keys rely on it. @throws Refusal */
function mechanismOf({ mechanism: text }: GivenManagedKey, before: ManagedKeyRecord | undefined): ManagedMechanism {
  const given = text === undefined ? undefined : findMechanism(text)
  if (text !== undefined && given === undefined)
    throw invalid('mechanism', 'is none that is offered, see the description')
  const known = before && findMechanism(before.mechanism)
  if (given !== undefined && known !== undefined && given !== known) {
    throw invalid('mechanism', 'cannot be changed: delete the managed key and write another')
  }
  const mechanism = known ?? given
  if (mechanism === undefined) throw fail('field_missing', ['mechanism'])
  return mechanism
}

function textOf(field: string, text: string | undefined): string | undefined {
  if (text !== undefined && text.length > MOST_CHARACTERS)
    throw invalid(field, `must have at most ${MOST_CHARACTERS} characters`)
  return text
}

function slotOf(slot: string | undefined): string | undefined {
  if (slot !== undefined && slot !== '' && !/^\d{1,19}$/.test(slot))
    throw invalid('slot', 'must be a number in decimal')
  return slot
}

function idOf(id: string | undefined): string | undefined {
  if (id === undefined || id === '') return id
  const digits = id.startsWith('0x') || id.startsWith('0X') ? id.slice(2) : id
  if (!/^[0-9a-f]+$/i.test(digits) || digits.length % 2 !== 0 || digits.length > MOST_ID_DIGITS) {
    throw invalid('key_id', 'must be bytes in hexadecimal, such as 0x01af')
  }
  return digits.toLowerCase()
}

function bitsOf({ family }: ManagedMechanism, bits: number | undefined): number | undefined {
  if (bits === undefined || bits === 0 || BITS[family].includes(bits)) return bits
  const offered = BITS[family].join(', ')
  throw invalid(
    'key_bits',
    offered === '' ? 'is for AES and RSA, name a curve' : `must be one of ${offered} for this mechanism`,
  )
}

function curveOf(curve: string | undefined): string | undefined {
  if (curve === undefined || curve === '') return curve
  const found = MANAGED_CURVES.find((one) => one === curve.toLowerCase().replace('-', ''))
  if (found === undefined) throw invalid('curve', `must be one of ${MANAGED_CURVES.join(', ')}`)
  return found
}

function hashOf(hash: string | undefined) {
  if (hash === undefined) return undefined
  const found = DEVICE_HASHES.find((one) => one === hash.toLowerCase())
  if (found === undefined) throw invalid('rsa_oaep_hash', `must be one of ${DEVICE_HASHES.join(', ')}`)
  return found
}

function usagesOf({ uses }: ManagedMechanism, given: readonly string[] | undefined) {
  if (given === undefined) return undefined
  const strange = given.find((one) => !USAGES.some((use) => use === one))
  if (strange !== undefined) throw invalid('usages', `must be among ${USAGES.join(', ')}`)
  const usages = uses.filter((use) => given.includes(use))
  if (usages.length === 0) throw invalid('usages', `leave nothing of what the mechanism can: ${uses.join(', ')}`)
  return usages
}
