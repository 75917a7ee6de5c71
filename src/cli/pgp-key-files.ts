// OpenPGP public keys as files of the person: binary, armoured (RFC 9580 section 6), or base64 as the API takes it. The
// server parses the keys; here only the form is changed.
import { CliError } from './cli-error.ts'
import { readInput } from './input.ts'
import type { CliIo } from './io.ts'

/** The limit of the server (MAX_PGP_KEY_BYTES of src/crypto/pgp.ts). */
const MAX_KEY_BYTES = 65_536
/** Armour and line breaks make a key longer by less than half, so this leaves room. */
const MAX_FILE_BYTES = 2 * MAX_KEY_BYTES
const HEAD = '-----BEGIN PGP PUBLIC KEY BLOCK-----'
const TAIL = '-----END PGP PUBLIC KEY BLOCK-----'
/** Set in the first byte of every binary packet (RFC 9580 section 4.2), and of no ASCII text. */
const PACKET_BIT = 0x80

/** Reads files whose names have commas between them, and returns base64 of the binary keys. @throws CliError */
export async function readPgpKeyFiles(io: CliIo, names: string | undefined): Promise<string[]> {
  const keys: string[] = []
  for (const name of (names ?? '').split(',').filter((each) => each !== '')) keys.push(await readPgpKeyFile(io, name))
  return keys
}

/** Reads one file; the result is empty if there is no name. `@` may stand before it, as elsewhere. @throws CliError */
export async function readPgpKeyFile(io: CliIo, name: string | undefined): Promise<string> {
  if (name === undefined || name === '') return ''
  const path = name.startsWith('@') ? name.slice(1) : name
  const bytes = await readInput(io, path, MAX_FILE_BYTES, `${path} is too long for an OpenPGP public key`)
  if (((bytes[0] ?? 0) & PACKET_BIT) !== 0) return bytes.toString('base64')
  const text = bytes.toString('latin1').replaceAll('\r', '')
  const base64 = text.includes(HEAD) ? armoured(text) : text.replaceAll('\n', '').trim()
  if (base64 === undefined || base64 === '') throw new CliError(`${path} does not hold an OpenPGP public key`)
  return base64
}

/** Returns the base64 of the first block: from the empty line behind the headers on, without the checksum. */
function armoured(text: string): string | undefined {
  const lines = text.slice(text.indexOf(HEAD)).split('\n')
  const [from, to] = [lines.indexOf(''), lines.indexOf(TAIL)]
  if (from === -1 || to < from) return undefined
  return lines
    .slice(from + 1, to)
    .filter((line) => !line.startsWith('='))
    .join('')
}
