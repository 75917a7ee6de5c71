// The keys of a primary take the place of a cluster's own: data, seal and keyring change in one durable step, and the
// server goes on open under the new ones. What only this cluster knows of itself is sealed anew under them.
import type { KeyObject } from 'node:crypto'
import { AuthenticationFailed } from '../crypto/primitives/aead.ts'
import { importSecret } from '../crypto/primitives/secret-key.ts'
import type { World } from '../lib/world.ts'
import { Barrier } from '../storage/barrier.ts'
import { CLASSES, isBehindBarrier } from '../storage/classes.ts'
import { StorageCorrupt, systemScope, type Transaction } from '../storage/contract.ts'
import { KEY_USE } from '../system/seal/key-use.ts'
import type { Seal } from '../system/seal/seal.ts'
import { BundleRefused, type SealBundle } from '../system/seal/seal-bundle.ts'
import { writeHandover } from '../system/seal/seal-handover.ts'
import { type OpenedKeys, openKeyring, SEAL_FOLDER } from '../system/seal/seal-records.ts'
import { BACKUP_NAMES } from '../system/seal/shares-backup.ts'

/** What a primary hands over beside its data. */
export type Activation = {
  readonly bundle: SealBundle
  /** The primary's records at core/keyring and core/leaf-key, as they are stored there and will be here. */
  readonly keyring: Buffer
  readonly leafKey: Buffer
}

/** Keys that open the store once `write` is committed together with the data. `leafKey` is its user's to wipe. */
export type NewKeys = {
  readonly rootKey: KeyObject
  readonly leafKey: Buffer
  /** Writes what is of class ignored. Called in the transaction that replaces the data, maybe several times. */
  readonly write: (tx: Transaction) => Promise<void>
  /** Called right before that transaction. */
  readonly prepare: () => void
}

/**
 * Replaces the data of the store by those of the primary, and calls `write` for what is of class ignored: all in one
 * durable step. While it runs the server is sealed, and the store has the primary's leaf key.
 */
export type ReplaceData = (write: NewKeys['write']) => Promise<void>

/** The parts that an activation works with. */
export type ActivationParts = { readonly seal: Seal; readonly barrier: Barrier; readonly world: World }

/** Opens what the primary handed over; nothing is changed yet. @throws BundleRefused, Refusal while sealed */
export function newKeys({ seal, barrier, world }: ActivationParts, { bundle, ...records }: Activation): NewKeys {
  const { random } = world
  const former = new Barrier(random, barrier.keyring)
  const rootKey = importSecret(bundle.rootKey.reveal())
  const { next, leafKey } = opened(rootKey, records, random)
  const handover = seal.handover(bundle, next)
  return {
    rootKey,
    leafKey,
    prepare: () => seal.keepRoot(bundle),
    write: async (tx) => {
      await sealAnew(tx, former, next)
      // It counts the uses of a key that is no longer there.
      tx.delete(systemScope, KEY_USE)
      writeHandover(tx, handover)
    },
  }
}

function opened(rootKey: KeyObject, records: Pick<Activation, 'keyring' | 'leafKey'>, random: World['random']) {
  try {
    const next = new Barrier(random, openKeyring(rootKey, records.keyring))
    return { next, leafKey: next.open(`${SEAL_FOLDER}leaf-key`, records.leafKey) }
  } catch (cause) {
    if (!(cause instanceof AuthenticationFailed || cause instanceof StorageCorrupt)) throw cause
    throw new BundleRefused('set', 'The seal bundle does not open the keys of the data that came with it')
  }
}

const BACKUPS: readonly string[] = Object.values(BACKUP_NAMES)
/** Entries that are read at once. */
const RUN = 100

/** Seals what is of class ignored under the new keys. Backups of the former shares are left out: they go. */
async function sealAnew(tx: Transaction, former: Barrier, next: Barrier): Promise<void> {
  for (const { path, class: storageClass } of CLASSES) {
    const key = `${systemScope.namespace}/${path}`
    const isOurs =
      storageClass === 'ignored' && isBehindBarrier(key) && !BACKUPS.includes(key.slice(SEAL_FOLDER.length))
    if (!isOurs) continue
    for (const entry of await entriesOf(tx, key)) {
      const value = former.open(entry.key, entry.value)
      tx.put(systemScope, entry.key, next.seal(entry.key, value))
      value.fill(0)
    }
  }
}

async function entriesOf(tx: Transaction, key: string) {
  if (!key.endsWith('/')) {
    const value = await tx.get(key)
    return value === undefined ? [] : [{ key, value }]
  }
  const entries = await tx.scan(key, '', RUN)
  for (let run = entries; run.length === RUN; entries.push(...run))
    run = await tx.scan(key, entries.at(-1)?.key ?? '', RUN)
  return entries
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
