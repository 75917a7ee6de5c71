// A primary that hands over: it writes nothing, until it hears that its secondary was promoted, or was not. If it hears
// neither, it writes again after a while: the secondary gives its promotion up well before that. A note in the store
// keeps it so when the server starts anew meanwhile, and the time begins again: nobody knows how long it was off.
import type { Log } from '../../lib/log.ts'
import type { Timer, World } from '../../lib/world.ts'
import { clearHandingOver, isHandingOver, noteHandingOver } from '../../replication/set/handing-over-note.ts'
import { readState } from '../../replication/set/records.ts'
import { isClosed } from '../../storage/errors.ts'
import type { ReplicationFamily } from '../../storage/peer-log.ts'
import type { View } from '../../storage/sealed-storage.ts'

/** How long a primary waits for a secondary that is to be promoted. */
export const LEASE_MS = 10_000
/** How long a secondary may take to be promoted once it has asked. It must be well below the lease. */
export const PROMOTION_MS = 5_000
/** Who asks for a demotion: no secondary has an empty id. */
export const OPERATOR = ''

/** Who asked before a restart: not known, so that nobody takes it back. No id has a control character. */
const SOMEBODY = '\n'

/** A secondary that asks. Secondaries of both families may have the same id. */
export const askerOf = (family: ReplicationFamily, id: string): string => `${family}/${id}`

/** The parts of it. */
export type HandingOverParts = {
  readonly view: View
  /** The index of the last change that is stored. */
  readonly logEnd: () => Promise<number>
  readonly world: Pick<World, 'clock' | 'timers'>
  readonly log: Log
  /** Takes over the role that follows. */
  readonly changed: () => Promise<void>
}

/** Whether this primary hands over now. */
export class HandingOver {
  readonly #parts: HandingOverParts
  /** Who asked for it, and took nothing back. */
  readonly #asked = new Set<string>()
  #lease: Timer | undefined
  #overAt = Number.POSITIVE_INFINITY

  constructor(parts: HandingOverParts) {
    this.#parts = parts
  }

  get isOn(): boolean {
    return this.#lease !== undefined
  }

  /**
   * Who has the log up to here was not promoted since it asked: the last change is that this cluster does not hand over
   * any more, or a later one. Infinity while it hands over, or does not know.
   */
  get overAt(): number {
    return this.#overAt
  }

  /** True while a secondary of the family counts on it, or may: after a restart nobody knows who asked. */
  isAskedBy(family: ReplicationFamily): boolean {
    return [...this.#asked].some((who) => who.startsWith(askerOf(family, '')))
  }

  /** Resolves when nothing is written any more, also after a restart. The lease begins anew, and as late as that. */
  async begin(who: string): Promise<void> {
    const { view, world, log, changed } = this.#parts
    const asked = who === OPERATOR ? 'the operator' : who
    if (!this.isOn) log('info', 'This cluster writes nothing for a while, since it is to hand over', { asked })
    do {
      this.#asked.add(who)
      this.#lend(asked)
      await view.transaction((tx) => noteHandingOver(tx, world.clock.nowMs()))
      // On a slow device it may be over by now, and what was noted gone.
    } while (!this.isOn)
    this.#lend(asked)
    // Although it may be on: who asked first may not have waited for that as yet.
    await changed()
  }

  /** The server has just been opened: it goes on with what a note says. */
  async goOn(): Promise<void> {
    let [isNoted, isPrimaryForDr] = [true, true]
    try {
      await this.#parts.view.transaction(async (tx) => {
        isNoted = await isHandingOver(tx)
        isPrimaryForDr = (await readState(tx, 'dr'))?.mode === 'primary'
      })
    } finally {
      // Also where it cannot be read: it would never end.
      if (isNoted) {
        this.#asked.add(isPrimaryForDr ? askerOf('dr', SOMEBODY) : SOMEBODY)
        this.#lend('before this server was opened')
      }
    }
    await this.#isOver()
  }

  /** Finds out where the log ended, if that is not known: then `overAt` is right, and rather too high than too low. */
  async look(): Promise<void> {
    if (this.#overAt === Number.POSITIVE_INFINITY && !this.isOn) await this.#isOver()
  }

  /** Where the handing over is at an end, and before the role lets anything be written. */
  async #isOver(): Promise<void> {
    const index = await this.#parts.logEnd()
    if (!this.isOn) this.#overAt = index
  }

  #lend(asked: string): void {
    const { world, log } = this.#parts
    this.#lease?.cancel()
    this.#overAt = Number.POSITIVE_INFINITY
    this.#lease = world.timers.after(LEASE_MS, () => {
      log('warn', 'This cluster writes again: it has heard of no cluster that took over', { asked })
      void this.#end()
    })
  }

  /** Resolves when it is written again, where the role allows it: unless another one counts on it. */
  async end(who: string): Promise<void> {
    this.#asked.delete(who)
    if (this.isOn && this.#asked.size === 0) await this.#end()
  }

  /**
   * The cluster was demoted in a family. The note is of another class than what says so, and goes in a step of its own:
   * a server that ends between the two removes it when the lease ends. Left behind, it would keep a performance
   * secondary from writing what is its own. A secondary of the other family may count on it still. Resolves when the
   * role is taken.
   */
  async demoted(family: ReplicationFamily): Promise<void> {
    if (family === 'dr' || !this.isAskedBy('dr')) return this.#end()
    for (const who of this.#asked) if (!who.startsWith(askerOf('dr', ''))) this.#asked.delete(who)
    await this.#parts.changed()
  }

  async #end(): Promise<void> {
    const { view, log, changed } = this.#parts
    this.drop()
    try {
      await view.transaction(async (tx) => clearHandingOver(tx))
      await this.#isOver()
      await changed()
    } catch (cause) {
      // The next opening finds the note.
      if (isClosed(cause)) return
      log('error', 'This cluster cannot write again as yet, which is tried again', { cause: (cause as Error).message })
      if (!this.isOn) this.#lend('before')
    }
  }

  /** Nothing is lent any more, since the server closes, or the note went with the role. */
  drop(): void {
    this.#asked.clear()
    this.#lease?.cancel()
    this.#lease = undefined
  }
}
