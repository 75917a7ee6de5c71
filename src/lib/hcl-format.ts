// Lays out HCL: indentation, blanks between tokens, at most one empty line in a row. Tokens, comments and line breaks
// stay.
import { beginsWithBrace, parseHcl } from './hcl.ts'
import { HclScanner } from './hcl-scanner.ts'
import { HclSource } from './hcl-source.ts'

const INDENT = '  '
const OPENERS = ['{', '[']
const CLOSERS = ['}', ']']

/** A token or a comment as it stands in the source. */
type Piece = {
  readonly text: string
  /** Line breaks before it. */
  readonly breaks: number
}

/**
 * Returns the text with its layout changed and nothing else. A document in JSON form is returned unchanged.
 * @throws HclError
 */
export function formatHcl(text: string): string {
  parseHcl(text)
  if (beginsWithBrace(text)) return text
  const pieces = piecesOf(text)
  let printed = ''
  let depth = 0
  for (const [index, piece] of pieces.entries()) {
    const before = pieces[index - 1]
    if (CLOSERS.includes(piece.text)) depth -= 1
    printed += gapBetween(before, piece, depth) + piece.text
    if (OPENERS.includes(piece.text)) depth += 1
  }
  return printed === '' ? '' : `${printed}\n`
}

function gapBetween(before: Piece | undefined, piece: Piece, depth: number): string {
  if (before === undefined) return ''
  if (piece.breaks > 0) {
    const isTight = OPENERS.includes(before.text) || CLOSERS.includes(piece.text)
    return (piece.breaks > 1 && !isTight ? '\n\n' : '\n') + INDENT.repeat(depth)
  }
  const isJoined = before.text === '[' || piece.text === ']' || piece.text === ','
  return isJoined || (before.text === '{' && piece.text === '}') ? '' : ' '
}

function piecesOf(text: string): Piece[] {
  const scanner = new HclScanner(new HclSource(text))
  const pieces: Piece[] = []
  let from = 0
  for (;;) {
    const token = scanner.next()
    const breaks = readGap(text.slice(from, token.start), pieces)
    if (token.kind === 'end') return pieces
    pieces.push({ text: text.slice(token.start, scanner.end).replaceAll('\r\n', '\n'), breaks })
    from = scanner.end
  }
}

/** Takes the comments out of the text between two tokens. Returns the number of line breaks after the last of them. */
function readGap(gap: string, pieces: Piece[]): number {
  let breaks = 0
  for (let at = 0; at < gap.length; ) {
    const character = gap[at]
    if (character === '#' || character === '/') {
      const end = endOfComment(gap, at)
      pieces.push({ text: gap.slice(at, end).trimEnd(), breaks })
      breaks = 0
      at = end
    } else {
      if (character === '\n') breaks += 1
      at += 1
    }
  }
  return breaks
}

function endOfComment(gap: string, start: number): number {
  const mark = gap.startsWith('/*', start) ? '*/' : '\n'
  const end = gap.indexOf(mark, start + 1)
  if (end === -1) return gap.length
  return mark === '\n' ? end : end + mark.length
}
