// How far secondaries that writes wait for have all, as it is told to the thread that writes. One call is under way at
// a time; what changes meanwhile goes with the next one, so that no load makes more of them than that thread takes.
import type { SecondaryProgress } from '../synchronous/synchronous-writes.ts'
import type { PrimaryOwner } from './link-sides.ts'

/** Tells an owner. */
export class ProgressTelling {
  readonly #owner: Pick<PrimaryOwner, 'reached'>
  readonly #news = new Map<string, SecondaryProgress>()
  #isTelling = false

  constructor(owner: Pick<PrimaryOwner, 'reached'>) {
    this.#owner = owner
  }

  /** What a secondary has now. */
  tell(progress: SecondaryProgress): void {
    this.#news.set(progress[0], progress)
    if (!this.#isTelling) void this.#run()
  }

  async #run(): Promise<void> {
    this.#isTelling = true
    while (this.#news.size > 0) {
      const news = [...this.#news.values()]
      this.#news.clear()
      // The thread that writes is gone, and the process with it.
      await this.#owner.reached(news).catch(() => {})
    }
    this.#isTelling = false
  }
}
