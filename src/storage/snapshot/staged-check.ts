// The last step of staging a snapshot: the staged store is made durable, then read again from the device and checked as
// a whole. That takes long for a large store, and another thread can do it (threads/staged-check-thread.ts).
//
// The store must hold what the stream held, byte by byte, also where no key opens it: a digest over the entries tells.
// The seal tells that the stream is what the cluster wrote. It covers all entries, so nothing is left for the roots in
// the last chunk to tell. They are not compared: they are over the scopes that the tree had in the program that wrote
// them, and only a program with the same version of the tree could take the snapshot.
import type { KeyObject } from 'node:crypto'
import { RunningDigest } from '../../crypto/primitives/digest.ts'
import type { Random } from '../../lib/world.ts'
import { Barrier } from '../barrier.ts'
import type { StoredEntry } from '../contract.ts'
import type { StagedPosition, Staging } from '../driver.ts'
import type { Keyring } from '../keyring.ts'
import { bucketKeyOf } from '../log/tree.ts'
import type { VerifyKeys } from '../verify-keys.ts'
import { encodeEntries, SnapshotDamaged } from './snapshot-format.ts'

/** What the staged store must hold. Plain data and key objects: it is sent to another thread. */
export type StagedCheck = StagedPosition & {
  readonly entries: number
  /** `EntriesDigest` of those that were taken from the snapshot. */
  readonly taken: Uint8Array
  /** Keys of all others. */
  readonly added: readonly string[]
  /** Undefined if no key of this server opens the snapshot: then no value is opened, and no leaf computed. */
  readonly keys: { readonly keyring: Keyring; readonly leafKey: KeyObject } | undefined
}

/** Digest over entries, in the order of their keys, with all that is stored of them. */
export class EntriesDigest {
  readonly #digest = new RunningDigest()

  take(entries: readonly StoredEntry[]): void {
    this.#digest.take(encodeEntries(entries))
  }

  end(): Buffer {
    return this.#digest.end()
  }
}

/**
 * Settles the staged store and checks it.
 * @throws SnapshotDamaged if it is not what the snapshot says; StorageFull; StorageFailed; the driver's error
 */
export async function checkStaged(staging: Staging, check: StagedCheck, random: Random): Promise<void> {
  await staging.settle({ index: check.index, histories: check.histories })
  let fault: string | undefined
  const onFinding = (sentence: string): void => {
    fault ??= sentence
  }
  const added = new Set(check.added)
  const taken = new EntriesDigest()
  const onEntry = (entry: StoredEntry): void => {
    if (!added.has(entry.key)) taken.take([entry])
  }
  const { entries } = await staging.verify({ keys: keysOf(check, random), onEntry, onFinding }).catch((cause) => {
    if (fault === undefined) throw cause
    throw unsound(fault, cause)
  })
  if (fault !== undefined) throw unsound(fault)
  if (entries !== check.entries) throw new SnapshotDamaged(`Of ${check.entries} entries ${entries} were restored`)
  if (!taken.end().equals(check.taken)) throw new SnapshotDamaged('What was restored is not what the snapshot holds')
}

function unsound(fault: string, cause?: unknown): SnapshotDamaged {
  return new SnapshotDamaged(`What was restored is not sound: ${fault}`, { cause })
}

function keysOf({ keys }: StagedCheck, random: Random): VerifyKeys | undefined {
  if (keys === undefined) return undefined
  const { keyring, leafKey } = keys
  return { barrier: new Barrier(random, keyring), leafKey, bucketKey: bucketKeyOf(leafKey) }
}
