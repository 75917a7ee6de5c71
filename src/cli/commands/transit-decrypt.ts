import { asciiTrim, isPrintableAscii } from '../../lib/ascii.ts'
import { Base64Error, decodeBase64 } from '../../lib/base64.ts'
import { cleanPath } from '../api-path.ts'
import { CliError, UsageError } from '../cli-error.ts'
import { command } from '../command.ts'
import { connect } from '../connect.ts'
import { type Json, memberOf } from '../exact-json.ts'
import { inputName, readInput, STDIN } from '../input.ts'
import { type CliIo, write } from '../io.ts'
import { refuseExisting, writeNewFile } from '../new-file.ts'
import { contextField, ENCRYPTED_SUFFIX, missingResult, TRANSIT_OPTIONS, transitPath } from '../transit-options.ts'

/** What the largest file becomes: its 24 MB as base64, with room for nonce, tag and prefix. */
const MAX_CIPHERTEXT_BYTES = 33_000_000
/** The owner alone: the content was worth encrypting. */
const MODE = 0o600

/** `keywright transit decrypt`: the way back of `transit encrypt`. */
export const transitDecrypt = command({
  name: 'decrypt',
  summary: 'Decrypt a file that was encrypted with a transit key',
  usage: '-key=NAME FILE',
  describe: [
    `FILE holds a ciphertext of the transit engine. The result goes to -out, or into the file of that name without ` +
      `${ENCRYPTED_SUFFIX}; only its owner may read it. FILE - is standard input; the result then goes to standard ` +
      'output.',
  ],
  examples: ['transit decrypt -key=backups dump.sql.kw', 'transit decrypt -key=backups -out=- dump.sql.kw | psql'],
  options: TRANSIT_OPTIONS,
  args: { needed: ['FILE'], most: 1 },
  run: async ({ io, options, args: [file = ''] }) => {
    const path = cleanPath(transitPath(options, 'decrypt'))
    const out = options.out ?? outputOf(file)
    const target = { path: out, force: options.force, mode: MODE }
    if (out !== STDIN) await refuseExisting(target)
    const client = connect(io, options)
    const ciphertext = await readCiphertext(io, file)
    const doing = `decrypting ${inputName(file)}`
    const body = JSON.stringify({ ciphertext, ...contextField(options) })
    const answer = await client.send({ doing, method: 'PUT', path, body })
    const plaintext = decodePlaintext(memberOf(memberOf(answer.body, 'data'), 'plaintext'))
    if (plaintext === undefined) throw missingResult(doing, 'plaintext in base64')
    if (out === STDIN) await write(io.stdout, plaintext)
    else {
      await writeNewFile(target, plaintext)
      await write(io.stdout, `Success! Decrypted ${inputName(file)} to ${out}\n`)
    }
    return 0
  },
})

function outputOf(file: string): string {
  if (file === STDIN) return STDIN
  const name = file.slice(0, -ENCRYPTED_SUFFIX.length)
  if (file.endsWith(ENCRYPTED_SUFFIX) && name !== '' && !name.endsWith('/')) return name
  throw new UsageError(`FILE does not end in ${ENCRYPTED_SUFFIX}: say with -out where the result goes`)
}

async function readCiphertext(io: CliIo, file: string): Promise<string> {
  const tooLarge = `${inputName(file)} has more than the 33 MB that fit in one request`
  const text = asciiTrim((await readInput(io, file, MAX_CIPHERTEXT_BYTES, tooLarge)).toString('latin1'))
  if (text !== '' && isPrintableAscii(text)) return text
  throw new CliError(`${inputName(file)} holds no ciphertext, which is one line of text like vault:v1:…`)
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
