import type { World } from '../../lib/world.ts'
import type { Message } from '../protocol/messages.ts'
import type { SinkProgress } from '../sink/sink-parts.ts'
import type { PeerStatus, PrimaryStatus } from './link-sides.ts'
import { Marks } from './marks.ts'

type ViewFigures = Pick<PrimaryStatus, 'progress' | 'primaryIndex' | 'lagMs' | 'primaryVersion' | 'unheardMs'>

/** What a secondary knows of its primary's log, over one link after the other. It is shown, and decides nothing. */
export class PrimaryView {
  readonly #clock: World['clock']
  /** By the clock of the primary: when it said where its log ends, and when what is missing was committed. */
  readonly #told = new Marks('last')
  readonly #missing = new Marks('first')
  #progress: SinkProgress | undefined
  #primaryIndex: number | undefined
  #skewMs = 0
  /** By the own clock, which only grows. */
  #beatAtMs: number | undefined
  #appliedAtMs: number | undefined
  version: string | undefined

  constructor(clock: World['clock']) {
    this.#clock = clock
  }

  /** Index of the primary up to which all is applied; 0 while what is here is not whole. */
  get wholeIndex(): number {
    return this.#progress?.what === 'stream' ? this.#progress.index : 0
  }

  progressed(progress: SinkProgress): void {
    this.#progress = progress
    this.#appliedAtMs = this.#clock.monotonicMs()
    this.#reach()
  }

  heard({ lastIndex, sentAtMs, committedAtMs }: Message<'beat'>, skewMs: number | undefined): void {
    this.#skewMs = skewMs ?? this.#skewMs
    this.#primaryIndex = lastIndex
    this.#beatAtMs = this.#clock.monotonicMs()
    this.#told.add(lastIndex, sentAtMs)
    // The time of the commit is not known where the primary has its record no more.
    this.#missing.add(lastIndex, committedAtMs === 0 ? sentAtMs : committedAtMs)
    this.#reach()
  }

  get figures(): ViewFigures {
    const primaryIndex = this.#primaryIndex
    const isThere = primaryIndex !== undefined && this.wholeIndex >= primaryIndex
    return {
      progress: this.#progress,
      primaryIndex,
      lagMs: isThere ? 0 : this.#ageOf(this.#missing.missingSinceMs),
      primaryVersion: this.version,
      unheardMs: this.#unheardMs,
    }
  }

  get #unheardMs(): number | undefined {
    if (this.#beatAtMs === undefined) return undefined
    return Math.max(0, (this.#appliedAtMs ?? 0) - this.#beatAtMs)
  }

  /** Age of what is here for certain. It grows while nothing is heard of the primary. */
  get canaryAgeMs(): PeerStatus['canaryAgeMs'] {
    return this.#ageOf(this.#told.reachedAtMs)
  }

  #reach(): void {
    if (this.#progress?.what !== 'stream') return
    this.#told.reach(this.#progress.index)
    this.#missing.reach(this.#progress.index)
  }

  #ageOf(thenMs: number | undefined): number | undefined {
    return thenMs === undefined ? undefined : Math.max(0, Math.round(this.#clock.nowMs() + this.#skewMs - thenMs))
  }
}
