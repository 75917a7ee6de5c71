// What a thread does anew when the operator asks for it (SIGHUP, sys/config/reload): each part of it adds one line to
// the list of its thread. `S` is what the threads are told, the same for all of them.
import type { Log } from './log.ts'

/** What can change while the server runs; the names stand in the path of sys/config/reload. */
export const RELOAD_PARTS = ['audit', 'log_level', 'tls'] as const
export type ReloadPart = (typeof RELOAD_PARTS)[number]

/** 'kept': something could not be used, what was there goes on, and the log has said why. */
export type ReloadOutcome = 'kept' | undefined

/** Gives an outcome, or nothing, at once or later. */
type Task<S> = (state: S) => unknown

export class ReloadList<S> {
  readonly #tasks: { readonly part: ReloadPart; readonly task: Task<S> }[] = []

  /** A task that throws is named in the log: what it was doing before goes on then. */
  add(part: ReloadPart, task: Task<S>): void {
    this.#tasks.push({ part, task })
  }

  /**
   * Every task of `part`, or of all parts, in the order they were added, whatever becomes of the others. False where
   * something goes on as before. Never rejects.
   */
  async run(state: S, log: Log, part?: ReloadPart): Promise<boolean> {
    let isWhole = true
    for (const { part: of, task } of this.#tasks) {
      if (part !== undefined && part !== of) continue
      try {
        if ((await task(state)) === 'kept') isWhole = false
      } catch (cause) {
        isWhole = false
        log('error', `Reload: ${of} failed, it goes on as before`, { cause: nameOf(cause) })
      }
    }
    return isWhole
  }
}

/** Codes of the system say enough; messages may quote what was read. */
const nameOf = (cause: unknown): string =>
  cause instanceof Error ? ((cause as NodeJS.ErrnoException).code ?? cause.name) : 'unknown'
