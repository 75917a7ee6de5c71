// What stands in a log and is no whole line: honest where a full disk or the end of the process cut a write short, and
// that can be told; else somebody put it there, or spoiled a line.
import { linkDigest } from '../crypto/primitives/digest.ts'
import { lineStart, readLinePosition } from './line-head.ts'
import type { ChainCheck } from './verify-chain.ts'

export type Piece = { readonly place: string; readonly text: string; readonly digest: string }
/** A chain tells that it left such a piece behind. */
export type Promised = { readonly bytes: number; readonly digest: string }

export function pieceOf(text: string, place: string): Piece {
  return { place, text, digest: linkDigest(Buffer.from(text, 'latin1')) }
}

export const isPromised = ({ text, digest }: Piece, promised: Promised): boolean =>
  promised.bytes === text.length && promised.digest === digest

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

/** The chain whose next line begins so, and that never went on; 'any' where the piece is too short to tell. */
function cutChain(text: string, chains: readonly ChainCheck[]): ChainCheck | 'any' | undefined {
  const start = lineStart(text)
  const open = chains.filter(({ isEnded }) => !isEnded)
  if (start === -1) return BEGINNING.startsWith(text) && open.length > 0 ? 'any' : undefined
  const piece = text.slice(start)
  const head = readLinePosition(piece)
  // Too short to name its place in a chain.
  if (head === undefined) return isCutHead(piece) && open.length > 0 ? 'any' : undefined
  return open.find(
    ({ id, lastSeq, lastHash }) => id === head.stream && lastSeq + 1 === head.seq && lastHash === head.prev,
  )
}

const BEGINNING = '{"time":"'
const LONGEST_HEAD = 200

const isCutHead = (piece: string): boolean => piece.length < LONGEST_HEAD && !piece.includes('}')
