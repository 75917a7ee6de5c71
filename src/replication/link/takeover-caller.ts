// A cluster that has the place of a former primary tells that one, which writes nothing from then on. That one may be
// gone, cut off, or come back after days: it is called until it knows.

import type { ReplicationFamily } from '../../storage/peer-log.ts'
import type { LinkEndParts } from './end-parts.ts'
import { EndablePause } from './endable-pause.ts'
import { askPrimary } from './knocking.ts'
import type { FormerPart, Knocked } from './link-sides.ts'

/** Each so many tries there is one that waits longer. */
const SLOW_TRY = 4

/** A cluster that is primary no more serves no set, and a secondary would be told to get another token. */
function sentenceOf(answer: Exclude<Knocked, { readonly kind: 'package' | 'welcome' }>, address: string): string {
  if (answer.kind !== 'no-link' || answer.reason !== 'rejected') return answer.sentence
  return `What answers at ${address} is not the primary of this set: that was demoted or disabled, or is elsewhere now`
}

/** Calls one former primary, until it is stopped or that one knows. */
export class TakeoverCaller {
  readonly #parts: LinkEndParts
  readonly #part: FormerPart
  readonly #stopping = new AbortController()
  readonly #pause: EndablePause
  #tries = 0
  /** Why it does not know yet. */
  sentence = 'The former primary is being called'

  constructor(parts: LinkEndParts, part: FormerPart) {
    this.#parts = parts
    this.#part = part
    this.#pause = new EndablePause(parts.world.timers)
    void this.#run()
  }

  get family(): ReplicationFamily {
    return this.#part.set.family
  }

  /** True if the part is of the same promotion, and of the same former primary. */
  isFor({ set, replacedBy, takeover }: FormerPart): boolean {
    const own = this.#part
    const isSame = own.replacedBy.equals(replacedBy) && own.takeover.historyId.equals(takeover.historyId)
    return own.set.family === set.family && isSame
  }

  stop(): void {
    this.#stopping.abort()
    this.#pause.end()
  }

  async #run(): Promise<void> {
    const { log } = this.#parts
    while (!this.#stopping.signal.aborted) {
      try {
        if (await this.#call()) return
      } catch (cause) {
        this.#says((cause as Error).message)
      }
      this.#tries++
      if (!this.#stopping.signal.aborted) await this.#pause.rest(this.#parts.times.takeoverRetryMs)
    }
    log('debug', 'The former primary is called no more', { family: this.#part.set.family })
  }

  /** A call that hangs keeps the next one from a network that is good again; a short one fails on a slow network. */
  get #withinMs(): number {
    const { takeoverMs, knockMs } = this.#parts.times
    return this.#tries % SLOW_TRY === SLOW_TRY - 1 ? knockMs : takeoverMs
  }

  /** Calls at each address once; true if the former primary has answered, whatever it said. */
  async #call(): Promise<boolean> {
    const { owner, facts, log } = this.#parts
    const { set, id, replacedBy, identity, takeover, addresses } = this.#part
    const { family } = set
    for (const address of addresses) {
      const knock = { set, id, identity, address, facts: facts(), what: 'took-over', takeover } as const
      const answer: Knocked = await askPrimary(this.#parts, knock, this.#stopping.signal, this.#withinMs)
      if (this.#stopping.signal.aborted) return true
      if (answer.kind === 'welcome') {
        log('info', 'The former primary knows that this cluster took over', { family, address })
        await owner.takeoverKnown(family, { replacedBy })
        return true
      }
      if (answer.kind === 'refused' && answer.code === 'conflict') {
        await owner.conflict(family, replacedBy, answer.sentence)
        return true
      }
      if (answer.kind !== 'package') this.#says(sentenceOf(answer, address))
    }
    return false
  }

  #says(sentence: string): void {
    const isNews = this.sentence !== sentence
    this.sentence = sentence
    const fields = { family: this.#part.set.family, why: sentence }
    if (isNews) this.#parts.log('warn', 'The former primary does not know that this cluster took over', fields)
  }
}
