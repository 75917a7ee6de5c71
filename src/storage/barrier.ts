// The layer through which only ciphertext passes to storage. A stored value is bound to the path it was written to and
// to the term of its key. So two stored values cannot be swapped unseen (threats P-09).
//
//   format 1 | term u32 | nonce 12 | ciphertext n | tag 16        AES-256-GCM
//   associated data: "keywright barrier" | format | term | path
//
// Term 0 is no data key. It marks records sealed by the unseal key (core/root-key) or by the root key (core/keyring,
// core/former-keys, core/replaced-keys, core/key-use, core/recovery-key, and what is below core/undone/).
import type { KeyObject } from 'node:crypto'
import { AEADS, AuthenticationFailed, openSecret, seal } from '../crypto/primitives/aead.ts'
import { NoncePool } from '../crypto/primitives/nonce-pool.ts'
import type { Random } from '../lib/world.ts'
import { DataKeyUsedUp, Sealed, StorageCorrupt } from './errors.ts'
import type { DataKey, Keyring } from './keyring.ts'
import { MAX_ENCRYPTIONS } from './keyring-limits.ts'

const FORMAT = 1
const NONCE_AT = 5
const BODY_AT = NONCE_AT + 12
const TAG_BYTES = 16
/** One draw of randomness serves 256 records. */
const NONCES_BYTES = 256 * (BODY_AT - NONCE_AT)
const DOMAIN = Buffer.from('keywright barrier')

function associatedData(term: number, path: string): Buffer {
  const data = Buffer.alloc(DOMAIN.length + 5 + Buffer.byteLength(path))
  DOMAIN.copy(data)
  data.writeUInt8(FORMAT, DOMAIN.length)
  data.writeUInt32BE(term, DOMAIN.length + 1)
  data.write(path, DOMAIN.length + 5)
  return data
}

/** Seals one record with `key`, without a `Barrier`. The nonce must never have been used with this key. */
export function sealRecord(key: KeyObject, term: number, path: string, nonce: Buffer, plaintext: Buffer): Buffer {
  const body = seal(AEADS.aes256Gcm, key, nonce, plaintext, associatedData(term, path))
  const out = Buffer.alloc(BODY_AT + body.length)
  out.writeUInt8(FORMAT, 0)
  out.writeUInt32BE(term, 1)
  nonce.copy(out, NONCE_AT)
  body.copy(out, BODY_AT)
  return out
}

/**
 * Opens one record. The plaintext is the caller's to wipe.
 * @throws AuthenticationFailed for a wrong key or path, StorageCorrupt for another term or for bytes that are no record
 */
export function openRecord(key: KeyObject, term: number, path: string, record: Buffer): Buffer {
  if (termOf(path, record) !== term) throw new StorageCorrupt(`The record at ${path} has another key's term`)
  return openSecret(
    AEADS.aes256Gcm,
    key,
    record.subarray(NONCE_AT, BODY_AT),
    record.subarray(BODY_AT),
    associatedData(term, path),
  )
}

function termOf(path: string, record: Buffer, leastBytes = 0): number {
  if (record.length < BODY_AT + leastBytes + TAG_BYTES || record[0] !== FORMAT) {
    throw new StorageCorrupt(`The record at ${path} is too short or of an unknown format`)
  }
  return record.readUInt32BE(1)
}

/** What can be told about a record without its key. */
export type RecordForm = {
  /** True if a data key sealed it; otherwise its term is 0. */
  readonly isBehindBarrier: boolean
  /** Fewest bytes of plaintext. */
  readonly leastBytes: number
}

/** @throws StorageCorrupt for bytes that no key opens as such a record */
export function requireForm(path: string, record: Buffer, { isBehindBarrier, leastBytes }: RecordForm): void {
  const hasDataKey = termOf(path, record, leastBytes) !== 0
  if (hasDataKey !== isBehindBarrier) throw new StorageCorrupt(`The record at ${path} has another key's term`)
}

