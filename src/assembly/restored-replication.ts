// What a cluster is in its sets stays when a snapshot is restored: roles, epochs and fences of that day would bring a
// demoted primary back, and a revoked secondary. So the records of now stand in the place of those of the snapshot.
import type { KeyObject } from 'node:crypto'
import { sha256 } from '../crypto/primitives/digest.ts'
import { ABANDONED, ABANDONED_HISTORIES, SECONDARY_ENTRY } from '../replication/set/records.ts'
import type { Barrier } from '../storage/barrier.ts'
import { classify } from '../storage/classes.ts'
import { type Reader, type ReadStore, type StoredEntry, systemScope } from '../storage/contract.ts'
import { MAX_HISTORIES } from '../storage/log/histories.ts'
import { leafOf, NO_LEAF } from '../storage/log/leaf.ts'
import type { History } from '../storage/peer-log.ts'

/** What a cluster stores of its part in replication, in both families. */
const FOLDER = 'root/core/replication/'
const ABANDONED_KEY = FOLDER + ABANDONED
/** Entries of the registry, of either family. */
const OF_SECONDARY = /^root\/core\/replication\/[^/]+\/secondary\//
/** A registry has a thousand entries at most, and there are some more. */
const PAGE = 256

/** True for a record of the snapshot that is not restored. */
export const isOfReplication = (key: string): boolean => key.startsWith(FOLDER)

/** The sentence for the operator where the records cannot be kept. */
export const REPLICATION_LOST =
  'The snapshot is of other data: this cluster is in no set for replication any more, and its secondaries must be ' +
  'activated anew'

/** What the records are to fit: the keys of the snapshot, and the histories in its list. */
export type RestoredStore = {
  readonly barrier: Barrier
  readonly leafKey: KeyObject
  readonly histories: readonly History[]
}

/** The records as a restored store has them, and the digest of those that they were made of. */
export type KeptReplication = { readonly entries: readonly StoredEntry[]; readonly digest: string }

/**
 * The records of now, sealed under the keyring of the snapshot, and the histories of now that are not in its list: its
 * secondaries may have followed them.
 */
export async function keptReplication(
  store: Pick<ReadStore, 'scan' | 'histories'>,
  present: Barrier,
  { barrier, leafKey, histories }: RestoredStore,
): Promise<KeptReplication> {
  const digests = new RecordDigests()
  const kept: StoredEntry[] = []
  const keep = (key: string, clear: Buffer): void => {
    const value = barrier.seal(key, clear)
    const storageClass = classify(systemScope, key)
    const isIgnored = storageClass === 'ignored'
    const leaf = isIgnored ? NO_LEAF : leafOf(leafKey, storageClass, systemScope.mount, key, value)
    kept.push({ key, value, class: storageClass, leaf })
  }
  let abandoned: readonly string[] = []
  await eachRecord(store, present, (key, clear) => {
    digests.add(key, clear)
    if (key === ABANDONED_KEY) abandoned = ABANDONED_HISTORIES.decode(clear).ids
    else keep(key, clear)
  })
  const digest = digests.sum()
  if (kept.length === 0) return { entries: kept, digest }
  const known = new Set(histories.map(({ id }) => id.toString('hex')))
  const left = (await store.histories()).map(({ id }) => id.toString('hex'))
  const ids = [...abandoned, ...left].filter((id) => !known.has(id)).slice(-MAX_HISTORIES)
  if (ids.length > 0) keep(ABANDONED_KEY, ABANDONED_HISTORIES.encode({ ids }))
  return { entries: kept, digest }
}

/**
 * A digest of the records, to see that none has changed: a secondary that is revoked while a snapshot is on its way
 * must stay so. How far secondaries are, where, and which clusters they are, is noted all the time, and no part of it.
 */
export async function replicationDigest(store: Pick<Reader, 'scan'>, present: Barrier): Promise<string> {
  const digests = new RecordDigests()
  await eachRecord(store, present, (key, clear) => digests.add(key, clear))
  return digests.sum()
}

class RecordDigests {
  readonly #digests: Buffer[] = []

  add(key: string, clear: Buffer): void {
    this.#digests.push(sha256(Buffer.from(key)), sha256(OF_SECONDARY.test(key) ? withoutNotes(clear) : clear))
  }

  sum(): string {
    return sha256(Buffer.concat(this.#digests)).toString('hex')
  }
}

/** What is noted of a secondary. */
const NOTHING_NOTED = { acknowledged: null, clusterAddresses: [], apiAddress: '', clusterId: '' }

const withoutNotes = (clear: Buffer): Buffer =>
  SECONDARY_ENTRY.encode({ ...SECONDARY_ENTRY.decode(clear), ...NOTHING_NOTED })

/** What was opened is wiped behind each call. */
async function eachRecord(
  store: Pick<Reader, 'scan'>,
  present: Barrier,
  take: (key: string, clear: Buffer) => void,
): Promise<void> {
  for (let after = ''; ; ) {
    const page = await store.scan(FOLDER, after, PAGE)
    for (const { key, value } of page) {
      const clear = present.open(key, value)
      take(key, clear)
      clear.fill(0)
    }
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) return
    after = last.key
  }
}
