// A text that was put together with `+` is kept in pieces by the engine, and `JSON.stringify` takes five times as long
// over one as over a text in one piece, also after something else has put its pieces together: a millisecond for a
// megabyte.

/** Putting shorter ones into one piece costs what it saves. */
const WORTH_CHARACTERS = 4_096

/** `first + second`, both of ASCII alone; in one piece where it is long. */
export function joinAscii(first: string, second: string): string {
  const length = first.length + second.length
  if (length < WORTH_CHARACTERS) return first + second
  const bytes = Buffer.alloc(length)
  bytes.write(first, 0, 'latin1')
  bytes.write(second, first.length, 'latin1')
  return bytes.toString('latin1')
}
