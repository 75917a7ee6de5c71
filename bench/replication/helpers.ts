// Processes that help to measure: each does one thing, so that neither the load nor the looking shares a thread with
// what is measured. A helper is a file that answers the calls of its parent.
import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'

/** What a helper can do. All that is given and returned is copied. */
export type HelperCalls = Readonly<Record<string, (...given: never[]) => unknown>>

type Question = { readonly name: string; readonly given: readonly unknown[] }
type Reply = { readonly result: unknown } | { readonly fault: string }

/** A helper that runs. */
export class Helper<C extends HelperCalls> {
  readonly #child: ChildProcess
  readonly #file: string
  #waiting: { resolve(result: unknown): void; reject(cause: Error): void }[] = []

  private constructor(file: string) {
    this.#file = file
    this.#child = fork(join(import.meta.dirname, file), { serialization: 'advanced' })
    this.#child.on('message', (reply: Reply) => {
      const first = this.#waiting.shift()
      if ('fault' in reply) first?.reject(new Error(`${file}: ${reply.fault}`))
      else first?.resolve(reply.result)
    })
    this.#child.on('exit', () => {
      for (const { reject } of this.#waiting.splice(0)) reject(new Error(`${file} ended`))
    })
  }

  /** Starts the file of this folder. */
  static start<C extends HelperCalls>(file: string): Helper<C> {
    return new Helper<C>(file)
  }

  /** Has it do something; one after the other. */
  ask<K extends keyof C & string>(name: K, ...given: Parameters<C[K]>): Promise<Awaited<ReturnType<C[K]>>> {
    return new Promise((resolve, reject) => {
      if (!this.#child.connected) throw new Error(`${this.#file} ended`)
      this.#waiting.push({ resolve: resolve as (result: unknown) => void, reject })
      this.#child.send({ name, given } satisfies Question)
    })
  }

  end(): void {
    this.#child.kill('SIGKILL')
  }
}

/** In the process of a helper: does what it is asked, in order. */
export function help(calls: HelperCalls): void {
  let before: Promise<unknown> = Promise.resolve()
  process.on('message', ({ name, given }: Question) => {
    before = before.then(async () => process.send?.(await replyOf(calls, name, given)))
  })
  process.on('disconnect', () => process.exit())
}

async function replyOf(calls: HelperCalls, name: string, given: readonly unknown[]): Promise<Reply> {
  try {
    return { result: await calls[name]?.(...(given as never[])) }
  } catch (cause) {
    return { fault: cause instanceof Error ? (cause.stack ?? cause.message) : String(cause) }
  }
}

/** Milliseconds of the clock that all processes of the machine share. */
export const machineMs = (): number => Number(process.hrtime.bigint()) / 1e6
