// What the logs of several clusters say of each other: where a store stands, which histories it had, and for whom its
// log is kept (docs/decisions/0018-numbering-and-histories.md).

/** The two kinds of replication: everything but `ignored` goes over the first, `replicated` alone over the second. */
export type ReplicationFamily = 'dr' | 'performance'

/** The place of a change in the log of the cluster that it was taken over from. */
export type Origin = {
  readonly family: ReplicationFamily
  readonly historyId: Buffer
  readonly index: number
  readonly chain: Buffer
}

/**
 * A line of changes. Indexes only grow from each history to the next, and jump at its first change. Two stores find by
 * their lists where they parted (log/histories.ts).
 */
export type History = {
  /** 16 random bytes. The chain of the first change continues from them. */
  readonly id: Buffer
  readonly epoch: number
  /** Index of the first change, which may be still to come. */
  readonly startIndex: number
  /** The last change before it: its history, index and chain. Undefined for a new store, or where it was not noted. */
  readonly parent: { readonly id: Buffer; readonly index: number; readonly chain: Buffer } | undefined
  /** Wall clock at its beginning; 0 where it was not noted. For status: nothing is decided by it. */
  readonly startedAtMs: number
}

/** What a promotion knows of the history that it begins. */
export type NewHistory = {
  /** 16 fresh random bytes. */
  readonly id: Buffer
  /** The highest index that any member of the set is known to have given; 0 if only this store has. */
  readonly knownIndex: number
  /** The highest epoch of any member, likewise. */
  readonly knownEpoch: number
}

/** Where a store stands. It changes with each append, in the same durable step (threats P-05). */
export type Position = {
  /** Index of the last change; 0 in a new store. */
  readonly index: number
  /** Chain of the last change; the history id where the history has no change yet. */
  readonly chain: Buffer
  /** Begins at 1 and only grows: each history has a higher one than those before (threats R-07). */
  readonly epoch: number
  /** The id of the present history. */
  readonly historyId: Buffer
  /**
   * Index of the last change with an operation of class `replicated`. In a store that was restored or is of an older
   * format it begins at the index of that moment, so it is never too low.
   */
  readonly lastReplicatedIndex: number
  /** Likewise of class `local`. */
  readonly lastLocalIndex: number
  /**
   * How far the log of a peer is applied, for each family: at the last origin that a change here named, or further on
   * where nothing in between was for this cluster. Empty on a cluster that never followed another.
   */
  readonly origins: readonly Origin[]
}

/**
 * Who needs the log longer than its limits keep it. `secondary`: a cluster that follows, by what it has acknowledged.
 * `copy`: a copy that is running, which cannot end before it has the records of its time.
 */
export type LogHold = {
  readonly name: string
  readonly kind: 'secondary' | 'copy'
  /** Records after this index are needed. */
  readonly from: number
}
/** Bytes up to which the log is kept for holds of each kind. Above them the log is shortened, held or not. */
export type HoldCaps = Readonly<Record<LogHold['kind'], number>>

/** How much of the log is kept, and for whom. */
export type RetainedLog = {
  /** Index of the oldest record; one more than the last index if there is none. */
  readonly firstIndex: number
  /** Bytes of all records. While the log is shortened, this and the bytes of holds are estimates (retention.ts). */
  readonly bytes: number
  readonly caps: HoldCaps
  readonly holds: readonly (LogHold & {
    /** Bytes of the records that it needs and that are there: an estimate between two checkpoints. */
    readonly bytes: number
    /** True if the cap has won: records that it needs are gone, and it has to start over. */
    readonly isBroken: boolean
  })[]
}
