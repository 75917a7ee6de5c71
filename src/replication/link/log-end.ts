import { HistoryGone } from '../../storage/errors.ts'
import { committedAtOf } from '../../storage/log/change-record.ts'
import type { Position, ReplicationFamily } from '../../storage/peer-log.ts'
import type { SourceStore } from '../source/source-parts.ts'
import type { BeatFacts } from './beats.ts'

/** Where the log of this cluster ends for a family, as beats tell it. */
export class LogEnd {
  readonly #store: Pick<SourceStore, 'position' | 'records'>
  readonly #family: ReplicationFamily
  #known: Pick<BeatFacts, 'lastIndex' | 'committedAtMs'> | undefined

  constructor(store: Pick<SourceStore, 'position' | 'records'>, family: ReplicationFamily) {
    this.#store = store
    this.#family = family
  }

  /** Index of the last change for the family, and when it was committed; 0 where that record is there no more. */
  async now(): Promise<Pick<BeatFacts, 'lastIndex' | 'committedAtMs'>> {
    const lastIndex = this.#lastOf(await this.#store.position())
    if (this.#known?.lastIndex === lastIndex) return this.#known
    const known = { lastIndex, committedAtMs: await this.#committedAt(lastIndex) }
    this.#known = known
    return known
  }

  #lastOf({ lastReplicatedIndex, lastLocalIndex }: Position): number {
    return this.#family === 'dr' ? Math.max(lastReplicatedIndex, lastLocalIndex) : lastReplicatedIndex
  }

  async #committedAt(index: number): Promise<number> {
    try {
      const [found] = index === 0 ? [] : await this.#store.records(index - 1, 1)
      return found?.index === index ? committedAtOf(found.record) : 0
    } catch (cause) {
      if (cause instanceof HistoryGone) return 0
      throw cause
    }
  }
}
