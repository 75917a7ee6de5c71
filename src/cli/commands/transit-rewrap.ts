import { ByteReader } from '../byte-reader.ts'
import { CliError } from '../cli-error.ts'
import { command } from '../command.ts'
import { connect } from '../connect.ts'
import { exactMember } from '../exact-json.ts'
import { encodeEnvelopeHeader, FIXED_BYTES, isFileEnvelope, readHeader } from '../file-envelope.ts'
import { readParts } from '../input.ts'
import { writeAll } from '../io.ts'
import { refuseExisting, writeNewFile } from '../new-file.ts'
import { contextField, missingResult, TRANSIT_OPTIONS, transitPath } from '../transit-options.ts'

const MODE = 0o666
/** The content is copied in parts of this size. */
const PART_BYTES = 1 << 20

/**
 * `keywright transit rewrap`: replaces the wrapped data key in the header (docs/file-format.md). The segments are
 * copied as they are: the key of the file does not depend on the wrapped form.
 */
export const transitRewrap = command({
  name: 'rewrap',
  summary: 'Rewrap an encrypted file to the latest version of its transit key',
  usage: '-key=NAME FILE',
  describe: [
    'The server re-encrypts only the data key in the header of the file; the content is neither decrypted nor ' +
      'sent. FILE is replaced once the new file is complete, unless -out names another. The token needs "update" ' +
      'on rewrap/NAME.',
  ],
  examples: ['transit rewrap -key=backups dump.sql.kw'],
  options: TRANSIT_OPTIONS,
  args: { needed: ['FILE'], most: 1 },
  run: async ({ io, options, args: [file = ''] }) => {
    const path = transitPath(options, 'rewrap')
    const target = { path: options.out ?? file, force: options.force || options.out === undefined, mode: MODE }
    await refuseExisting(target)
    const client = connect(io, options)
    const reader = new ByteReader(readParts(file))
    const beginning = await reader.take(FIXED_BYTES)
    if (!isFileEnvelope(beginning)) {
      throw new CliError(
        `${file} is not the output of transit encrypt; to rewrap a ciphertext of the API, use keywright write`,
      )
    }
    const { wrappedKey, salt } = await readHeader(beginning, reader, file)
    const doing = `rewrapping ${file}`
    const body = JSON.stringify({ ciphertext: wrappedKey, ...contextField(options) })
    const answer = await client.send({ doing, method: 'PUT', path, body })
    const rewrapped = exactMember(exactMember(answer.body, 'data'), 'ciphertext')
    if (typeof rewrapped !== 'string' || rewrapped === '') throw missingResult(doing, 'ciphertext')
    await writeNewFile(target, parts(encodeEnvelopeHeader({ wrappedKey: rewrapped, salt }), reader))
    await writeAll(io.stdout, `Success! Rewrapped ${file}${target.path === file ? '' : ` to ${target.path}`}\n`)
    return 0
  },
})

/** The new header, and the rest of the file. */
async function* parts(header: Buffer, reader: ByteReader): AsyncGenerator<Buffer> {
  yield header
  while (!(await reader.isAtEnd())) yield await reader.take(PART_BYTES)
}
