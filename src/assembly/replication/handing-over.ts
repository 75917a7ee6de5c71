// A primary that hands over: it writes nothing, until it hears that its secondary was promoted, or was not. If it hears
// neither, it writes again after a while: the secondary gives its promotion up well before that.
import type { Log } from '../../lib/log.ts'
import type { Timer, World } from '../../lib/world.ts'

/** How long a primary waits for a secondary that is to be promoted. */
export const LEASE_MS = 10_000
/** How long a secondary may take to be promoted once it has asked. It must be well below the lease. */
export const PROMOTION_MS = 5_000
/** Who asks for a demotion: no secondary has an empty id. */
export const OPERATOR = ''

/** The parts of it. */
export type HandingOverParts = {
  readonly world: Pick<World, 'timers'>
  readonly log: Log
  /** Takes over the role that follows. */
  readonly changed: () => Promise<void>
}

/** Whether this primary hands over now. It is in memory alone: after a restart it writes again. */
export class HandingOver {
  readonly #parts: HandingOverParts
  /** Who asked for it, and took nothing back. */
  readonly #asked = new Set<string>()
  #lease: Timer | undefined

  constructor(parts: HandingOverParts) {
    this.#parts = parts
  }

  get isOn(): boolean {
    return this.#lease !== undefined
  }

  /** Resolves when nothing is written any more. The lease begins anew. */
  async begin(who: string): Promise<void> {
    const { world, log, changed } = this.#parts
    const wasOn = this.isOn
    const asked = who === OPERATOR ? 'the operator' : who
    this.#asked.add(who)
    this.#lease?.cancel()
    this.#lease = world.timers.after(LEASE_MS, () => {
      log('warn', 'This cluster writes again: it has heard of no cluster that took over', { asked })
      void this.#end()
    })
    if (!wasOn) log('info', 'This cluster writes nothing for a while, since it is to hand over', { asked })
    // Although it is on: who asked first may not have waited for that as yet.
    await changed()
  }

  /** Resolves when it is written again, where the role allows it: unless another one counts on it. */
  async end(who: string): Promise<void> {
    this.#asked.delete(who)
    if (this.isOn && this.#asked.size === 0) await this.#end()
  }

  async #end(): Promise<void> {
    this.drop()
    try {
      await this.#parts.changed()
    } catch (cause) {
      this.#parts.log('error', 'The role of this server could not be changed', { cause: (cause as Error).message })
    }
  }

  /** As `end` for all, for who takes over the role himself. */
  drop(): void {
    this.#asked.clear()
    this.#lease?.cancel()
    this.#lease = undefined
  }
}
