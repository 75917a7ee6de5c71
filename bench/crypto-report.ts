// Writes the measurements of bench/crypto.ts as a table, and reads the output of `openssl speed -mr`.
import { markdownTable, median, ratio } from './report.ts'

/** The measurements of one load. */
export type Measured = {
  readonly type: string
  readonly work: string
  /** Microseconds, one a round. */
  readonly ours: readonly number[]
  /** Microseconds of one call of the runtime for the same; none if it has no such call. */
  readonly raw?: readonly number[]
  /** Operations a second of the openssl program, if it is installed and knows the algorithm. */
  readonly opensslPerSecond?: number
}

const HEAD = ['type', 'work', 'ours µs', 'raw µs', 'ours / raw', 'openssl µs']

/** Returns the table in Markdown, with medians and their ratio. */
export function cryptoTable(rows: readonly Measured[]): string {
  const lines = rows.map(({ type, work, ours, raw, opensslPerSecond }) => {
    const [own, bare] = [median(ours), raw && median(raw)]
    const program = opensslPerSecond === undefined ? '' : (1_000_000 / opensslPerSecond).toFixed(1)
    return [type, work, own.toFixed(1), bare?.toFixed(1) ?? '', ratio(bare && own / bare), program]
  })
  return markdownTable(HEAD, lines)
}

/** Operations a second, in the two columns of `openssl speed`. */
export type Speed = { readonly first: number; readonly second: number }

/**
 * Reads operations a second from `openssl speed -mr`: for a key pair signing and verifying, for a cipher twice the
 * same. Returns undefined if no line has results.
 */
export function readSpeed(output: string, blockBytes: number): Speed | undefined {
  for (const line of output.split('\n')) {
    const [kind, ...fields] = line.split(':')
    if (kind === '+F') {
      const perSecond = Number(fields.at(-1)) / blockBytes
      return { first: perSecond, second: perSecond }
    }
    if (kind?.startsWith('+F')) return { first: Number(fields.at(-2)), second: Number(fields.at(-1)) }
  }
  return undefined
}
