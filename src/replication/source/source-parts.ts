// What a source is given, and what it takes.
import type { KeyLeaf, ReadStore, TreeBucket } from '../../storage/contract.ts'
import type { Tree } from '../../storage/log/tree.ts'
import type { LogHold, ReplicationFamily } from '../../storage/peer-log.ts'
import type { Count } from '../counts.ts'
import type { Message, Place } from '../protocol/messages.ts'
import type { SetReach } from '../reach.ts'
import type { Judged } from './source-reach.ts'

/** What a source asks of the thread that writes. */
export type SourceKeeper = {
  /** Keeps the log behind an index for this secondary. It may be refused: the log is then shorter. */
  readonly hold: (hold: Pick<LogHold, 'kind' | 'from'>) => Promise<void>
  /** The tree as of an index. */
  readonly tree: () => Promise<{ readonly index: number; readonly tree: Tree }>
  /** Keys and leaves of the entries in these buckets, as of an index. */
  readonly keysIn: (
    buckets: readonly TreeBucket[],
  ) => Promise<{ readonly index: number; readonly keys: readonly KeyLeaf[] }>
  /** Root of the part of the tree that goes over the family and is reached, as of an index. */
  readonly root: (reach: SetReach | undefined) => Promise<{ readonly index: number; readonly root: Buffer }>
  /**
   * Nothing is written any more that this secondary would get, for a while; resolves when that holds. True: no messages
   * of keys are granted either until it is known what becomes of it.
   */
  readonly drain: () => Promise<boolean>
  /** It is written again. */
  readonly resume: () => Promise<void>
}

/** The parts of a store that a source reads. */
export type SourceStore = Pick<ReadStore, 'position' | 'histories' | 'records' | 'snapshot'> & {
  /** As `Store.committedAfter`. */
  readonly committedAfter: (index: number) => Promise<number>
}

/** How much goes into one message, and how much may be under way. */
export type SourceLimits = {
  /** Bytes of records or entries that a message is filled with; one record or entry may have more. */
  readonly fullBytes: number
  /** Bytes that may be under way to a secondary before it acknowledges some. */
  readonly windowBytes: number
  /** Keys that one listing tells of. */
  readonly keysListed: number
  /** Records by which the hold of the log follows what the secondary has: each move of it is a durable write. */
  readonly holdStep: number
}

/** The limits of all sources but those of tests. */
export const SOURCE_LIMITS: SourceLimits = {
  fullBytes: 1024 * 1024,
  windowBytes: 16 * 1024 * 1024,
  keysListed: 16_384,
  // The log keeps ten times as many whatever is held.
  holdStep: 1_000,
}

/** What a source works with. */
export type SourceParts = {
  readonly family: ReplicationFamily
  readonly store: SourceStore
  readonly keeper: SourceKeeper
  /** Sends a message; resolves when the link takes more. Rejects when the link has ended. */
  readonly send: (message: Message) => Promise<void>
  readonly limits: SourceLimits
  /** Histories that restores took out of the list of this store, in hexadecimal. */
  readonly abandoned: readonly string[]
  /** Where this cluster stood in the logs of others when it was promoted, oldest first. */
  readonly followed: readonly Place[]
  readonly count: Count
  /**
   * What decides what the secondary is to have, where a filter may keep something from it: the stored key of its
   * filter, and the judgement of the thread that writes.
   */
  readonly reach?: { readonly filterKey: string; readonly judge: () => Promise<Judged> }
  /** Told how far the secondary has all; undefined: what it has is not whole, and no place says how far. */
  readonly has?: (upTo: number | undefined) => void
}

/** Messages that a secondary sends behind its hello. */
export type FromSecondary = Message<
  'ack' | 'roots' | 'pages-wanted' | 'buckets-wanted' | 'values-wanted' | 'root-wanted' | 'compare' | 'drain' | 'resume'
>

/** How the secondary is refused. */
export class SecondaryRefused extends Error {
  override name = 'SecondaryRefused'
  readonly code: Message<'refused'>['code']
  constructor(code: Message<'refused'>['code'], sentence: string) {
    super(sentence)
    this.code = code
  }
}
