// Many pieces of bytes as one, so that they pass from thread to thread without a copy and without an object for each.

export type Packed = { readonly bytes: Uint8Array<ArrayBuffer>; readonly lengths: Uint32Array<ArrayBuffer> }

/** Stands for a piece that is not there. */
const MISSING = 0xffff_ffff

export function pack(pieces: readonly (Buffer | undefined)[]): Packed {
  const lengths = new Uint32Array(pieces.length)
  let total = 0
  for (const piece of pieces) total += piece?.length ?? 0
  const bytes = new Uint8Array(total)
  let at = 0
  pieces.forEach((piece, index) => {
    lengths[index] = piece?.length ?? MISSING
    if (piece === undefined) return
    bytes.set(piece, at)
    at += piece.length
  })
  return { bytes, lengths }
}

/** Views of the packed bytes: who wipes those wipes the pieces. */
export function unpack({ bytes, lengths }: Packed): (Buffer | undefined)[] {
  const pieces: (Buffer | undefined)[] = []
  let at = 0
  for (const length of lengths) {
    pieces.push(length === MISSING ? undefined : Buffer.from(bytes.buffer, bytes.byteOffset + at, length))
    if (length !== MISSING) at += length
  }
  return pieces
}
