// What a thread does anew when the operator asks for it (SIGHUP): each part of it adds one line to the list of its
// thread. `S` is what the threads are told, the same for all of them.
import type { Log } from './log.ts'

export class ReloadList<S> {
  readonly #tasks: { readonly name: string; readonly task: (state: S) => void | Promise<void> }[] = []

  /** `name` stands in the log where the task fails: what it was doing before goes on then. */
  add(name: string, task: (state: S) => void | Promise<void>): void {
    this.#tasks.push({ name, task })
  }

  /** Every task is run, in the order they were added, whatever becomes of the others; never rejects. */
  async run(state: S, log: Log): Promise<void> {
    for (const { name, task } of this.#tasks) {
      try {
        await task(state)
      } catch (cause) {
        log('error', `Reload: ${name} failed, it goes on as before`, { cause: nameOf(cause) })
      }
    }
  }
}

/** Codes of the system say enough; messages may quote what was read. */
const nameOf = (cause: unknown): string =>
  cause instanceof Error ? ((cause as NodeJS.ErrnoException).code ?? cause.name) : 'unknown'
