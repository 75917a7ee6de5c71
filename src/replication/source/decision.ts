// How a secondary gets what it lacks, from where it says that it stands (Interface 3.1).
import type { LogRecord, ReadStore } from '../../storage/contract.ts'
import { HistoryGone } from '../../storage/errors.ts'
import { decodeChange, nextChain } from '../../storage/log/change-record.ts'
import type { History, Position } from '../../storage/peer-log.ts'
import type { Message, Place } from '../protocol/messages.ts'

/**
 * Where a secondary stands: what of a primary's log it has applied, and the transfer that it is in the middle of; and
 * the histories of its own log.
 */
export type SecondaryStanding = Pick<Message<'hello'>, 'applied' | 'isParted' | 'transfer'> &
  Partial<Pick<Message<'hello'>, 'histories' | 'reach'>>

/** What the primary does about it. */
export type Decision =
  /** The log goes on behind `after`. */
  | { readonly kind: 'stream'; readonly after: Place }
  /** Entries behind the key `after` are copied; `from` is where the log goes on meanwhile, undefined: from now. */
  | { readonly kind: 'copy'; readonly after: string; readonly from: Place | undefined }
  /**
   * Both trees are compared. `isUndone`: the secondary has changes that this cluster never had, or has no more. `fork`:
   * the last place of its log that both have.
   */
  | { readonly kind: 'difference'; readonly isUndone: boolean; readonly fork?: Place }
  | { readonly kind: 'refused'; readonly code: 'other-set' | 'rewound'; readonly sentence: string }

/** The parts of a store that the decision needs. */
export type DecidingStore = Pick<ReadStore, 'position' | 'histories' | 'records'>

/**
 * Decides by the histories and chain of this store, and by what else it has been (`known`). A place that this store
 * never had in a history of its own is not mended silently: either its files were put back to an older state, or the
 * secondary followed another cluster. It is compared where the operator of the secondary gave it this primary.
 */
export async function decide(store: DecidingStore, standing: SecondaryStanding, known: KnownLogs): Promise<Decision> {
  const found = await decideBy(store, standing, known)
  if (found.kind !== 'refused' || !standing.isParted) return found
  return { kind: 'difference', isUndone: true, ...unknownLog(standing) }
}

/** Of a log of others that is not known here nothing may be here. Where its own parted, a secondary finds out. */
function unknownLog({ applied, histories: theirs = [] }: SecondaryStanding): { readonly fork?: Place } {
  if (applied === undefined || theirs.some(({ id }) => id.equals(applied.historyId))) return {}
  return { fork: { historyId: applied.historyId, index: 0, chain: applied.historyId } }
}

/**
 * Logs of others. `abandoned`: histories that restores took out of the list of this store, in hexadecimal. `followed`:
 * up to where this cluster has the logs of primaries that the set had before.
 */
export type KnownLogs = { readonly abandoned: readonly string[]; readonly followed: readonly Place[] }

async function decideBy(
  store: DecidingStore,
  { applied, transfer, histories: theirs = [] }: SecondaryStanding,
  { abandoned, followed }: KnownLogs,
): Promise<Decision> {
  if (applied === undefined) return { kind: 'copy', after: '', from: undefined }
  const position = await store.position()
  const record = applied.index < position.index ? await recordAfter(store, applied.index) : undefined
  // Last, since others commit meanwhile: the record may begin a history.
  const histories = await store.histories()
  const at = histories.findIndex(({ id }) => id.equals(applied.historyId))
  if (at === -1) {
    const fork = followed.findLast(({ historyId }) => historyId.equals(applied.historyId))
    if (fork !== undefined) return { kind: 'difference', isUndone: applied.index > fork.index, fork }
    // A former primary that began another history behind the place: by a restore, or since it was promoted once more.
    const earlier = followed.findLast(({ historyId }) => theirs.some(({ id }) => id.equals(historyId)))
    if (earlier !== undefined) return { kind: 'difference', isUndone: true, fork: earlier }
    if (abandoned.includes(applied.historyId.toString('hex'))) return { kind: 'difference', isUndone: true }
    return refused('other-set', OTHER_LOG)
  }
  const next = histories[at + 1]
  if (next !== undefined && (next.parent === undefined || applied.index > next.parent.index)) {
    return { kind: 'difference', isUndone: next.parent !== undefined }
  }
  if (record === 'gone') return { kind: 'difference', isUndone: false }
  const isThere = record === undefined ? isAt(applied, position) : isConnected(applied, record, histories)
  if (!isThere) {
    return refused('rewound', rewoundAt(applied.index))
  }
  if (transfer?.what === 'difference') return { kind: 'difference', isUndone: false }
  if (transfer?.what === 'copy') return { kind: 'copy', after: transfer.after, from: applied }
  return { kind: 'stream', after: applied }
}

const OTHER_LOG = 'The secondary followed a log that is not known here: find out which cluster this secondary followed'
const rewoundAt = (index: number): string =>
  `The primary has no record ${index} like the one that the secondary applied: it was put back to an older state. ` +
  'Find out which cluster has the newest data'

/** The record behind an index that is not the last. */
async function recordAfter(store: DecidingStore, index: number): Promise<LogRecord | 'gone'> {
  try {
    return (await store.records(index, 1))[0] ?? 'gone'
  } catch (cause) {
    if (cause instanceof HistoryGone) return 'gone'
    throw cause
  }
}

function isAt(applied: Place, { historyId, index, chain }: Position): boolean {
  return historyId.equals(applied.historyId) && index === applied.index && chain.equals(applied.chain)
}

/** True if the log here goes on from the very record that was applied there. */
function isConnected(applied: Place, { index, record }: LogRecord, histories: readonly History[]): boolean {
  const { beginsHistory, chain } = decodeChange(record, `log record ${index}`)
  if (beginsHistory === undefined) return nextChain(applied.chain, record).equals(chain)
  // It stood where a restored store stands before its first record.
  if (applied.historyId.equals(beginsHistory)) return applied.chain.equals(beginsHistory) && applied.index === index - 1
  const parent = histories.find(({ id }) => id.equals(beginsHistory))?.parent
  return parent !== undefined && parent.index === applied.index && parent.chain.equals(applied.chain)
}

function refused(code: 'other-set' | 'rewound', sentence: string): Decision {
  return { kind: 'refused', code, sentence }
}
