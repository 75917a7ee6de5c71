// Many pieces of bytes as one, so that they pass from thread to thread without a copy and without an object for each.

/** `lengths` holds 32 bits for each piece. Both are memory of their own, which can be handed over. */
export type Packed = { readonly bytes: ArrayBuffer; readonly lengths: ArrayBuffer }

/** Stands for a piece that is not there. */
const MISSING = 0xffff_ffff

export function pack(pieces: readonly (Buffer | undefined)[]): Packed {
  const bytes = new ArrayBuffer(pieces.reduce((sum, piece) => sum + (piece?.length ?? 0), 0))
  const lengths = new ArrayBuffer(pieces.length * Uint32Array.BYTES_PER_ELEMENT)
  const [into, table] = [new Uint8Array(bytes), new Uint32Array(lengths)]
  let at = 0
  pieces.forEach((piece, index) => {
    table[index] = piece?.length ?? MISSING
    if (piece === undefined) return
    into.set(piece, at)
    at += piece.length
  })
  return { bytes, lengths }
}

/** Views of the packed bytes: `wipePacked` wipes them too. */
export function unpack({ bytes, lengths }: Packed): (Buffer | undefined)[] {
  const pieces: (Buffer | undefined)[] = []
  let at = 0
  for (const length of new Uint32Array(lengths)) {
    pieces.push(length === MISSING ? undefined : Buffer.from(bytes, at, length))
    if (length !== MISSING) at += length
  }
  return pieces
}

export function wipePacked({ bytes }: Packed): void {
  new Uint8Array(bytes).fill(0)
}
