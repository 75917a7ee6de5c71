import { encodeBase64 } from '../../lib/base64.ts'
import { cleanPath } from '../api-path.ts'
import { command } from '../command.ts'
import { connect } from '../connect.ts'
import { memberOf } from '../exact-json.ts'
import { inputName, readInput, STDIN } from '../input.ts'
import { write } from '../io.ts'
import { refuseExisting, writeNewFile } from '../new-file.ts'
import { contextField, ENCRYPTED_SUFFIX, missingResult, TRANSIT_OPTIONS, transitPath } from '../transit-options.ts'

/** As base64 in a JSON body this fills the 32 MiB that a request may have, and leaves room for the other fields. */
const MAX_FILE_BYTES = 24_000_000
/** Read by everybody whom the umask lets: it is ciphertext. */
const MODE = 0o666

/** `keywright transit encrypt`: one encryption by the server of all bytes of a file. */
export const transitEncrypt = command({
  name: 'encrypt',
  summary: 'Encrypt a file with a transit key',
  usage: '-key=NAME FILE',
  describe: [
    `The ciphertext goes into FILE${ENCRYPTED_SUFFIX}, as the text that every client of the API can decrypt. FILE - ` +
      'is standard input; the result then goes to standard output. The server sees the content, which may have up to ' +
      '24 MB.',
  ],
  examples: ['transit encrypt -key=backups dump.sql', 'transit encrypt -key=backups -out=- - < dump.sql'],
  options: TRANSIT_OPTIONS,
  args: { needed: ['FILE'], most: 1 },
  run: async ({ io, options, args: [file = ''] }) => {
    const path = cleanPath(transitPath(options, 'encrypt'))
    const out = options.out ?? (file === STDIN ? STDIN : file + ENCRYPTED_SUFFIX)
    const target = { path: out, force: options.force, mode: MODE }
    if (out !== STDIN) await refuseExisting(target)
    const client = connect(io, options)
    const tooLarge = `${inputName(file)} has more than the 24 MB that fit in one request`
    const plaintext = await readInput(io, file, MAX_FILE_BYTES, tooLarge)
    const doing = `encrypting ${inputName(file)}`
    const body = JSON.stringify({ plaintext: encodeBase64(plaintext), ...contextField(options) })
    const answer = await client.send({ doing, method: 'PUT', path, body })
    const ciphertext = memberOf(memberOf(answer.body, 'data'), 'ciphertext')
    if (typeof ciphertext !== 'string') throw missingResult(doing, 'ciphertext')
    if (out === STDIN) await write(io.stdout, `${ciphertext}\n`)
    else {
      await writeNewFile(target, `${ciphertext}\n`)
      await write(io.stdout, `Success! Encrypted ${inputName(file)} to ${out}\n`)
    }
    return 0
  },
})
