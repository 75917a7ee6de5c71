// What a cluster lacks that is to be promoted, as far as it knows: a promotion without "force" is refused for it.
import type { PrimaryStatus } from '../../replication/link/link-sides.ts'
import { readParted, readSuccessor } from '../../replication/set/changing-hands.ts'
import { isLacking, readReach, SetRefused, setPath } from '../../replication/set/records.ts'
import { readTransfer } from '../../replication/set/transfer-note.ts'
import type { ReplicationFamily } from '../../storage/peer-log.ts'
import type { View } from '../../storage/sealed-storage.ts'

/** A primary says each second where its log ends. Later than this, it is not known where that was. */
const MAX_UNHEARD_MS = 2_500

type Parted = NonNullable<Awaited<ReturnType<typeof readParted>>>

/** What a promoted cluster may lack; undefined: nothing. The sentence is for the operator. */
type Lack = string | undefined

/** What is missing in this family. `primary`: what the links say of the primary. */
export async function missingHere(
  view: View,
  family: ReplicationFamily,
  primary: PrimaryStatus | undefined,
): Promise<Lack> {
  const read = await view.transaction(async (tx) => ({
    isTransferring: (await readTransfer(tx, family)) !== undefined,
    parted: await readParted(tx, family),
    successor: await readSuccessor(tx, family),
    hasPrimary: (await tx.get(setPath(family, 'identity'))) !== undefined,
  }))
  const { successor, parted } = read
  const isTransferring = read.isTransferring && read.hasPrimary
  if (isTransferring) return 'it is being compared with its primary, or copied, and is not whole'
  if (successor !== undefined) return `cluster ${successor.clusterId} took over from it: demote that one first`
  if (!read.hasPrimary) return lackOfParted(parted)
  if (parted !== undefined) return 'it was given a primary that it has not followed yet'
  return lackOfLink(primary)
}

/** A cluster without a primary hears of nobody: not of one that was promoted since, nor of a primary that goes on. */
function lackOfParted(parted: Parted | undefined): string {
  if (parted?.isOwnLog && parted.isBehind)
    return 'another cluster was promoted as well, or was to be followed, and what that one wrote is missing'
  if (parted?.isOwnLog) return 'it was demoted, and hears of nobody who may have been promoted since'
  return parted?.isBehind
    ? 'it left its primary before it had all of its log'
    : 'it left its primary, and hears of nothing that this one wrote since'
}

/** Without a link that the log comes over: whether something is missing, by what the primary said last. */
function lackOfLink(primary: PrimaryStatus | undefined): Lack {
  if (primary?.idle?.reason === 'divergence') return 'its data are not those of the primary'
  if (primary?.refused !== undefined)
    return `its primary went on without it, and what that one wrote since is missing: ${primary.refused}`
  const { progress, primaryIndex, unheardMs } = primary ?? {}
  if (progress === undefined || primaryIndex === undefined || unheardMs === undefined)
    return 'it has not heard of its primary since it started, so nobody knows what is missing'
  if (progress.what !== 'stream') return 'it is being compared with its primary, or copied, and is not whole'
  if (unheardMs > MAX_UNHEARD_MS) return 'its link was slow, and more of the log of its primary was on its way'
  const missing = primaryIndex - progress.index
  return missing > 0 ? `${missing} records of its primary are missing` : undefined
}

const FILTERED =
  'a filter keeps mounts or namespaces of the set from it, which "primary/dynamic-filter" on the primary names: ' +
  'promote a secondary without a filter, if there is one'

/**
 * What a filter keeps from a cluster would be lost by its promotion: no other one would get it any more. The primary
 * tells whether there is such with each change of it, in front of the records of that.
 */
export async function requireUnfiltered(view: View): Promise<void> {
  if (isLacking(await view.transaction((tx) => readReach(tx)))) throw notNow(FILTERED)
}

/** @throws SetRefused that says what is missing */
export function requireNothing(lack: Lack): void {
  if (lack !== undefined) throw notNow(lack)
}

/** A promotion that is refused now. `why` follows on "This cluster is not caught up:". */
export const notNow = (why: string): SetRefused =>
  new SetRefused(
    503,
    `This cluster is not caught up: ${why}. "force" promotes it all the same, and loses what is missing`,
  )
