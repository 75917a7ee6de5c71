import { encodeBase64 } from '../../lib/base64.ts'
import { realWorld } from '../../lib/world.ts'
import { ByteProgress } from '../byte-progress.ts'
import { ByteReader } from '../byte-reader.ts'
import type { Client } from '../client.ts'
import { command } from '../command.ts'
import { connect } from '../connect.ts'
import { newDataKey } from '../envelope-key.ts'
import { exactMember } from '../exact-json.ts'
import { encodeEnvelopeHeader, fileKey, SALT_BYTES, sealSegments } from '../file-envelope.ts'
import { inputName, inputSize, readAny, readInput, STDIN } from '../input.ts'
import { type CliIo, writeAll } from '../io.ts'
import { refuseExisting, writeNewFile } from '../new-file.ts'
import {
  contextField,
  ENCRYPTED_SUFFIX,
  missingResult,
  TRANSIT_OPTIONS,
  type TransitValues,
  transitPath,
} from '../transit-options.ts'

/** Base64 of this fills the 32 MiB that a request may have (Interface 8), with room for the other fields. */
const MAX_DIRECT_BYTES = 24_000_000
/** The umask decides who may read it: it is ciphertext. */
const MODE = 0o666

/** `keywright transit encrypt`: encrypts here with a data key of the server, or with -direct on the server. */
export const transitEncrypt = command({
  name: 'encrypt',
  summary: 'Encrypt a file of any size with a transit key',
  usage: '-key=NAME FILE',
  describe: [
    `The result goes to FILE${ENCRYPTED_SUFFIX}. The content stays on this machine: it is encrypted with a data key ` +
      'that the server generates and that only the transit key can decrypt (docs/file-format.md). The token needs ' +
      '"update" on datakey/plaintext/NAME. FILE - is standard input; the result then goes to standard output.',
    'With -direct the server encrypts the content itself, up to 24 MB, and the result is a ciphertext that every ' +
      'client of the API can decrypt and rewrap. The token then needs "update" on encrypt/NAME.',
  ],
  examples: [
    'transit encrypt -key=backups dump.sql',
    'transit encrypt -key=backups -out=photos.tar.kw - < photos.tar',
    'transit encrypt -key=backups -direct -out=- - < password.txt',
  ],
  options: { ...TRANSIT_OPTIONS, direct: { kind: 'flag', about: 'Send the content to the server to encrypt' } },
  args: { needed: ['FILE'], most: 1 },
  run: async ({ io, options, args: [file = ''] }) => {
    // Checks -key before files are opened.
    transitPath(options, 'encrypt')
    const out = options.out ?? (file === STDIN ? STDIN : file + ENCRYPTED_SUFFIX)
    const target = { path: out, force: options.force, mode: MODE }
    if (out !== STDIN) await refuseExisting(target)
    const client = connect(io, options)
    const encrypted = options.direct ? direct(io, client, options, file) : await envelope(io, client, options, file)
    if (out === STDIN) for await (const part of encrypted) await writeAll(io.stdout, part)
    else {
      await writeNewFile(target, encrypted)
      await writeAll(io.stdout, `Success! Encrypted ${inputName(file)} to ${out}\n`)
    }
    return 0
  },
})

/** Has the server encrypt the whole content. The result is the ciphertext of the API and a line feed. */
async function* direct(io: CliIo, client: Client, options: TransitValues, file: string): AsyncGenerator<Buffer> {
  const tooLarge = `${inputName(file)} has more than the 24 MB that fit in one request: leave -direct out`
  const plaintext = await readInput(io, file, MAX_DIRECT_BYTES, tooLarge)
  const doing = `encrypting ${inputName(file)}`
  const body = JSON.stringify({ plaintext: encodeBase64(plaintext), ...contextField(options) })
  const path = transitPath(options, 'encrypt')
  const answer = await client.send({ doing, method: 'PUT', path, body })
  const ciphertext = exactMember(exactMember(answer.body, 'data'), 'ciphertext')
  if (typeof ciphertext !== 'string') throw missingResult(doing, 'ciphertext')
  yield Buffer.from(`${ciphertext}\n`)
}

/** Encrypts segment by segment under a key of this file alone. The server is asked before content is read. */
async function envelope(
  io: CliIo,
  client: Client,
  options: TransitValues,
  file: string,
): Promise<AsyncGenerator<Buffer>> {
  const content = readAny(io, file)
  const progress = new ByteProgress(io, await inputSize(file))
  const { wrappedKey, dataKey } = await newDataKey(client, options, `encrypting ${inputName(file)}`)
  // A salt for each file: even a data key that came twice would give two keys.
  const salt = realWorld().random.bytes(SALT_BYTES)
  const key = fileKey(dataKey, salt)
  dataKey.fill(0)
  return (async function* () {
    yield encodeEnvelopeHeader({ wrappedKey, salt })
    yield* sealSegments(key, new ByteReader(progress.counted(content)))
    await progress.end()
  })()
}
