// A disk that keeps only what was synced: it loses what was not, tears it where it is told to, is slow, fills up, and
// fails. It does so from a seed, in virtual time. What a disk holds is a value that writes alter; for a store these are
// its tables (simulated-backend.ts). Simulated clusters will keep their stores on such disks; so far one store does.
//
//   write ─▶ written, not synced ─▶ sync ─▶ in the content: readers see it, and its writer goes on
//                    └──────── crash: any number of these, in order, the rest is gone
//
// A sync covers what was written before it began. That is what SQLite promises for its journal with synchronous=FULL: a
// commit is there wholly or not at all, and none without those before it.
import type { Timers } from '../../src/lib/world.ts'
import type { PseudoRandom } from '../fixtures/pseudo-random.ts'

/** There was no room for a write, and nothing of it was written. */
export class DiskFull extends Error {}
/** A write could not be made durable. What the disk has of it only a restart can tell. The disk takes no more. */
export class SyncFailed extends Error {}

/** What a disk can hold. `torn` makes what is there if only parts of the last write were kept. */
export type DiskContent<Content> = {
  copy(content: Content): Content
  torn(before: Content, after: Content, random: PseudoRandom): Content
}

export type DiskOptions = {
  readonly random: PseudoRandom
  readonly timers: Pick<Timers, 'after'>
  /** A sync takes as long as one of these says. */
  readonly syncMs: readonly number[]
}

/** `torn`: the last write that is kept is not whole. No disk may do that to a commit; tests see that it is noticed. */
export type CrashKind = 'whole' | 'torn'

type Write<Content> = {
  readonly alter: (content: Content) => unknown
  readonly settle: (failure: Error | undefined, result?: unknown) => void
}

/** One disk, from a start of its node to the next. Behind a crash nothing that waits for it ever goes on. */
export class SimulatedDisk<Content> {
  readonly #kind: DiskContent<Content>
  readonly #options: DiskOptions
  #content: Content
  #unsynced: Write<Content>[] = []
  /** How many of these the sync covers that is under way; 0: there is none. */
  #syncing = 0
  #state: 'sound' | 'failed' | 'crashed' = 'sound'
  #nextSyncFails = false
  /** Bytes that may still be written. */
  roomBytes = Number.POSITIVE_INFINITY
  /** What a torn crash has torn: the content without that write, and with all of it. */
  torn: { readonly before: Content; readonly after: Content } | undefined

  constructor(content: Content, kind: DiskContent<Content>, options: DiskOptions) {
    this.#content = content
    this.#kind = kind
    this.#options = options
  }

  /** What is durable. Only writes may alter it. */
  get content(): Content {
    return this.#content
  }

  /** True while something is written that is not synced. */
  get isWriting(): boolean {
    return this.#unsynced.length > 0
  }

  /** True if a sync has failed: nothing more is written. */
  get hasFailed(): boolean {
    return this.#state === 'failed'
  }

  /** Waits for ever behind a crash. */
  async requirePower(): Promise<void> {
    if (this.#state === 'crashed') await new Promise<never>(() => {})
  }

  /**
   * Alters the content as one step, and resolves with what `alter` returns once that is durable. `alter` runs only
   * then, or when a crash has kept the write: so it must alter nothing but the content.
   * @throws DiskFull; SyncFailed, also for every later write
   */
  write<Result>(bytes: number, alter: (content: Content) => Result): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      if (this.#state === 'crashed') return
      if (this.#state === 'failed') throw new SyncFailed('A sync failed before')
      if (bytes > this.roomBytes) throw new DiskFull(`The disk has room for ${this.roomBytes} bytes`)
      this.roomBytes -= bytes
      const settle: Write<Content>['settle'] = (failure, result) => {
        if (failure === undefined) resolve(result as Result)
        else reject(failure)
      }
      this.#unsynced.push({ alter, settle })
      if (this.#syncing === 0) this.#sync()
    })
  }

  /** The sync that is under way fails, or else the next one: the write it is for is not known to be there. */
  failSync(): void {
    this.#nextSyncFails = true
  }

  /**
   * Cuts the power, and returns what a new start finds. What was not synced is kept up to any one, in order. `torn`: of
   * the last one that is kept some parts are missing, and one is kept if there is any.
   */
  crash(kind: CrashKind = 'whole'): Content {
    const { random } = this.#options
    this.#state = 'crashed'
    let kept = this.#kind.copy(this.#content)
    const least = kind === 'torn' ? Math.min(1, this.#unsynced.length) : 0
    const count = least + random.int(this.#unsynced.length - least + 1)
    for (const [at, { alter }] of this.#unsynced.slice(0, count).entries()) {
      const before = kind === 'torn' && at === count - 1 ? this.#kind.copy(kept) : undefined
      alter(kept)
      if (before === undefined) continue
      this.torn = { before, after: kept }
      kept = this.#kind.torn(before, kept, random)
    }
    this.#unsynced = []
    return kept
  }

  #sync(): void {
    this.#syncing = this.#unsynced.length
    this.#options.timers.after(this.#options.random.pick(this.#options.syncMs), () => this.#synced())
  }

  #synced(): void {
    if (this.#state === 'crashed') return
    if (this.#nextSyncFails) {
      this.#state = 'failed'
      // They stay: a restart may find them.
      for (const { settle } of this.#unsynced) settle(new SyncFailed('The sync failed'))
      return
    }
    for (const { alter, settle } of this.#unsynced.splice(0, this.#syncing)) {
      try {
        settle(undefined, alter(this.#content))
      } catch (cause) {
        settle(cause instanceof Error ? cause : new Error('A write threw what is no error', { cause }))
      }
    }
    this.#syncing = 0
    if (this.#unsynced.length > 0) this.#sync()
  }
}
