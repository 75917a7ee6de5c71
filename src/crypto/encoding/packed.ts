// Packs many pieces of bytes into one. So they pass from thread to thread without a copy, and without an object for
// each piece.

/** Packed pieces. `lengths` has 32 bits for each piece. Both buffers stand alone, so they can be handed over. */
export type Packed = { readonly bytes: ArrayBuffer; readonly lengths: ArrayBuffer }

/** The length that marks a missing piece. */
const MISSING = 0xffff_ffff

/** Copies the pieces one after another. A missing piece stays apart from an empty one. */
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

/** The pieces, as views of the packed bytes: `wipePacked` wipes them too. */
export function unpack({ bytes, lengths }: Packed): (Buffer | undefined)[] {
  const pieces: (Buffer | undefined)[] = []
  let at = 0
  for (const length of new Uint32Array(lengths)) {
    pieces.push(length === MISSING ? undefined : Buffer.from(bytes, at, length))
    if (length !== MISSING) at += length
  }
  return pieces
}

/** Overwrites all pieces. */
export function wipePacked({ bytes }: Packed): void {
  new Uint8Array(bytes).fill(0)
}
