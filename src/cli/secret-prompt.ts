// Asks for a secret on the terminal without showing it. Raw mode has no line editing, so the keys that end, erase and
// interrupt are handled here.
import { asciiTrim } from '../lib/ascii.ts'
import { CliError } from './cli-error.ts'
import { type CliIo, writeAll } from './io.ts'

const INTERRUPT = '\u0003'
const END_OF_INPUT = '\u0004'
const CLEAR_LINE = '\u0015'
const BACKSPACES = ['\u0008', '\u007f']
const ENTERS = ['\r', '\n']

/** Returns the typed text without blanks at its ends. @throws CliError if it is interrupted, or would be shown */
export async function askSecret(io: CliIo, what: string): Promise<string> {
  const { stdin } = io
  if (stdin.setRawMode === undefined) {
    throw new CliError(`This terminal cannot hide what is typed: hand the ${what} in on standard input`)
  }
  stdin.setRawMode(true)
  try {
    await writeAll(io.stderr, `${what} (will be hidden): `)
    return asciiTrim(await readTyped(io))
  } finally {
    stdin.setRawMode(false)
    // A stream that flows keeps the process alive.
    stdin.pause()
    await writeAll(io.stderr, '\n')
  }
}

/** Collects keys up to Enter. Ctrl-C and Ctrl-D end the question, since raw mode sends no signal for them. */
function readTyped({ stdin }: CliIo): Promise<string> {
  return new Promise((resolve, reject) => {
    let typed = ''
    const stop = (finish: () => void): void => {
      stdin.off('data', onData)
      stdin.off('end', onEnd)
      stdin.off('error', onEnd)
      finish()
    }
    const onEnd = (): void => stop(() => reject(new CliError('Nothing was entered')))
    const onData = (chunk: Buffer | string): void => {
      for (const key of chunk.toString()) {
        if (ENTERS.includes(key)) {
          stop(() => resolve(typed))
          return
        }
        if (key === INTERRUPT || key === END_OF_INPUT) {
          onEnd()
          return
        }
        if (BACKSPACES.includes(key)) typed = typed.slice(0, -1)
        else typed = key === CLEAR_LINE ? '' : typed + key
      }
    }
    stdin.on('data', onData)
    stdin.on('end', onEnd)
    stdin.on('error', onEnd)
    stdin.resume()
  })
}
