// Keeps the log as long as the limits say, and as those need it who hold it. The tree's checkpoints divide it: whole
// spans between two of them go (retention.ts).
import type { Clock } from '../../lib/world.ts'
import type { Backend, Checkpoint } from '../backend.ts'
import { HistoryGone, StorageRefused } from '../errors.ts'
import type { HoldCaps, LogHold, RetainedLog } from '../peer-log.ts'
import { isGone } from './histories.ts'
import {
  DEFAULT_HOLD_CAPS,
  DEFAULT_RETENTION,
  forgettableIndex,
  keptCheckpoints,
  type LogLimits,
  MIN_RECORDS,
  type Retention,
  retainedAfter,
} from './retention.ts'

/** Records removed in one step. A step follows a commit, so a long log does not hold up writes. */
const RECORDS_FORGOTTEN_PER_STEP = 1_000
/** A step removes as many more as came since the last one, or changes of a peer would come faster than they go. */
const MAX_RECORDS_MORE = 20_000

/** Defaults: DEFAULT_RETENTION, DEFAULT_HOLD_CAPS. */
export type LogKeeperOptions = { readonly clock: Clock; readonly retention?: Retention; readonly holdCaps?: HoldCaps }

/** The length of the log of one open store. Only the writing thread has one. */
export class LogKeeper {
  readonly #backend: Backend
  readonly #clock: Clock
  readonly #retention: Retention
  readonly #caps: HoldCaps
  #checkpoints: Checkpoint[] | undefined
  /** Those that were saved before `#checkpoints` was read. */
  #savedSoFar: Checkpoint[] = []
  /** Bytes of the records that were committed since the store was opened. */
  #bytesCommitted = 0
  /** What `#bytesCommitted` lacks of the bytes behind the last checkpoint; undefined until they are known. */
  #bytesBefore: number | undefined
  #holds: Map<string, LogHold> | undefined
  /** True if holds have moved on since they were stored. */
  #haveMoved = false
  /** From this index on `shorten` looks again whether records can be removed. */
  #lookAgainAt = 0
  /** The last index at the step before. */
  #lastIndex: number | undefined
  /** Index of the newest record that could be spared, found when the steps began that are under way. */
  #spareIndex: number | undefined

  constructor(backend: Backend, { clock, retention, holdCaps }: LogKeeperOptions) {
    this.#backend = backend
    this.#clock = clock
    this.#retention = retention ?? DEFAULT_RETENTION
    this.#caps = holdCaps ?? DEFAULT_HOLD_CAPS
  }

  /** Takes the length of a record that was committed. */
  committed(recordBytes: number): void {
    this.#bytesCommitted += recordBytes
  }

  /** Takes a checkpoint that was saved. Called between two commits: nothing follows it as yet. */
  saved(checkpoint: Checkpoint): void {
    const checkpoints = this.#checkpoints ?? this.#savedSoFar
    // The tree may be saved again where it was saved last; the records before that are counted already.
    const last = checkpoints.at(-1)
    if (last?.index === checkpoint.index) checkpoints.splice(-1, 1, { ...last, savedAtMs: checkpoint.savedAtMs })
    else checkpoints.push(checkpoint)
    this.#bytesBefore = -this.#bytesCommitted
  }

