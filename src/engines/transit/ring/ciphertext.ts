// The text form of ciphertexts, signatures and MACs: `vault:v3:` and standard base64. The word stays, whatever this
// server is called, because clients look for it.
import { fail } from '../../../api/errors.ts'

const MARK = 'vault:v'
const PLUS = 0x2b
const MINUS = 0x2d
const ZERO = 0x30

/** Returns the prefix of everything that a key version makes. */
export function versionPrefix(version: number): string {
  return `${MARK}${version}:`
}

/** The two parts of such a text. */
export type ParsedCiphertext = {
  /** The number as written: not checked against any key, and negative or 0 if a client sends that. */
  readonly version: number
  /** Not decoded yet: base64, or base64url of a jws signature. */
  readonly payload: string
}

/** The kind of text, as refusals of its form name it. */
export type PrefixedText = 'ciphertext' | 'signature' | 'HMAC to verify' | 'CMAC to verify'

/** Splits such a text. @throws Refusal that says what is wrong with its form */
export function parseCiphertext(text: string, made: PrefixedText = 'ciphertext'): ParsedCiphertext {
  const code = made === 'ciphertext' ? 'ciphertext_malformed' : 'signature_malformed'
  const invalid = (why: string) => fail(code, [`invalid ${made}: ${why}`])
  if (!text.startsWith(MARK)) throw invalid(`no prefix, it begins with ${MARK}N:`)
  const colon = text.indexOf(':', MARK.length)
  if (colon === -1) throw invalid(`wrong number of fields, it looks like ${MARK}N:BASE64`)
  const version = parseVersion(text, MARK.length, colon)
  if (version === undefined) throw invalid('version number could not be decoded')
  return { version, payload: text.slice(colon + 1) }
}

/** Returns undefined unless the text is decimal digits, which may begin with a sign or with zeros. */
function parseVersion(text: string, start: number, end: number): number | undefined {
  const sign = text.charCodeAt(start)
  const first = sign === PLUS || sign === MINUS ? start + 1 : start
  if (first === end) return undefined
  let version = 0
  for (let at = first; at < end; at += 1) {
    const digit = text.charCodeAt(at) - ZERO
    if (digit < 0 || digit > 9) return undefined
    version = version * 10 + digit
    if (version > Number.MAX_SAFE_INTEGER) return undefined
  }
  return sign === MINUS ? -version : version
}
