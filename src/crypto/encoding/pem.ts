// Reads and writes PEM (RFC 7468). Text around a block is ignored.
import { Base64Error, decodeBase64 } from '../../lib/base64.ts'

/** The text has no whole block, or the block is not base64. The message continues a sentence and quotes nothing. */
export class PemError extends Error {
  override name = 'PemError'
}

const BEGIN = '-----BEGIN '
const END = '-----END '
const DASHES = '-----'

/** Longest text that `readPem` reads. The public half of any key has less than a quarter of it. */
const MAX_CHARACTERS = 16_384

/** Content of the first block, whatever its label. @throws PemError saying what is missing, never what was given */
export function readPem(text: string): Buffer {
  return firstBlock(text, MAX_CHARACTERS).content
}

/** Content of the only block, which must have one of the labels. @throws PemError */
export function readOnlyPem(text: string, labels: readonly string[], maxCharacters: number): Buffer {
  const { label, content, end } = firstBlock(text, maxCharacters)
  if (!labels.includes(label)) throw new PemError(`its label is not ${labels.join(' or ')}`)
  if (text.includes(BEGIN, end)) throw new PemError('it has more than one block, one was expected')
  return content
}

/** A block; `end` is the offset of its last line. */
type Block = { readonly label: string; readonly content: Buffer; readonly end: number }

function firstBlock(text: string, maxCharacters: number): Block {
  if (text.length > maxCharacters) throw new PemError(`it has more than ${maxCharacters} characters`)
  const begin = text.indexOf(BEGIN)
  if (begin === -1) throw new PemError('it has no line -----BEGIN …-----')
  const from = text.indexOf(DASHES, begin + BEGIN.length)
  const end = from === -1 ? -1 : text.indexOf(END, from + DASHES.length)
  if (end === -1) throw new PemError('it has no line -----END …-----')
  const label = text.slice(begin + BEGIN.length, from)
  if (!text.startsWith(`${label}${DASHES}`, end + END.length)) throw new PemError('it ends with another label')
  return { label, content: decodeContent(text.slice(from + DASHES.length, end)), end }
}

function decodeContent(lines: string): Buffer {
  try {
    return decodeBase64(lines.replace(/[ \t]+/g, ''))
  } catch (cause) {
    if (!(cause instanceof Base64Error)) throw cause
    throw new PemError('what stands between its lines is not base64')
  }
}

const LINE_CHARACTERS = 64

/** One block with lines of 64 characters and a final newline. */
export function writePem(label: string, content: Buffer): string {
  const base64 = content.toString('base64')
  const lines: string[] = []
  for (let at = 0; at < base64.length; at += LINE_CHARACTERS) lines.push(base64.slice(at, at + LINE_CHARACTERS))
  return [`${BEGIN}${label}${DASHES}`, ...lines, `${END}${label}${DASHES}`, ''].join('\n')
}
