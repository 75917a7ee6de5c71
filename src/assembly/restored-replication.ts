// What a cluster is in its sets stays when a snapshot is restored: roles, epochs and fences of that day would bring a
// demoted primary back, and a revoked secondary. So the records of now stand in the place of those of the snapshot.
import type { Barrier } from '../storage/barrier.ts'
import { mayHaveClass } from '../storage/classes.ts'
import type { Reader, StoredEntry } from '../storage/contract.ts'

/** What a cluster stores of its part in replication, in both families. */
const FOLDER = 'root/core/replication/'
const NO_LEAF = Buffer.alloc(0)
/** A registry has a thousand entries at most, and there are some more. */
const PAGE = 256

/** True for a record of the snapshot that is not restored. */
export const isOfReplication = (key: string): boolean => key.startsWith(FOLDER)

/** The sentence for the operator where the records cannot be kept. */
export const REPLICATION_LOST =
  'The snapshot is of other data: this cluster is in no set for replication any more, and its secondaries must be ' +
  'activated anew'

/** The records of now, sealed under the keyring of the snapshot. */
export async function keptReplication(
  store: Pick<Reader, 'scan'>,
  present: Barrier,
  restored: Barrier,
): Promise<readonly StoredEntry[]> {
  const kept: StoredEntry[] = []
  for (let after = ''; ; ) {
    const page = await store.scan(FOLDER, after, PAGE)
    for (const { key, value } of page) {
      if (!mayHaveClass(key, 'ignored')) continue
      const clear = present.open(key, value)
      kept.push({ key, value: restored.seal(key, clear), class: 'ignored', leaf: NO_LEAF })
      clear.fill(0)
    }
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) return kept
    after = last.key
  }
}
