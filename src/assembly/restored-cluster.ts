// Who a cluster is behind a restore, and what the snapshot lacks. A cluster that stays in its sets stays who it is:
// with the id of another one of a set there would be two. And what a secondary saves is no more than it has: where its
// primary restored that later, the rest would be gone from the whole set.
import { decodeReach, isLacking, SETS_FOLDER, setPath } from '../replication/set/records.ts'
import { transferPath } from '../replication/set/transfer-note.ts'
import type { Barrier } from '../storage/barrier.ts'
import type { Reader, StoredEntry } from '../storage/contract.ts'
import { StorageCorrupt } from '../storage/errors.ts'
import { NO_LEAF } from '../storage/log/leaf.ts'
import { SEAL_FOLDER } from '../system/seal/seal-records.ts'

const WHO = `${SEAL_FOLDER}cluster`
const REACH = SETS_FOLDER + setPath('performance', 'reach')
const TRANSFER = SETS_FOLDER + transferPath('performance')

/** What the cluster lacked that made a snapshot. */
export type SnapshotLack = 'filtered' | 'half' | 'maybe filtered'

/** The sentences for the operator. */
export const LACKS: Readonly<Record<SnapshotLack, string>> = {
  filtered: 'When the snapshot was made, a filter kept mounts or namespaces from its cluster: they are not in it',
  half: 'When the snapshot was made, its cluster was being compared with its primary: not all of the data are in it',
  'maybe filtered':
    'The snapshot was made by a performance secondary: what a filter kept from that is not in it. No key of this ' +
    'server opens it, so that cannot be seen here',
}

/** The sentence where data of another cluster of the set take the place of the own ones. */
export const OTHER_OF_SET =
  'The snapshot is of another cluster of the set: tokens, leases and local mounts are those of that one now'

/** True for the record of who the cluster is: it is not restored as it is. */
export const isWho = (key: string): boolean => key === WHO

/** Gathers the records of one snapshot. */
export class RestoredCluster {
  readonly #records = new Map<string, Buffer>()

  /** Called with each entry of the snapshot. */
  see(key: string, value: Buffer): void {
    if (key === WHO || key === REACH || key === TRANSFER) this.#records.set(key, value)
  }

  /** What is missing in the snapshot, if something is. `opened` has its keyring, if a key of this server opens it. */
  lack(opened: Barrier | undefined): SnapshotLack | undefined {
    if (this.#records.has(TRANSFER)) return 'half'
    const reach = this.#records.get(REACH)
    if (reach === undefined) return undefined
    if (opened === undefined) return 'maybe filtered'
    return isLacking(decodeReach(opened.open(REACH, reach))) ? 'filtered' : undefined
  }

  /** Who the restored cluster is: the one of the snapshot. */
  theirs(): StoredEntry {
    const record = this.#records.get(WHO)
    if (record === undefined) throw new StorageCorrupt(`The snapshot lacks ${WHO}`)
    return entry(record)
  }
}

/** Who the cluster is that restores a snapshot of its own data. `opened` has the keyring of the snapshot. */
export async function ownWho(store: Pick<Reader, 'get'>, present: Barrier, opened: Barrier): Promise<StoredEntry> {
  const record = await store.get(WHO)
  if (record === undefined) throw new StorageCorrupt(`The store lacks ${WHO}`)
  return entry(opened.seal(WHO, present.open(WHO, record)))
}

const entry = (value: Buffer): StoredEntry => ({ key: WHO, value, class: 'ignored', leaf: NO_LEAF })
