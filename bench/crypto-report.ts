// What bench/crypto.ts measured, as a table; and what `openssl speed -mr` prints, as figures.
import { markdownTable, median, ratio } from './report.ts'

export type Measured = {
  readonly type: string
  readonly work: string
  /** Microseconds, one a round. */
  readonly ours: readonly number[]
  /** The same by one call of the runtime; none where it has no such call. */
  readonly raw?: readonly number[]
  /** By the openssl program, where it is there and knows the algorithm: one figure a second. */
  readonly opensslPerSecond?: number
}

const HEAD = ['type', 'work', 'ours µs', 'raw µs', 'ours / raw', 'openssl µs']

export function cryptoTable(rows: readonly Measured[]): string {
  const lines = rows.map(({ type, work, ours, raw, opensslPerSecond }) => {
    const [own, bare] = [median(ours), raw && median(raw)]
    const program = opensslPerSecond === undefined ? '' : (1_000_000 / opensslPerSecond).toFixed(1)
    return [type, work, own.toFixed(1), bare?.toFixed(1) ?? '', ratio(bare && own / bare), program]
  })
  return markdownTable(HEAD, lines)
}

export type Speed = { readonly first: number; readonly second: number }

/**
 * Operations a second from `openssl speed -mr`: of a pair of keys signing and verifying, of a cipher both the same.
 * Undefined where no line is one of results.
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
