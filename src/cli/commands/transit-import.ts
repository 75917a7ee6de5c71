import { PemError, readPem } from '../../crypto/encoding/pem.ts'
import { loadSpki } from '../../crypto/forms/public-keys.ts'
import { wrapForRsa } from '../../crypto/forms/wrapped-key.ts'
import { Base64Error, decodeBase64 } from '../../lib/base64.ts'
import { realWorld } from '../../lib/world.ts'
import { cleanPath } from '../api-path.ts'
import { CliError, RemoteFailure, UsageError } from '../cli-error.ts'
import type { Client } from '../client.ts'
import { type Command, command } from '../command.ts'
import { CONNECTION_OPTIONS } from '../common-options.ts'
import { connect } from '../connect.ts'
import { exactMember } from '../exact-json.ts'
import { readInputText, STDIN } from '../input.ts'
import { type CliIo, writeAll } from '../io.ts'
import { readData } from '../key-values.ts'
import { missingResult } from '../transit-options.ts'

/** The part of the path between the mount and the name of the key. */
const FOLDER = '/keys/'
/** The hash of RSA-OAEP, under which the wrapping key of the mount opens the imported one. */
const HASH = 'SHA256'

/** `keywright transit import`: imports a key that was made elsewhere (Interface 4.2). */
export const transitImport = importCommand({
  name: 'import',
  operation: 'import',
  summary: 'Import a key that was made elsewhere',
  example: 'transit import transit/keys/signing @key.pem type=rsa-2048 allow_rotation=true',
})

/** `keywright transit import-version`: adds a version to an imported key (Interface 3.4). */
export const transitImportVersion = importCommand({
  name: 'import-version',
  operation: 'import_version',
  summary: 'Import a new version of an imported key',
  example: 'transit import-version transit/keys/signing @new.pem',
})

/** The differences between the two commands. */
type Kind = {
  readonly name: string
  readonly operation: string
  readonly summary: string
  readonly example: string
}

function importCommand({ name, operation, summary, example }: Kind): Command {
  return command({
    name,
    summary,
    usage: 'PATH KEY [NAME=VALUE…]',
    completes: ['path'],
    describe: [
      'PATH is MOUNT/keys/NAME. KEY is @FILE, or - for standard input. The content is base64 of a symmetric key, ' +
        'base64 of PKCS #8 in DER, or PEM of a private key (PRIVATE KEY) or a public key (PUBLIC KEY). Base64 can ' +
        'also be given directly as KEY, where other users may see it.',
      'Private and symmetric keys are wrapped on this machine with the wrapping key of the mount: they reach the ' +
        'server in no other form. NAME=VALUE are further fields of the request, such as type.',
    ],
    examples: [example],
    options: CONNECTION_OPTIONS,
    args: { needed: ['PATH', 'KEY'], most: Number.POSITIVE_INFINITY },
    run: async ({ io, options, args: [typed = '', key = '', ...words] }) => {
      const path = cleanPath(typed)
      const at = path.lastIndexOf(FOLDER)
      if (at < 1 || path.indexOf('/', at + FOLDER.length) !== -1) {
        throw new UsageError('PATH is MOUNT/keys/NAME, like transit/keys/signing')
      }
      const data = Object.fromEntries(await readData(io, words))
      const material = parseKey(await keyText(io, key))
      const client = connect(io, options)
      const doing = `importing ${path}`
      try {
        const sent =
          'publicKey' in material
            ? { public_key: material.publicKey }
            : { ciphertext: await wrapped(client, path.slice(0, at), material.bytes), hash_function: HASH }
        await client.send({
          doing,
          method: 'PUT',
          path: `${path}/${operation}`,
          body: JSON.stringify({ ...data, ...sent }),
        })
      } finally {
        // The key was in memory in clear; whether the import succeeded does not matter.
        if ('bytes' in material) material.bytes.fill(0)
      }
      await writeAll(io.stdout, `Success! Imported ${path}\n`)
      return 0
    },
  })
}

async function keyText(io: CliIo, key: string): Promise<string> {
  if (key === STDIN) return await readInputText(io, STDIN)
  return key.startsWith('@') ? await readInputText(io, key.slice(1)) : key
}

/** A public key as PEM, or bytes to wrap: the caller wipes them. */
type Material = { readonly publicKey: string } | { readonly bytes: Buffer }

/** Parses a key by the form that its text shows. @throws CliError, which quotes nothing of what was given */
function parseKey(text: string): Material {
  try {
    if (text.includes('-----BEGIN PUBLIC KEY-----')) return { publicKey: text }
    if (text.includes('-----BEGIN PRIVATE KEY-----')) return { bytes: readPem(text) }
    if (text.includes('-----BEGIN ')) {
      throw new CliError('KEY is PEM of an unsupported kind: convert it with openssl pkcs8 -topk8 -nocrypt')
    }
    const bytes = decodeBase64(text.trim())
    if (bytes.length > 0) return { bytes }
    throw new CliError('KEY is empty')
  } catch (error) {
    if (error instanceof PemError) throw new CliError(`KEY is not valid PEM: ${error.message}`)
    if (error instanceof Base64Error) throw new CliError('KEY is neither base64 nor PEM; for a file write @FILE')
    throw error
  }
}

/** Wraps key bytes for the server, as src/crypto/forms/wrapped-key.ts draws it. @throws RemoteFailure */
async function wrapped(client: Client, mount: string, key: Buffer): Promise<string> {
  const doing = `reading the wrapping key of ${mount}`
  const answer = await client.send({ doing, method: 'GET', path: `${mount}/wrapping_key` })
  const pem = exactMember(exactMember(answer.body, 'data'), 'public_key')
  if (typeof pem !== 'string') throw missingResult(doing, 'public_key')
  try {
    return wrapForRsa(loadSpki('rsa-4096', readPem(pem)), HASH, key, realWorld().random.bytes).toString('base64')
  } catch (error) {
    throw new RemoteFailure(`Error ${doing}: what the server gave is no wrapping key`, error)
  }
}