/** Opens the record, or returns why this key does not. */
function tryOpen({ key }: DataKey, term: number, path: string, record: Buffer): Buffer | AuthenticationFailed {
  try {
    return openRecord(key, term, path, record)
  } catch (cause) {
    if (!(cause instanceof AuthenticationFailed)) throw cause
    return cause
  }
}

/**
 * Seals and opens stored values with the keyring. Each thread has one of its own. Rotation goes by the count of the
 * writing thread (`src/system/seal/keyring-rotation.ts`): the others seal next to nothing.
 */
export class Barrier {
  #keyring: Keyring | undefined
  readonly #nonces: NoncePool
  #encryptions = 0
  #most = MAX_ENCRYPTIONS
  #alarm: { readonly at: number; readonly work: () => void } | undefined

  constructor(random: Random, keyring?: Keyring) {
    this.#nonces = new NoncePool((count) => random.bytes(count), NONCES_BYTES)
    this.#keyring = keyring
  }

  get sealed(): boolean {
    return this.#keyring === undefined
  }

  /** The keyring, to hand it to another thread; undefined while sealed. */
  get keyring(): Keyring | undefined {
    return this.#keyring
  }

  /** Sets the keyring. Undefined seals: the key objects are released, and with their last reference the key bytes. */
  setKeyring(keyring: Keyring | undefined): void {
    this.#keyring = keyring
  }

  /** Encryptions of this thread under the active term; each drew a random nonce (threats P-11). */
  get encryptions(): number {
    return this.#encryptions
  }

  /**
   * Continues the count from here: 0 for a new term, the stored count for one in use. It ends at `most`: other clusters
   * may have a share of the same key. Takes the alarm off.
   */
  countFrom(encryptions: number, most = MAX_ENCRYPTIONS): void {
    this.#encryptions = encryptions
    this.#most = most
    this.#alarm = undefined
  }

  /** Runs `work` once, inside the `seal` that brings the count to `encryptions`. */
  alarmAt(encryptions: number, work: () => void): void {
    this.#alarm = { at: encryptions, work }
  }

  /**
   * Seals a value for `path` with the active term.
   * @throws Sealed, DataKeyUsedUp, RandomnessFailed
   */
  seal(path: string, plaintext: Buffer): Buffer {
    const { activeTerm, terms } = this.#unsealed()
    this.#count()
    const { key } = terms.get(activeTerm) as { key: KeyObject }
    return sealRecord(key, activeTerm, path, this.#nonces.take(BODY_AT - NONCE_AT), plaintext)
  }

  #count(): void {
    if (this.#encryptions >= this.#most) {
      throw new DataKeyUsedUp('The data key has been used as often as is safe: rotate the keyring (sys/rotate)')
    }
    this.#encryptions++
    const alarm = this.#alarm
    if (alarm === undefined || this.#encryptions < alarm.at) return
    this.#alarm = undefined
    alarm.work()
  }

  /** Opens the value stored at `path`. @throws Sealed, StorageCorrupt if it is not what was written to `path` */
  open(path: string, record: Buffer): Buffer {
    const term = termOf(path, record)
    const keyring = this.#unsealed()
    const dataKey = keyring.terms.get(term)
    const opened = dataKey && tryOpen(dataKey, term, path, record)
    if (opened instanceof Buffer) return opened
    for (const former of keyring.former?.get(term) ?? []) {
      const openedBefore = tryOpen(former, term, path, record)
      if (openedBefore instanceof Buffer) return openedBefore
    }
    if (opened === undefined) throw new StorageCorrupt(`The record at ${path} names a key that is not in the keyring`)
    throw new StorageCorrupt(`The record at ${path} is not what was written there`, { cause: opened })
  }

  #unsealed(): Keyring {
    if (this.#keyring === undefined) throw new Sealed('The server is sealed')
    return this.#keyring
  }
}
