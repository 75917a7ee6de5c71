// Work that takes too long for a thread that answers requests: from a fraction of a millisecond (an RSA private key) to
// seconds (a new one). Code with such work is given a SlowWork, and does not know where it is done.
import type { World } from './world.ts'

/** Services that a job may use besides its input. */
export type JobTools = Pick<World, 'random' | 'clock'>

/**
 * A pure function with a name, by which another thread finds it. Input and output must be clonable to a thread: plain
 * data, bytes, and KeyObjects, whose material is shared and not copied. A failure that callers expect is an output; an
 * exception is a defect.
 */
export type Job<I, O> = {
  readonly name: string
  /** 'short': milliseconds. 'long': up to seconds. The pool has workers for each: a short job waits for no long one. */
  readonly takes: 'short' | 'long'
  readonly run: (input: I, tools: JobTools) => O | Promise<O>
  /** Names the inputs that take about as long: by key type, by size. Without it all jobs of this name do. */
  kind?(input: I): string
  /** Memory of the output that is handed over instead of copied; must include all that is secret in it. */
  moves?(output: O): ArrayBuffer[]
}

/** A name for amounts within a factor of two, which take about as long. */
export const magnitude = (amount: number): string => `2^${Math.floor(Math.log2(Math.max(1, amount)))}`

/** A job as a table holds it, whatever its types. */
export type AnyJob = Job<never, unknown>

/** The way to have jobs done: by the pool, or in place (`inlineWork`). */
export interface SlowWork {
  /**
   * Runs the job. Its input may be read until there is an answer: the caller must not change it before. `moved` is
   * memory of the input that is handed over instead of copied: the caller must not touch it afterwards.
   * @throws Overloaded if too much waits already
   * @throws JobFailed if the job threw, or the thread that ran it ended
   * @throws JobForgotten if the server was sealed before the job began
   */
  run<I, O>(job: Job<I, O>, input: I, moved?: ArrayBuffer[]): Promise<O>
  /** Announces work at hand that can be split. `end` must be called once, when all of it is done. */
  split(): Split
  /** At seal: refuses what waits. Resolves when no thread holds anything of any job. */
  forget(): Promise<void>
}

/** A piece of work that may be split into parts. */
export type Split = {
  /**
   * Returns how many parts are best now. One part is for the calling thread, the others for the pool. 1: splitting is
   * not worth it, since others have such work at hand.
   */
  parts(): number
  end(): void
}

/** More work waits than can be done soon; nothing was done. */
export class Overloaded extends Error {
  override name = 'Overloaded'
}

/** `reason` names the error and goes to the log; a message could hold the input of the job. */
export class JobFailed extends Error {
  constructor(reason: string, cause?: unknown) {
    super('Slow work failed', cause === undefined ? undefined : { cause })
    this.name = `JobFailed (${reason})`
  }
}

/** The server was sealed before the job began. */
export class JobForgotten extends Error {
  override name = 'JobForgotten'
}

/** Does the work in the calling thread: for a server with one thread, and for tests. */
export function inlineWork(tools: JobTools): SlowWork {
  return {
    run: async (job, input) => {
      try {
        return await job.run(input, tools)
      } catch (cause) {
        throw new JobFailed(cause instanceof Error ? cause.name : typeof cause, cause)
      }
    },
    split: () => ({ parts: () => 1, end: () => {} }),
    forget: async () => {},
  }
}
