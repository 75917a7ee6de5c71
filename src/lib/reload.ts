// The list of parts that a thread reloads when the operator asks for it (SIGHUP, sys/config/reload). Each part of the
// thread adds one line. `S` is the state that the threads are told, the same for all.
import type { Log } from './log.ts'

/** The parts that can change at run time. Their names are part of the path of sys/config/reload. */
export const RELOAD_PARTS = ['audit', 'log_level', 'replication', 'tls'] as const
/** The name of a part. */
export type ReloadPart = (typeof RELOAD_PARTS)[number]

/** 'kept': something could not be used, the former state stays, and the log has the reason. */
export type ReloadOutcome = 'kept' | undefined

/** Returns an outcome, or nothing, at once or later. */
type Task<S> = (state: S) => unknown

/** The tasks of one thread. */
export class ReloadList<S> {
  readonly #tasks: { readonly part: ReloadPart; readonly task: Task<S> }[] = []

  /** Adds a task. One that throws must have left its former state in place; its failure is logged. */
  add(part: ReloadPart, task: Task<S>): void {
    this.#tasks.push({ part, task })
  }

  /**
   * Runs every task of `part`, or of all parts, in the order in which they were added, whatever becomes of the others.
   * Resolves with false if something goes on as before. Never rejects.
   */
  async run(state: S, log: Log, part?: ReloadPart): Promise<boolean> {
    let isWhole = true
    for (const { part: of, task } of this.#tasks) {
      if (part !== undefined && part !== of) continue
      try {
        if ((await task(state)) === 'kept') isWhole = false
      } catch (cause) {
        isWhole = false
        log('error', `Reload: ${of} failed, its previous state stays in use`, { cause: nameOf(cause) })
      }
    }
    return isWhole
  }
}

/** Codes of the system say enough; a message may quote what was read. */
const nameOf = (cause: unknown): string =>
  cause instanceof Error ? ((cause as NodeJS.ErrnoException).code ?? cause.name) : 'unknown'
