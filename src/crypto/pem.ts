// PEM (RFC 7468), read: one block, whatever its label says and whatever stands around it.
import { Base64Error, decodeBase64 } from '../lib/base64.ts'

/** What stands between its lines is not base64, or the lines are not there. */
export class PemError extends Error {
  override name = 'PemError'
}

const BEGIN = '-----BEGIN '
const END = '-----END '
const DASHES = '-----'

/** Characters; the public half of any key has less than a quarter of it. */
const MAX_CHARACTERS = 16_384

/** Content of the first block. @throws PemError saying what is missing, never what was given */
export function readPem(text: string): Buffer {
  if (text.length > MAX_CHARACTERS) throw new PemError(`it has more than ${MAX_CHARACTERS} characters`)
  const begin = text.indexOf(BEGIN)
  if (begin === -1) throw new PemError('it has no line -----BEGIN …-----')
  const from = text.indexOf(DASHES, begin + BEGIN.length)
  const end = from === -1 ? -1 : text.indexOf(END, from + DASHES.length)
  if (end === -1) throw new PemError('it has no line -----END …-----')
  const label = text.slice(begin + BEGIN.length, from)
  if (!text.startsWith(`${label}${DASHES}`, end + END.length)) throw new PemError('it ends with another label')
  try {
    return decodeBase64(text.slice(from + DASHES.length, end).replace(/[ \t]+/g, ''))
  } catch (cause) {
    if (!(cause instanceof Base64Error)) throw cause
    throw new PemError('what stands between its lines is not base64')
  }
}

const LINE_CHARACTERS = 64

/** With a final newline. */
export function writePem(label: string, content: Buffer): string {
  const base64 = content.toString('base64')
  const lines: string[] = []
  for (let at = 0; at < base64.length; at += LINE_CHARACTERS) lines.push(base64.slice(at, at + LINE_CHARACTERS))
  return [`${BEGIN}${label}${DASHES}`, ...lines, `${END}${label}${DASHES}`, ''].join('\n')
}
