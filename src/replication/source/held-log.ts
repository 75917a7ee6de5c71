// The hold of the log for one secondary: what it lacks is kept for it, as long as there is room.
import { HistoryGone, StorageFull } from '../../storage/errors.ts'
import type { LogHold } from '../../storage/peer-log.ts'
import type { SourceParts } from './source-parts.ts'

type Hold = Pick<LogHold, 'kind' | 'from'>

/** One hold. */
export class HeldLog {
  readonly #parts: Pick<SourceParts, 'keeper' | 'limits'>
  readonly #isTransfer: () => boolean
  /** Index up to which the secondary has all for good: the log behind it is held. */
  #durable = 0
  #held: Hold | undefined
  #isHolding = false

  /** `isTransfer`: whether a copy or a comparison is running. */
  constructor(parts: Pick<SourceParts, 'keeper' | 'limits'>, isTransfer: () => boolean) {
    this.#parts = parts
    this.#isTransfer = isTransfer
  }

  /** The secondary has all up to this index. True if the hold is to follow now. */
  isDue(durable: number): boolean {
    if (durable <= this.#durable) return false
    this.#durable = durable
    return durable - (this.#held?.from ?? 0) >= this.#parts.limits.holdStep
  }

  /** Holds the log behind an index. One call is under way at a time; the last one wins. */
  from(index: number): Promise<void> {
    this.#durable = index
    return this.again()
  }

  /** Holds it behind what the secondary has, as what is running asks for. */
  async again(): Promise<void> {
    if (this.#isHolding) return
    this.#isHolding = true
    try {
      for (let next = this.#wanted(); next !== undefined; next = this.#wanted()) {
        this.#held = next
        await this.#parts.keeper.hold(next)
      }
    } catch (cause) {
      // A hold that comes too late, or finds no room, is missed where the log is read: then the trees are compared.
      if (!(cause instanceof HistoryGone || cause instanceof StorageFull)) throw cause
    } finally {
      this.#isHolding = false
    }
  }

  #wanted(): Hold | undefined {
    const wanted = { kind: this.#isTransfer() ? 'copy' : 'secondary', from: this.#durable } as const
    return this.#held?.kind === wanted.kind && this.#held.from === wanted.from ? undefined : wanted
  }
}
