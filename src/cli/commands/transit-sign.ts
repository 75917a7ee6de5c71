import { HASH_NAMES } from '../../crypto/primitives/named-hash.ts'
import { asciiTrim } from '../../lib/ascii.ts'
import { ByteProgress } from '../byte-progress.ts'
import { UsageError } from '../cli-error.ts'
import type { Client } from '../client.ts'
import { command } from '../command.ts'
import { connect } from '../connect.ts'
import { exactMember } from '../exact-json.ts'
import { askKeyType, signedInput } from '../file-digest.ts'
import { inputName, inputSize, readAny, readInput, STDIN } from '../input.ts'
import { type CliIo, writeAll } from '../io.ts'
import { refuseExisting, writeNewFile } from '../new-file.ts'
import type { OptionTable, OptionValues } from '../options.ts'
import { contextField, missingResult, TRANSIT_OPTIONS, transitPath } from '../transit-options.ts'

const SUFFIX = '.sig'
const MODE = 0o666
/** Far above any signature: a file that is larger is the wrong one. */
const MAX_SIGNATURE_BYTES = 65_536
/** Exit code of a signature that is not that of the file. */
const NOT_VALID = 2

const { out, force, ...COMMON } = TRANSIT_OPTIONS
/** Options of both commands. Verifying needs the same values as signing, since the signature does not hold them. */
const SIGNING_OPTIONS = {
  hash: { kind: 'text', value: 'NAME', default: 'sha2-256', about: `Hash algorithm: ${HASH_NAMES.join(', ')}` },
  type: { kind: 'text', value: 'TYPE', about: 'Key type; by default read from the server' },
  'signature-algorithm': {
    kind: 'text',
    value: 'NAME',
    about: 'Signature scheme for RSA keys: pss (default) or pkcs1v15',
  },
  marshaling: { kind: 'text', value: 'NAME', about: 'Signature encoding for ECDSA keys: asn1 (default) or jws' },
  ...COMMON,
} as const satisfies OptionTable
type Values = OptionValues<typeof SIGNING_OPTIONS>

const HOW =
  'Only a hash of the file is sent. RSA and ECDSA keys sign the hash itself, so that other programs can verify it; ' +
  'keys that sign whole messages (ed25519, ml-dsa) sign a statement of the hash (docs/file-format.md).'

/** `keywright transit sign`: writes a signature beside the file; docs/file-format.md says what is signed. */
export const transitSign = command({
  name: 'sign',
  summary: 'Sign a file of any size with a transit key',
  usage: '-key=NAME FILE',
  describe: [
    `The signature goes to FILE${SUFFIX}. ${HOW} The token needs "update" on sign/NAME, and "read" on keys/NAME ` +
      'unless -type is given.',
  ],
  examples: ['transit sign -key=releases app.tar.gz', 'transit sign -key=releases -out=- app.tar.gz'],
  options: { ...SIGNING_OPTIONS, out, force },
  args: { needed: ['FILE'], most: 1 },
  run: async ({ io, options, args: [file = ''] }) => {
    const path = transitPath(options, 'sign')
    const result = options.out ?? (file === STDIN ? STDIN : file + SUFFIX)
    const target = { path: result, force: options.force, mode: MODE }
    if (result !== STDIN) await refuseExisting(target)
    const client = connect(io, options)
    const doing = `signing ${inputName(file)}`
    const body = JSON.stringify(await request(io, client, options, file))
    const signature = exactMember(
      exactMember((await client.send({ doing, method: 'PUT', path, body })).body, 'data'),
      'signature',
    )
    if (typeof signature !== 'string') throw missingResult(doing, 'signature')
    if (result === STDIN) await writeAll(io.stdout, `${signature}\n`)
    else {
      await writeNewFile(target, `${signature}\n`)
      await writeAll(io.stdout, `Success! Signed ${inputName(file)} in ${result}\n`)
    }
    return 0
  },
})

/** `keywright transit verify`: has the server verify. The exit code tells scripts the verdict. */
export const transitVerify = command({
  name: 'verify',
  summary: 'Verify the signature of a file',
  usage: '-key=NAME FILE',
  describe: [
    `The signature is read from FILE${SUFFIX}, or from the file given with -signature. ${HOW} The options must be ` +
      'the same as for signing. The exit code is 0 if the signature is valid for the file, 2 if not.',
  ],
  examples: ['transit verify -key=releases app.tar.gz'],
  options: {
    signature: { kind: 'text', value: 'FILE', about: `Signature file; default: FILE${SUFFIX}` },
    ...SIGNING_OPTIONS,
  },
  args: { needed: ['FILE'], most: 1 },
  run: async ({ io, options, args: [file = ''] }) => {
    const path = transitPath(options, 'verify')
    if (file === STDIN && options.signature === undefined) throw new UsageError('-signature=FILE is missing')
    const signatureFile = options.signature ?? file + SUFFIX
    const tooLarge = `${inputName(signatureFile)} is not a signature: it has more than ${MAX_SIGNATURE_BYTES} bytes`
    const signature = asciiTrim((await readInput(io, signatureFile, MAX_SIGNATURE_BYTES, tooLarge)).toString('latin1'))
    const client = connect(io, options)
    const doing = `verifying ${inputName(file)}`
    const body = JSON.stringify({ ...(await request(io, client, options, file)), signature })
    const valid = exactMember(
      exactMember((await client.send({ doing, method: 'PUT', path, body })).body, 'data'),
      'valid',
    )
    if (typeof valid !== 'boolean') throw missingResult(doing, 'verdict')
    const is = valid ? 'Valid' : 'NOT valid'
    await writeAll(valid ? io.stdout : io.stderr, `${is}: ${signatureFile} of ${inputName(file)}\n`)
    return valid ? 0 : NOT_VALID
  },
})

/** Hashes the file, and returns the fields that signing and verifying share. @throws UsageError, RemoteFailure */
async function request(io: CliIo, client: Client, options: Values, file: string): Promise<object> {
  if (!HASH_NAMES.includes(options.hash)) throw new UsageError(`-hash is one of ${HASH_NAMES.join(', ')}`)
  const type = options.type ?? (await askKeyType(client, options))
  const progress = new ByteProgress(io, await inputSize(file))
  const signed = await signedInput(type, options.hash, progress.counted(readAny(io, file)))
  await progress.end()
  const { 'signature-algorithm': algorithm, marshaling } = options
  return {
    ...signed,
    ...contextField(options),
    ...(algorithm === undefined ? {} : { signature_algorithm: algorithm }),
    ...(marshaling === undefined ? {} : { marshaling_algorithm: marshaling }),
  }
}
