// Work that takes too long for a thread that serves requests: from a fraction of a millisecond (an RSA private key) to
// seconds (a new one). Whoever has such work is given a SlowWork and does not know where it is done.
import type { World } from './world.ts'

/** What a job may use besides its input. */
export type JobTools = Pick<World, 'random' | 'clock'>

/**
 * A pure function by its name, so that another thread can find it. Input and output can be cloned to a thread: plain
 * data, bytes, and KeyObjects, whose material is shared and not copied. A failure that callers expect is an output;
 * what is thrown is a defect.
 */
export type Job<I, O> = {
  readonly name: string
  /** 'short': milliseconds. 'long': up to seconds; it never holds up a short one. */
  readonly takes: 'short' | 'long'
  readonly run: (input: I, tools: JobTools) => O | Promise<O>
  /** The same for inputs that take about as long: the type of a key, the size. Without it all of this name do. */
  kind?(input: I): string
  /** Memory of the output that is handed over instead of copied: all that is secret in it. */
  moves?(output: O): ArrayBuffer[]
}

/** What takes about as long: within twice the time. */
export const magnitude = (amount: number): string => `2^${Math.floor(Math.log2(Math.max(1, amount)))}`

/** Any job, as a table of them holds it. */
export type AnyJob = Job<never, unknown>

export interface SlowWork {
  /**
   * The input may be read until there is an answer: the caller must not change it before. `moved` is memory of it that
   * is handed over instead of copied: the caller must not touch it afterwards.
   * @throws Overloaded where too much waits already
   * @throws JobFailed where the job threw, or the thread that ran it ended
   * @throws JobForgotten where the server was sealed before it began
   */
  run<I, O>(job: Job<I, O>, input: I, moved?: ArrayBuffer[]): Promise<O>
  /** Says that there is work at hand which can be split; `end` is called once, when all of it is done. */
  split(): Split
  /** At seal: what waits is refused; resolves when no thread holds anything of what was done. */
  forget(): Promise<void>
}

export type Split = {
  /**
   * Into how many parts the work is best split now. One is for the thread that asks, the others are for the pool; 1: it
   * is not worth it, others have such work at hand.
   */
  parts(): number
  end(): void
}

/** Nothing was done: more work waits than can be done soon. */
export class Overloaded extends Error {
  override name = 'Overloaded'
}

/** `reason` names the error and goes to the log; a message could hold what the job was given. */
export class JobFailed extends Error {
  constructor(reason: string, cause?: unknown) {
    super('Slow work failed', cause === undefined ? undefined : { cause })
    this.name = `JobFailed (${reason})`
  }
}

export class JobForgotten extends Error {
  override name = 'JobForgotten'
}

/** Does the work where it is asked for: for a server with one thread, and for tests. */
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
