// The last step of staging a snapshot: the staged store is made durable, then read again from the device and checked as
// a whole. That takes long for a large store, and another thread can do it (threads/staged-check-thread.ts).
import type { KeyObject } from 'node:crypto'
import type { Random } from '../../lib/world.ts'
import { Barrier } from '../barrier.ts'
import type { LeftOut, StagedPosition, Staging } from '../driver.ts'
import type { Keyring } from '../keyring.ts'
import { bucketKeyOf } from '../log/tree.ts'
import type { VerifyKeys } from '../verify-keys.ts'
import { SnapshotDamaged } from './snapshot-format.ts'

/** What the staged store must hold. Plain data and key objects: it is sent to another thread. */
export type StagedCheck = StagedPosition & {
  readonly entries: number
  readonly replicated: Uint8Array
  readonly local: Uint8Array
  /** Leaves of the entries of the snapshot that the store did not get: the roots are over them too. */
  readonly leftOut: readonly LeftOut[]
  /** Undefined if no key of this server opens the snapshot: then no value is opened, and roots are not compared. */
  readonly keys: { readonly keyring: Keyring; readonly leafKey: KeyObject } | undefined
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
  const { entries, roots } = await staging
    .verify({ keys: keysOf(check, random), leftOut: check.leftOut, onFinding })
    .catch((cause) => {
      if (fault === undefined) throw cause
      throw unsound(fault, cause)
    })
  if (fault !== undefined) throw unsound(fault)
  if (entries !== check.entries) throw new SnapshotDamaged(`Of ${check.entries} entries ${entries} were restored`)
  if (roots !== undefined && !(roots.replicated.equals(check.replicated) && roots.local.equals(check.local)))
    throw new SnapshotDamaged('The roots of what was restored are not those of the snapshot')
}

function unsound(fault: string, cause?: unknown): SnapshotDamaged {
  return new SnapshotDamaged(`What was restored is not sound: ${fault}`, { cause })
}

function keysOf({ keys }: StagedCheck, random: Random): VerifyKeys | undefined {
  if (keys === undefined) return undefined
  const { keyring, leafKey } = keys
  return { barrier: new Barrier(random, keyring), leafKey, bucketKey: bucketKeyOf(leafKey) }
}
