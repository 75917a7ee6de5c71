// A primary that hands over: it writes nothing, until it hears that its secondary was promoted, or was not. If it hears
// neither, it writes again after a while: the secondary gives its promotion up well before that.
import type { Log } from '../../lib/log.ts'
import type { Timer, World } from '../../lib/world.ts'

/** How long a primary waits for a secondary that is to be promoted. */
export const LEASE_MS = 10_000
/** How long a secondary may take to be promoted once it has asked. It must be well below the lease. */
export const PROMOTION_MS = 5_000

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
  #lease: Timer | undefined

  constructor(parts: HandingOverParts) {
    this.#parts = parts
  }

  get isOn(): boolean {
    return this.#lease !== undefined
  }

  /** Resolves when nothing is written any more. The lease begins anew. */
  async begin(why: string): Promise<void> {
    const { world, log, changed } = this.#parts
    const wasOn = this.isOn
    this.#lease?.cancel()
    this.#lease = world.timers.after(LEASE_MS, () => {
      log('warn', 'This cluster writes again: it has heard of no cluster that took over', { asked: why })
      void this.end()
    })
    if (wasOn) return
    log('info', 'This cluster writes nothing for a while, since it is to hand over', { asked: why })
    await changed()
  }

  /** Resolves when it is written again, where the role allows it. */
  async end(): Promise<void> {
    if (!this.isOn) return
    this.drop()
    try {
      await this.#parts.changed()
    } catch (cause) {
      this.#parts.log('error', 'The role of this server could not be changed', { cause: (cause as Error).message })
    }
  }

  /** As `end`, for who takes over the role himself. */
  drop(): void {
    this.#lease?.cancel()
    this.#lease = undefined
  }
}
