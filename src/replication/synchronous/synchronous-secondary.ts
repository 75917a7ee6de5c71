// What a primary knows of one secondary that writes wait for, and whether they do.
//
//   together ── away for too long ──▶ apart ── near the end of the log ──▶ returning ── has all ──▶ together
//                                       ▲────────── away for too long ─────────┘
//
// Writes wait for it unless it is apart. What was answered meanwhile it may lack until it is together again.
//
// The seal of the primary comes beside the log: a rekey waits until it is there, and no other write does. One that
// lacks it is not in step.

/**
 * What status tells of it. `away`: writes were answered without it, and it does not have all of them yet. `waiting`:
 * writes wait for it, and it may lack something, be it only the seal that is in force.
 */
export type SynchronousState = 'in-step' | 'waiting' | 'away'

/** The two clocks at one moment. */
export type Moment = { readonly wallMs: number; readonly monotonicMs: number }

/** How far a cluster has written: where its log ends for secondaries, and the id of its seal. */
export type WriteMark = { readonly index: number; readonly sealId: string }

/** One that stands where the log ended so short a time ago soon has all: writes may wait for it again. */
const NEAR_MS = 1_000

/** One secondary. */
export class SynchronousSecondary {
  readonly id: string
  #mode: 'together' | 'returning' | 'apart'
  /** What it must have before it is in step. */
  #needs: number
  #has = 0
  /** Ids of the seal that is in force, and of the one that it says it has. */
  #seal: string
  #saysSeal: string | undefined
  #isLinked = false
  /** On the monotonic clock; undefined while there is a link that says what it has. */
  #awaySinceMs: number | undefined
  /** Where the log ended at that time, for one that comes back while others write. */
  #mark: { readonly index: number; readonly atMs: number } | undefined
  #isMissed: boolean
  #shown: SynchronousState
  #sinceMs: number

  /**
   * One that was let in before this server was opened is `expected`: it may come at once. Any other is apart until it
   * has all for the first time. `written`: as of now.
   */
  constructor(id: string, isExpected: boolean, written: WriteMark, { wallMs, monotonicMs }: Moment) {
    this.id = id
    this.#mode = isExpected ? 'together' : 'apart'
    this.#isMissed = !isExpected
    this.#needs = written.index
    this.#seal = written.sealId
    this.#awaySinceMs = monotonicMs
    this.#sinceMs = wallMs
    this.#shown = this.state
  }

  /** True if writes wait for it. */
  get isAwaited(): boolean {
    return this.#mode !== 'apart'
  }

  /** Index of the log up to which it has all on its disk. What it has stays there while it is away. */
  get has(): number {
    return this.#has
  }

  /** True if it has the seal that is in force on its disk. */
  get hasSeal(): boolean {
    return this.#saysSeal === this.#seal
  }

  get awaySinceMs(): number | undefined {
    return this.#awaySinceMs
  }

  /** True from when it was away for too long until it is in step. */
  get isMissed(): boolean {
    return this.#isMissed
  }

  get state(): SynchronousState {
    if (this.#mode !== 'together') return 'away'
    const hasAll = this.#has >= this.#needs && this.hasSeal
    return this.#isLinked && hasAll ? 'in-step' : 'waiting'
  }

  /** Wall clock since which it has this state. */
  get sinceMs(): number {
    return this.#sinceMs
  }

  /** The seal of this id is in force from now on. */
  rekeyed(sealId: string, now: Moment): void {
    this.#seal = sealId
    this.#note(now)
  }

  /**
   * A link says how far it has all, and the id of its seal. An index that is undefined: there is no link, or what
   * it has is not whole. Returns true if it was missed until now, and is in step.
   */
  reported(index: number | undefined, sealId: string | undefined, written: WriteMark, now: Moment): boolean {
    this.#saysSeal = sealId
    this.#seal = written.sealId
    if (index === undefined) this.#left(now)
    else this.#isAt(index, written.index, now)
    const isBack = this.#isMissed && this.state === 'in-step'
    if (isBack) this.#isMissed = false
    this.#note(now)
    return isBack
  }

  /** It was away for too long. Returns true if that is news. */
  miss(goesOnWithout: boolean, now: Moment): boolean {
    const isNews = !this.#isMissed || (goesOnWithout && this.#mode === 'together')
    this.#isMissed = true
    if (goesOnWithout) {
      this.#mode = 'apart'
      this.#mark = undefined
    }
    this.#note(now)
    return isNews
  }

  #left({ monotonicMs }: Moment): void {
    if (this.#isLinked) this.#awaySinceMs = monotonicMs
    this.#isLinked = false
    this.#mark = undefined
  }

  #isAt(index: number, last: number, { monotonicMs }: Moment): void {
    this.#isLinked = true
    this.#awaySinceMs = undefined
    // Its disk was put back: what it had acknowledged is needed once more, and all since.
    if (index < this.#has) this.#needs = last
    this.#has = index
    if (this.#mode === 'apart') {
      const mark = this.#mark
      const isNear = mark !== undefined && index >= mark.index && monotonicMs - mark.atMs <= NEAR_MS
      if (index >= last || isNear) {
        this.#mode = 'returning'
        this.#needs = last
      } else if (mark === undefined || index >= mark.index) this.#mark = { index: last, atMs: monotonicMs }
    }
    if (this.#mode === 'returning' && index >= this.#needs) this.#mode = 'together'
  }

  #note({ wallMs }: Moment): void {
    if (this.#shown === this.state) return
    this.#shown = this.state
    this.#sinceMs = wallMs
  }
}
