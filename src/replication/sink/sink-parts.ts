// What a sink is given, and what it takes.
import type { Adopted, AdoptOptions, KeyLeaf, TreeBucket } from '../../storage/contract.ts'
import type { Tree } from '../../storage/log/tree.ts'
import type { ReplicationFamily } from '../../storage/peer-log.ts'
import type { Count } from '../counts.ts'
import type { Message, Place, SentEntry } from '../protocol/messages.ts'
import type { SetReach } from '../reach.ts'
import type { NotedReach } from '../set/records.ts'
import type { SecondaryStanding } from '../source/decision.ts'

/** A copy or a comparison that is running, as it is noted in the store; undefined: what is here is whole. */
export type Transfer = NonNullable<SecondaryStanding['transfer']>

/** What is applied in one durable step. */
export type SinkBatch = {
  readonly mode: AdoptOptions['mode']
  /** The records are all that the primary has for this cluster behind this place. */
  readonly after: Pick<Place, 'historyId' | 'index'>
  /** Records as they were sent, in order, with the history of each. */
  readonly records: readonly { readonly historyId: Buffer; readonly record: Buffer }[]
  /** Where the primary's log stands behind them. */
  readonly at: Place
  /** What the primary has there. */
  readonly state?: { readonly entries: readonly SentEntry[]; readonly gone: readonly string[] }
  /** What is noted with it of the copy or comparison that is running. */
  readonly transfer: Transfer | undefined
  /** With the beginning of a comparison: where both parted. What this cluster wrote since then is undone. */
  readonly fork?: Place
  /**
   * Up to where the primary has the logs of those before. Anew, what this cluster has of them beyond is undone; with
   * records that follow, it is what this cluster has from there on.
   */
  readonly followed?: readonly Place[]
  /** With news of it: what this cluster is to have from here on. The rest of what it has goes. */
  readonly reach?: {
    readonly only: SetReach | undefined
    /** What is noted of the rest that is here. The keeper finds it. */
    readonly rest?: Omit<NotedReach, 'reach'>
  }
  /** What was held back of a comparison can be seen now. */
  readonly isShown?: boolean
}

/** What a sink asks of the thread that writes. All of it is as of what was taken last. */
export type SinkKeeper = {
  /** @throws ProtocolFault for records that cannot be read, and what `Store.adopt` throws */
  readonly take: (taken: SinkBatch) => Promise<Adopted>
  readonly tree: () => Promise<Tree>
  readonly keysIn: (buckets: readonly TreeBucket[]) => Promise<readonly KeyLeaf[]>
  /** Tells for a scope of the tree whether this cluster is to have it. */
  readonly reached: () => Promise<SetReach | undefined>
  /** Root of the part of the tree that goes over the family, and that this cluster is to have. */
  readonly root: () => Promise<Buffer>
  /** Makes leaves and tree those of the stored bytes: where they are not, a comparison does not see what differs. */
  readonly mend: () => Promise<void>
}

/** How much a sink asks for, or applies, at once. */
export type SinkLimits = {
  /** Runs that came together are applied together, up to so many bytes. */
  readonly joinedBytes: number
  /** Buckets whose keys are asked for. */
  readonly buckets: number
  /** Entries that are asked for. */
  readonly entries: number
  /** Keys that are removed in one step. */
  readonly gone: number
  /** Bytes of messages that may wait before another is a fault; more than the window of any source. */
  readonly waitingBytes: number
}

/** The limits of all sinks but those of tests. */
export const SINK_LIMITS: SinkLimits = {
  joinedBytes: 8 * 1024 * 1024,
  buckets: 4_096,
  entries: 4_096,
  gone: 16_384,
  waitingBytes: 64 * 1024 * 1024,
}

/** What a sink works with. */
export type SinkParts = {
  readonly family: ReplicationFamily
  readonly keeper: SinkKeeper
  /** Sends a message; resolves when the link takes more. Rejects when the link has ended. */
  readonly send: (message: Message) => Promise<void>
  /** Told of each step, for status. */
  readonly progress: (progress: SinkProgress) => void
  /** True if a copy or a comparison is noted in the store, so that what is there is not whole. */
  readonly isOpen: boolean
  readonly limits: SinkLimits
  readonly count: Count
  /** Told that the primary writes no more since the question of this number, when all of its log is applied. */
  readonly drained: (number: number, grantsNothing: boolean) => void
}

/** What a sink is doing. */
export type SinkProgress = {
  readonly what: 'stream' | 'copy' | 'difference'
  /** Index of the primary up to which all is applied. */
  readonly index: number
  /** Entries that came since it began, and how many there are in a copy; 0 where that is not known. */
  readonly entries: number
  readonly totalEntries: number
}

/** Messages that a primary sends behind its welcome. */
export type FromPrimary = Message<
  'course' | 'reach' | 'run' | 'piece' | 'pages' | 'digests' | 'listing' | 'values' | 'complete' | 'drained'
>

/** Why a secondary follows no more until someone looks. Its link ends, and is not made again soon. */
export class SinkStopped extends Error {
  override name = 'SinkStopped'
  /** `idle_reason` of status. */
  readonly reason: 'version' | 'divergence' | 'gap'
  constructor(reason: SinkStopped['reason'], sentence: string) {
    super(sentence)
    this.reason = reason
  }
}