  /** Removes a step of old records, if it is time to look for them. Throws what the backend throws. */
  async shorten(lastIndex: number): Promise<void> {
    if (lastIndex < this.#lookAgainAt) return
    const checkpoints = await this.#readCheckpoints()
    const holds = [...(await this.#read()).values()]
    const limits = { retention: this.#retention, holds, caps: this.#caps }
    const upTo = await this.#forgettable(checkpoints, limits)
    const came = lastIndex - (this.#lastIndex ?? lastIndex)
    this.#lastIndex = lastIndex
    if (upTo > 0) {
      // First: after a crash a hold that stands too low would look as if its records had been taken from it.
      await this.save()
      await this.#backend.forgetRecords(upTo, RECORDS_FORGOTTEN_PER_STEP + Math.min(came, MAX_RECORDS_MORE))
    }
    const first = await this.#backend.firstIndex()
    this.#checkpoints = keptCheckpoints(checkpoints, first)
    if (first <= upTo) return
    this.#lookAgainAt = lastIndex + RECORDS_FORGOTTEN_PER_STEP
    this.#spareIndex = undefined
  }

  /**
   * Removes some of the records up to `upTo`, whoever needs them; true once all are gone. The tree is saved behind
   * them. Called between two commits. Throws what the backend throws.
   */
  async forget(upTo: number, limit: number): Promise<boolean> {
    const checkpoints = await this.#readCheckpoints()
    await this.save()
    await this.#backend.forgetRecords(upTo, limit)
    const first = await this.#backend.firstIndex()
    this.#checkpoints = keptCheckpoints(checkpoints, first)
    return first > upTo
  }

  /** To find the spare index costs the reading of all newer records: only where something could go at all. */
  async #forgettable(checkpoints: readonly Checkpoint[], limits: LogLimits): Promise<number> {
    const nowMs = this.#clock.nowMs()
    if (forgettableIndex(checkpoints, Number.POSITIVE_INFINITY, nowMs, limits) === 0) return 0
    this.#spareIndex ??= await this.#backend.indexBefore(MIN_RECORDS)
    return forgettableIndex(checkpoints, this.#spareIndex, nowMs, limits)
  }

  /** Stores the holds that have moved on. Throws what the backend throws. */
  async save(): Promise<void> {
    if (this.#haveMoved) await this.#store([...(await this.#read()).values()])
  }

  /** True if the hold of this name only moves on, so that nothing has to be stored now. */
  async movesOn({ name, kind, from }: LogHold): Promise<boolean> {
    const held = (await this.#read()).get(name)
    return held !== undefined && held.kind === kind && held.from <= from
  }

  /** Moves a hold on in memory. It is stored later: until then the log would only be kept for too long. */
  async move(hold: LogHold, lastIndex: number): Promise<void> {
    requireFrom(hold, lastIndex)
    const holds = await this.#read()
    if ((holds.get(hold.name)?.from ?? hold.from) >= hold.from) return
    holds.set(hold.name, hold)
    // `shorten` looks again soon enough. To have it look at once would cost each commit of a cluster that is followed.
    this.#haveMoved = true
  }

  /** Adds or replaces a hold durably. Called between two commits. @throws HistoryGone, StorageRefused */
  async hold(hold: LogHold, lastIndex: number): Promise<void> {
    requireFrom(hold, lastIndex)
    if ((await this.#goneTest())(hold.from)) {
      throw new HistoryGone(`The log does not hold what follows index ${hold.from}, so it cannot be kept`)
    }
    const holds = await this.#read()
    await this.#store([...new Map([...holds, [hold.name, hold]]).values()])
    holds.set(hold.name, hold)
  }

  /** Gives a hold up durably; none of this name is no error. Called between two commits. */
  async release(name: string): Promise<void> {
    const holds = await this.#read()
    if (!holds.has(name)) return
    await this.#store([...holds.values()].filter((hold) => hold.name !== name))
    holds.delete(name)
    this.#lookAgainAt = 0
  }

  /**
   * The log and who holds it, for status. A stranger may ask, so no record is read for it, but once after the opening
   * of the store those behind the last checkpoint.
   */
  async retained(lastIndex: number): Promise<RetainedLog> {
    const firstIndex = await this.#backend.firstIndex()
    const gone = await this.#goneTest()
    const read = await this.#readCheckpoints()
    if (this.#bytesBefore === undefined) await this.#readTail(read.at(-1)?.index ?? 0, lastIndex)
    const holds = [...(await this.#read()).values()]
    // Nothing is awaited from here on: a checkpoint that is saved moves bytes from the tail to a span.
    const checkpoints = this.#checkpoints ?? read
    const tailBytes = (this.#bytesBefore ?? 0) + this.#bytesCommitted
    const bytesAfter = retainedAfter(checkpoints, { firstIndex, lastIndex, tailBytes })
    return {
      firstIndex,
      bytes: bytesAfter(0),
      caps: this.#caps,
      holds: holds.map((hold) => ({ ...hold, bytes: bytesAfter(hold.from), isBroken: gone(hold.from) })),
    }
  }

  /** Reads what the log holds behind the last checkpoint. From then on it is counted. */
  async #readTail(after: number, lastIndex: number): Promise<void> {
    const committed = this.#bytesCommitted
    const bytes = await this.#backend.logBytesBetween(after, lastIndex)
    // A checkpoint that was saved meanwhile knows it.
    this.#bytesBefore ??= bytes - committed
  }

  async #readCheckpoints(): Promise<Checkpoint[]> {
    if (this.#checkpoints === undefined) {
      const read = await this.#backend.checkpoints()
      const last = read.at(-1)?.index ?? 0
      this.#checkpoints ??= [...read, ...this.#savedSoFar.filter(({ index }) => index > last)]
      this.#savedSoFar = []
    }
    return this.#checkpoints
  }

  /** Tells for an index whether something that follows it is kept no more. */
  async #goneTest(): Promise<(from: number) => boolean> {
    const { index: lastIndex } = await this.#backend.position()
    const log = { firstIndex: await this.#backend.firstIndex(), lastIndex }
    const histories = await this.#backend.histories()
    return (from) => isGone(from, log, () => histories)
  }

  async #read(): Promise<Map<string, LogHold>> {
    if (this.#holds === undefined) {
      const holds = await this.#backend.holds()
      this.#holds ??= new Map(holds.map((hold) => [hold.name, hold]))
    }
    return this.#holds
  }

  async #store(holds: readonly LogHold[]): Promise<void> {
    // A hold may move on while these are being stored.
    this.#haveMoved = false
    try {
      await this.#backend.saveHolds(holds)
    } catch (cause) {
      this.#haveMoved = true
      throw cause
    }
  }
}

function requireFrom({ name, from }: LogHold, lastIndex: number): void {
  if (name === '' || !name.isWellFormed()) throw new StorageRefused('A hold of the log needs a name')
  if (!Number.isSafeInteger(from) || from < 0 || from > lastIndex) {
    throw new StorageRefused(`The hold ${name} begins at ${from}, and the log ends at ${lastIndex}`)
  }
}
