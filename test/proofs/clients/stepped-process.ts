// A client of another language as a process that does a step when it is told to: a line of its input names the step,
// and a line of its output says that it is done.
import { strict as assert } from 'node:assert'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

export type SteppedProcess = {
  /** What it says when it is ready. */
  readonly greeting: string
  /** Resolves when the step is done; the first word is its name. Fails with what the process said if it ended. */
  readonly step: (...words: readonly string[]) => Promise<void>
}

export async function steppedProcess({ stdin, stdout, stderr }: ChildProcess): Promise<SteppedProcess> {
  assert.ok(stdin !== null && stdout !== null && stderr !== null)
  let said = ''
  stderr.on('data', (chunk: Buffer) => {
    said += chunk.toString()
  })
  const ended = once(stderr, 'close')
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]()
  const next = async (): Promise<string> => {
    const { value, done } = await lines.next()
    if (done === true) await ended
    return value ?? assert.fail(said)
  }
  return {
    greeting: await next(),
    step: async (...words) => {
      stdin.write(`${words.join(' ')}\n`)
      assert.equal(await next(), words[0])
    },
  }
}
