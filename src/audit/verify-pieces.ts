// Explains text in a log that is no whole line. It is honest if a full disk or the end of the process cut a write
// short, which the log itself can show. Otherwise it was put there, or a line was damaged.
import { linkDigest } from '../crypto/primitives/digest.ts'
import { lineStart, readLinePosition } from './line-head.ts'
import type { ChainCheck } from './verify-chain.ts'

/** Text that is no whole line; in latin1, so a character is a byte. */
export type Piece = { readonly place: string; readonly text: string; readonly digest: string }
/** A piece that a chain reports to have left behind. */
export type Promised = { readonly bytes: number; readonly digest: string }

/** Makes a piece from text in latin1. */
export function pieceOf(text: string, place: string): Piece {
  return { place, text, digest: linkDigest(Buffer.from(text, 'latin1')) }
}

/** True if a chain reported exactly this piece. */
export const isPromised = ({ text, digest }: Piece, promised: Promised): boolean =>
  promised.bytes === text.length && promised.digest === digest

/**
 * Sorts pieces: faults for those that nothing explains, notes for those of lines that were being written when the
 * server ended. Pieces that a chain reported are neither.
 */
export function unexplained(
  pieces: readonly Piece[],
  promised: readonly Promised[],
  chains: readonly ChainCheck[],
): { readonly faults: readonly string[]; readonly notes: readonly string[] } {
  const faults: string[] = []
  const notes: string[] = []
  for (const { place, text, digest } of pieces) {
    if (promised.some((one) => isPromised({ place, text, digest }, one))) continue
    const chain = cutChain(text, chains)
    if (chain !== undefined) {
      const whose = chain === 'any' ? 'a chain' : `chain ${chain.id}`
      notes.push(`${place}: ${text.length} bytes of a line of ${whose} that was being written when the server ended`)
    } else faults.push(`${place}: this is no line of an audit log`)
  }
  return { faults, notes }
}

/** Returns the unfinished chain whose next line begins so; 'any' if the piece is too short to tell. */
function cutChain(text: string, chains: readonly ChainCheck[]): ChainCheck | 'any' | undefined {
  const start = lineStart(text)
  const open = chains.filter(({ isEnded }) => !isEnded)
  if (start === -1) return BEGINNING.startsWith(text) && open.length > 0 ? 'any' : undefined
  const piece = text.slice(start)
  const head = readLinePosition(piece)
  // The piece is too short to contain its position in a chain.
  if (head === undefined) return isCutHead(piece) && open.length > 0 ? 'any' : undefined
  return open.find(
    ({ id, lastSeq, lastHash }) => id === head.stream && lastSeq + 1 === head.seq && lastHash === head.prev,
  )
}

const BEGINNING = '{"time":"'
const LONGEST_HEAD = 200

const isCutHead = (piece: string): boolean => piece.length < LONGEST_HEAD && !piece.includes('}')
