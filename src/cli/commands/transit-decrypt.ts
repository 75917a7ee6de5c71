import { asciiTrim, isPrintableAscii } from '../../lib/ascii.ts'
import { Base64Error, decodeBase64 } from '../../lib/base64.ts'
import { ByteProgress } from '../byte-progress.ts'
import { ByteReader } from '../byte-reader.ts'
import { CliError, UsageError } from '../cli-error.ts'
import type { Client } from '../client.ts'
import { command } from '../command.ts'
import { connect } from '../connect.ts'
import { openDataKey } from '../envelope-key.ts'
import { exactMember, type Json } from '../exact-json.ts'
import { FIXED_BYTES, fileKey, isFileEnvelope, openSegments, readHeader } from '../file-envelope.ts'
import { inputName, inputSize, readAny, STDIN } from '../input.ts'
import { writeAll } from '../io.ts'
import { refuseExisting, writeNewFile } from '../new-file.ts'
import {
  contextField,
  ENCRYPTED_SUFFIX,
  missingResult,
  TRANSIT_OPTIONS,
  type TransitValues,
  transitPath,
} from '../transit-options.ts'

/** The largest file that is encrypted directly has this size: 24 MB as base64, with nonce, tag and prefix. */
const MAX_CIPHERTEXT_BYTES = 33_000_000
/** Only the owner may read it: the content was worth encrypting. */
const MODE = 0o600

/**
 * `keywright transit decrypt`: decrypts what `transit encrypt` made, with or without -direct (docs/file-format.md). The
 * first bytes tell which it is.
 */
export const transitDecrypt = command({
  name: 'decrypt',
  summary: 'Decrypt a file that was encrypted with a transit key',
  usage: '-key=NAME FILE',
  describe: [
    'FILE is the output of transit encrypt, or holds a ciphertext of the transit engine. The result goes to -out, or ' +
      `to FILE without ${ENCRYPTED_SUFFIX}; only the owner can read it. FILE - is standard input; the result then ` +
      'goes to standard output, where an error may come after the beginning of the content has been printed.',
  ],
  examples: ['transit decrypt -key=backups dump.sql.kw', 'transit decrypt -key=backups -out=- dump.sql.kw | psql'],
  options: TRANSIT_OPTIONS,
  args: { needed: ['FILE'], most: 1 },
  run: async ({ io, options, args: [file = ''] }) => {
    // Checks -key before files are opened.
    transitPath(options, 'decrypt')
    const out = options.out ?? outputOf(file)
    const target = { path: out, force: options.force, mode: MODE }
    if (out !== STDIN) await refuseExisting(target)
    const client = connect(io, options)
    const progress = new ByteProgress(io, await inputSize(file))
    const reader = new ByteReader(progress.counted(readAny(io, file)))
    const beginning = await reader.take(FIXED_BYTES)
    const source = { name: inputName(file), beginning, reader }
    const content = isFileEnvelope(beginning)
      ? await envelope(client, options, source)
      : direct(client, options, source)
    if (out === STDIN) for await (const part of content) await writeAll(io.stdout, part)
    else {
      await writeNewFile(target, content)
      await progress.end()
      await writeAll(io.stdout, `Success! Decrypted ${inputName(file)} to ${out}\n`)
    }
    return 0
  },
})

/** The encrypted file: its first FIXED_BYTES, and the reader of what follows them. */
type Source = { readonly name: string; readonly beginning: Buffer; readonly reader: ByteReader }

/** Decrypts an envelope segment by segment. The server is asked first: a refusal leaves no file behind. */
async function envelope(client: Client, options: TransitValues, source: Source): Promise<AsyncGenerator<Buffer>> {
  const { name, beginning, reader } = source
  const { wrappedKey, salt } = await readHeader(beginning, reader, name)
  const dataKey = await openDataKey(client, options, wrappedKey, `decrypting ${name}`)
  const key = fileKey(dataKey, salt)
  dataKey.fill(0)
  return openSegments(key, reader, name)
}

/** Has the server decrypt the whole of a ciphertext. */
async function* direct(client: Client, options: TransitValues, source: Source): AsyncGenerator<Buffer> {
  const doing = `decrypting ${source.name}`
  const ciphertext = await readCiphertext(source)
  const body = JSON.stringify({ ciphertext, ...contextField(options) })
  const answer = await client.send({ doing, method: 'PUT', path: transitPath(options, 'decrypt'), body })
  const plaintext = decodePlaintext(exactMember(exactMember(answer.body, 'data'), 'plaintext'))
  if (plaintext === undefined) throw missingResult(doing, 'plaintext in base64')
  yield plaintext
}

/** Returns the name without the suffix. @throws UsageError if there is none: no other name is guessed */
function outputOf(file: string): string {
  if (file === STDIN) return STDIN
  const name = file.slice(0, -ENCRYPTED_SUFFIX.length)
  if (file.endsWith(ENCRYPTED_SUFFIX) && name !== '' && !name.endsWith('/')) return name
  throw new UsageError(`FILE does not end in ${ENCRYPTED_SUFFIX}: name the output file with -out`)
}

/** @throws CliError if it is too long for a request, or no text at all: the server would say less of either */
async function readCiphertext({ name, beginning, reader }: Source): Promise<string> {
  const rest = await reader.take(MAX_CIPHERTEXT_BYTES)
  if (!(await reader.isAtEnd())) throw new CliError(`${name} has more than the 33 MB that fit in one request`)
  const text = asciiTrim(Buffer.concat([beginning, rest]).toString('latin1'))
  if (text !== '' && isPrintableAscii(text)) return text
  throw new CliError(
    `${name} holds no ciphertext: it is neither the output of transit encrypt nor one line of text like vault:v1:…`,
  )
}

function decodePlaintext(text: Json | undefined): Buffer | undefined {
  if (typeof text !== 'string') return undefined
  try {
    return decodeBase64(text)
  } catch (error) {
    if (error instanceof Base64Error) return undefined
    throw error
  }
}
