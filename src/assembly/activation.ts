// The keys of a primary take the place of a cluster's own: data, seal and keyring change in one durable step, and the
// server goes on open under the new ones. What only this cluster knows of itself is sealed anew under them.
import { strict as assert } from 'node:assert'
import type { KeyObject } from 'node:crypto'
import { AuthenticationFailed } from '../crypto/primitives/aead.ts'
import { importSecret } from '../crypto/primitives/secret-key.ts'
import type { World } from '../lib/world.ts'
import { Barrier, openRecord } from '../storage/barrier.ts'
import type { Reader, Transaction } from '../storage/contract.ts'
import { StorageCorrupt } from '../storage/errors.ts'
import type { Keyring } from '../storage/keyring.ts'
import { decodeKeyUse, encodeKeyUse, KEY_USE, type KeyUses, usesFrom, usesUnder } from '../system/seal/key-use.ts'
import type { Seal } from '../system/seal/seal.ts'
import { BundleRefused, type SealBundle } from '../system/seal/seal-bundle.ts'
import { writeHandover } from '../system/seal/seal-handover.ts'
import { type OpenedKeys, openKeyring, putRecord, SEAL_FOLDER } from '../system/seal/seal-records.ts'
import { sealAnew } from '../system/seal/sealed-anew.ts'

/** What a primary hands over beside its data. */
export type Activation = {
  readonly bundle: SealBundle
  /** The primary's records at core/keyring and core/leaf-key, as they are stored there and will be here. */
  readonly keyring: Buffer
  readonly leafKey: Buffer
}

/**
 * Writes what else belongs into the step that replaces the keys. `barrier` seals under the keyring of the primary, and
 * opens what this cluster keeps for itself: all of it was sealed anew before. May run several times.
 */
export type AlsoWritten = (tx: Transaction, barrier: Barrier) => Promise<void>

/** Keys that open the store once `write` is committed together with the data. `leafKey` is its user's to wipe. */
export type NewKeys = {
  readonly rootKey: KeyObject
  readonly leafKey: Buffer
  /**
   * Writes what is of class ignored, and has `also` write. Called in the transaction that replaces the data, maybe
   * several times.
   */
  readonly write: (tx: Transaction, also?: AlsoWritten) => Promise<void>
  /** Called right before that transaction. */
  readonly prepare: () => void
}

/**
 * Takes the data of the store away, and calls `write` for what is of class ignored: all in one durable step. While it
 * runs the server is sealed, and no other thread has the store. The store has no leaf key: what stays as it was if this
 * fails has the former one. Leaves of what is written are made with `leafKey`, the primary's, which the caller wipes.
 */
export type ReplaceData = (write: NewKeys['write'], leafKey: Buffer) => Promise<void>

/** The parts that an activation works with. */
export type ActivationParts = { readonly seal: Seal; readonly barrier: Barrier; readonly world: World }

/** Opens what the primary handed over; nothing is changed yet. @throws BundleRefused, Refusal while sealed */
export function newKeys({ seal, barrier, world }: ActivationParts, { bundle, ...records }: Activation): NewKeys {
  const { random } = world
  const former = barrier.keyring ?? assert.fail('an open seal has a keyring')
  const rootKey = importSecret(bundle.rootKey.reveal())
  const { keyring, leafKey } = opened(rootKey, records, random)
  const theirs = new Barrier(random, keyring)
  const handover = orWiped(leafKey, () => seal.handover(bundle, theirs))
  const formerRoot = seal.rootKey
  return {
    rootKey,
    leafKey,
    prepare: () => seal.keepRoot(bundle),
    write: async (tx, also) => {
      // All else came with the data of the primary, so no key of ours opens anything any more.
      const anew = await sealAnew(tx, random, former, keyring)
      await also?.(tx, theirs)
      const sealed = theirs.encryptions + anew
      // But a key of theirs may have been ours before, and goes on from its count.
      const uses = await storedUses(tx, formerRoot, former)
      putRecord(tx, random, KEY_USE, rootKey, encodeKeyUse(usesUnder(uses, uses.encryptions, keyring, sealed)))
      writeHandover(tx, handover)
    },
  }
}

/** How often this cluster used its keys; where that cannot be read, they count as used up. */
async function storedUses(reader: Pick<Reader, 'get'>, rootKey: KeyObject, keyring: Keyring): Promise<KeyUses> {
  const record = await reader.get(KEY_USE)
  let stored: KeyUses | undefined
  try {
    stored = record && decodeKeyUse(openRecord(rootKey, 0, KEY_USE, record), keyring)
  } catch (cause) {
    if (!(cause instanceof AuthenticationFailed || cause instanceof StorageCorrupt)) throw cause
  }
  return usesFrom(stored, keyring)
}

/** Runs work that may throw before anything else has the secret, and wipes it if it does. */
function orWiped<T>(secret: Buffer, work: () => T): T {
  try {
    return work()
  } catch (cause) {
    secret.fill(0)
    throw cause
  }
}

function opened(rootKey: KeyObject, records: Pick<Activation, 'keyring' | 'leafKey'>, random: World['random']) {
  try {
    const keyring = openKeyring(rootKey, records.keyring)
    return { keyring, leafKey: new Barrier(random, keyring).open(`${SEAL_FOLDER}leaf-key`, records.leafKey) }
  } catch (cause) {
    if (!(cause instanceof AuthenticationFailed || cause instanceof StorageCorrupt)) throw cause
    throw new BundleRefused('set', 'The seal bundle does not open the keys of the data that came with it')
  }
}

/** Opens the store with the one of the two root keys that fits: only the store knows whether the data were replaced. */
export async function openedByEither(seal: Seal, rootKey: KeyObject, former: KeyObject): Promise<OpenedKeys> {
  try {
    return await seal.openWithRoot(rootKey)
  } catch (cause) {
    if (cause instanceof AuthenticationFailed) return seal.openWithRoot(former)
    throw cause
  }
}
