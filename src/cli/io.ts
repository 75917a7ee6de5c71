// What the client knows of the process it runs in. Handed in, so that a test runs it without one.
import type { Diagnose } from './diagnosis.ts'
import type { Json } from './exact-json.ts'

/** `process.stdin` or any stream; the members are there where it is a terminal. */
export type CliInput = NodeJS.ReadableStream & {
  readonly isTTY?: boolean
  /** Hands every key on at once and without echo. */
  setRawMode?(mode: boolean): unknown
}
export type CliOutput = NodeJS.WritableStream & {
  readonly isTTY?: boolean
  /** Characters in a line of a terminal. */
  readonly columns?: number
}

export type CliIo = {
  readonly stdin: CliInput
  readonly stdout: CliOutput
  readonly stderr: CliOutput
  readonly env: Readonly<Record<string, string | undefined>>
  /** Of this program. */
  readonly version: string
  /** Between the attempts of a request. */
  readonly sleep: (delayMs: number) => Promise<void>
  readonly inspectSnapshot: InspectSnapshot
  readonly diagnose: Diagnose
}

/** Reads a snapshot to its end and says what it is. @throws CliError where it is damaged */
export type InspectSnapshot = (parts: AsyncIterable<Buffer>) => Promise<Json>

/** Resolves when the stream has taken the data, so that a process that ends afterwards cuts nothing off. */
export function write(stream: CliOutput, data: string | Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    // A failure comes to the callback and then as an event, which would end the process if nobody listened.
    const ignore = (): void => {}
    stream.on('error', ignore)
    stream.write(data, (error) => {
      if (error) return reject(error)
      stream.off('error', ignore)
      resolve()
    })
  })
}
