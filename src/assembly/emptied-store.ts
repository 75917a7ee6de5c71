// The own data of a cluster go when it begins to follow a primary, in one step and whatever their size. What only this
// cluster knows of itself stays, beside the two records that lead to the keys of the primary's data. The copy fills the
// rest.
import type { World } from '../lib/world.ts'
import { HISTORY_ID_BYTES } from '../storage/backend.ts'
import { IGNORED_OF_SYSTEM } from '../storage/classes.ts'
import {
  type ReadStore,
  ROOT_NAMESPACE,
  type Snapshot,
  type StoredEntry,
  systemScope,
  type Transaction,
} from '../storage/contract.ts'
import type { StagedPosition, StoreLocation } from '../storage/driver.ts'
import { ignoredBelow } from '../storage/ignored-entries.ts'
import { leftBy } from '../storage/left-store.ts'
import { indexOfOtherData } from '../storage/log/histories.ts'
import { NO_LEAF } from '../storage/log/leaf.ts'
import { KEYRING, SEAL_FOLDER } from '../system/seal/seal-records.ts'
import type { Activation, AlsoWritten, ReplaceData } from './activation.ts'

/**
 * Of class ignored and nevertheless left behind: reloads of mounts that are gone, which history audit knows, since the
 * new one would pass for a restore, undone records, which the root key of the primary would not open, and what was
 * found or is to be purged in the files that go. What a server kept inside of mounts goes with them.
 */
const LEFT_BEHIND: ReadonlySet<string> = new Set([
  'core/reload/',
  'core/audit-history',
  'core/undone/',
  'core/tree-checks',
  'core/purge',
])
const STAYS = IGNORED_OF_SYSTEM.filter((path) => !LEFT_BEHIND.has(path))

/** Leaves of the server's store these entries alone. No other thread may have it open; here it is again afterwards. */
export type LeaveOnly = StoreLocation['leaveOnly']

/** The parts of `emptied`. */
export type EmptiedParts = {
  readonly store: Pick<ReadStore, 'snapshot'>
  readonly leaveOnly: LeaveOnly
  readonly world: Pick<World, 'random' | 'clock'>
  /** The primary's records, as they are stored there and will be here. */
  readonly keep: Pick<Activation, 'keyring' | 'leafKey'>
  /** Writes further entries, in the same step (`sealedTransaction` seals them). They are of any class. */
  readonly also?: AlsoWritten
}

/**
 * Takes all data away at an activation. The log begins anew, in a history of its own: nothing in it is of the former
 * one, so it has no parent, but indexes and epochs go on above those in use. Nobody has a hold of it yet.
 */
export function emptied({ store, leaveOnly, world, keep, also }: EmptiedParts): ReplaceData {
  return async (write, leafKey) => {
    const snapshot = await store.snapshot()
    let kept: readonly StoredEntry[]
    try {
      kept = await stayingOf(snapshot)
    } finally {
      await snapshot.close()
    }
    const work = async (tx: Transaction): Promise<void> => {
      tx.put(systemScope, KEYRING, keep.keyring)
      tx.put(systemScope, `${SEAL_FOLDER}leaf-key`, keep.leafKey)
      await write(tx, also)
    }
    await leaveOnly(await leftBy(work, { at: beginningAbove(snapshot, world), kept, leafKey, clock: world.clock }))
  }
}

/** It looks where entries of class ignored can be: reading all entries would take as long as there are entries. */
async function stayingOf(snapshot: Snapshot): Promise<readonly StoredEntry[]> {
  const kept: StoredEntry[] = []
  for (const path of STAYS) {
    for await (const entry of ignoredBelow(snapshot, `${ROOT_NAMESPACE}/${path}`))
      kept.push({ ...entry, class: 'ignored', leaf: NO_LEAF })
  }
  return kept
}

function beginningAbove({ position }: Snapshot, { random, clock }: EmptiedParts['world']): StagedPosition {
  const index = indexOfOtherData(position.index)
  const history = {
    id: random.bytes(HISTORY_ID_BYTES),
    epoch: position.epoch + 1,
    startIndex: index + 1,
    parent: undefined,
    startedAtMs: Math.floor(clock.nowMs()),
  }
  return { index, histories: [history] }
}
