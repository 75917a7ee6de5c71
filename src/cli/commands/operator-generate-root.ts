import { randomBase62 } from '../../lib/base62.ts'
import { decodeBase64 } from '../../lib/base64.ts'
import { realWorld } from '../../lib/world.ts'
import { CliError, RemoteFailure } from '../cli-error.ts'
import type { Client } from '../client.ts'
import { type CommandCall, command } from '../command.ts'
import { UNWRAPPED_OPTIONS } from '../common-options.ts'
import { connect } from '../connect.ts'
import { exactMember, type Json, plainText } from '../exact-json.ts'
import { type CliIo, writeAll } from '../io.ts'
import type { OptionTable } from '../options.ts'
import { formatTable, printAnswer } from '../output.ts'
import { readPgpKeyFile } from '../pgp-key-files.ts'
import { readShare } from '../share-input.ts'

const ROOT_TOKEN = 'sys/generate-root'
const OPERATION_TOKEN = 'sys/replication/dr/secondary/generate-operation-token'

/** Names of the reference. Without -init, -cancel or -status the command hands in a key. */
const OPTIONS = {
  init: { kind: 'flag', about: 'Start an attempt; the one-time password is shown only once' },
  cancel: { kind: 'flag', about: 'Cancel the attempt' },
  status: { kind: 'flag', about: 'Show the progress of the attempt' },
  'dr-token': {
    kind: 'flag',
    about: 'Generate an operation token of a secondary for disaster recovery, with keys of its primary',
  },
  'generate-otp': { kind: 'flag', about: 'Only generate and print a one-time password for -init -otp' },
  otp: { kind: 'text', value: 'PASSWORD', about: 'One-time password, for -init and -decode' },
  decode: {
    kind: 'text',
    value: 'TOKEN',
    about: 'Only decode the encoded token with -otp; - reads it from standard input',
  },
  'pgp-key': { kind: 'text', value: 'FILE', about: 'File of an OpenPGP public key to encrypt the token to' },
  nonce: {
    kind: 'text',
    value: 'NONCE',
    about: 'Nonce of the attempt that the key, or -cancel with -dr-token, is for; default: that of the current attempt',
  },
  ...UNWRAPPED_OPTIONS,
} as const satisfies OptionTable

/**
 * `keywright operator generate-root`: makes a root token, or an operation token, for those who hold enough keys. It
 * travels encoded with a one-time password, so the holder who hands in the last key does not learn it.
 */
export const operatorGenerateRoot = command({
  name: 'generate-root',
  summary: 'Generate a root or operation token with a threshold of unseal or recovery keys',
  usage: '[KEY]',
  describe: [
    'Start with -init and keep the one-time password. Each key holder then enters a key: at the prompt, or as ' +
      'KEY, which stays in the shell history. The last answer has the encoded token; -decode with -otp decodes it.',
    'With -dr-token on each call the server is a secondary for disaster recovery, and the keys are those of its ' +
      'primary. The token never expires: delete it when its work is done (operation-token/delete).',
  ],
  examples: [
    'operator generate-root -init',
    'operator generate-root',
    'operator generate-root -decode=ENCODED -otp=PASSWORD',
    'operator generate-root -dr-token -init',
  ],
  options: OPTIONS,
  args: { needed: [], most: 1 },
  run: async (call) => {
    const { io, options } = call
    if (options.decode !== undefined) return await decode(io, options.decode, options.otp)
    const attempt = { client: connect(io, options), at: options['dr-token'] ? OPERATION_TOKEN : ROOT_TOKEN }
    if (options['generate-otp']) return await generateOtp(io, attempt)
    if (options.cancel) return await cancel(call, attempt)
    const body = options.init
      ? await start(call, attempt)
      : options.status
        ? await status(attempt)
        : await give(call, attempt)
    await printAnswer(io, options, body ?? {}, formatStatus)
    return 0
  },
})

type RootCall = CommandCall<typeof OPTIONS>

/** The attempt on the server; `at` is where its endpoints are. */
type Attempt = { readonly client: Client; readonly at: string }

/** Reads the attempt: its nonce, how many keys are in, and the length of the one-time password. */
async function status({ client, at }: Attempt): Promise<Json | undefined> {
  return (await client.send({ doing: 'reading the attempt', method: 'GET', path: `${at}/attempt` })).body
}

/** Starts an attempt. The token will be encrypted to an OpenPGP key, or encoded with a one-time password. */
async function start({ io, options }: RootCall, { client, at }: Attempt): Promise<Json | undefined> {
  const pgp_key = await readPgpKeyFile(io, options['pgp-key'])
  const body = JSON.stringify({ otp: options.otp ?? '', pgp_key })
  return (await client.send({ doing: 'starting the attempt', method: 'PUT', path: `${at}/attempt`, body })).body
}

async function cancel({ io, options }: RootCall, { client, at }: Attempt): Promise<0> {
  // Only the attempt for an operation token can be named, so that no other one is cancelled.
  const named = at === OPERATION_TOKEN && options.nonce !== undefined ? [['nonce', options.nonce] as const] : []
  await client.send({ doing: 'cancelling the attempt', method: 'DELETE', path: `${at}/attempt`, query: named })
  const what = at === OPERATION_TOKEN ? 'Operation token' : 'Root token'
  await writeAll(io.stdout, `Success! ${what} generation canceled (if it was started)\n`)
  return 0
}

/** Hands in one key. If no nonce was given it is read first: a key must not count for an attempt begun meanwhile. */
async function give({ io, options, args: [typed] }: RootCall, attempt: Attempt): Promise<Json | undefined> {
  const nonce = options.nonce ?? (await runningNonce(attempt))
  const key = await readShare(io, typed, 'Unseal Key')
  const body = JSON.stringify({ key, nonce })
  const { client, at } = attempt
  return (await client.send({ doing: 'submitting the key', method: 'PUT', path: `${at}/update`, body })).body
}

/** @throws RemoteFailure if no attempt is under way: a key must not start one by itself */
async function runningNonce(attempt: Attempt): Promise<string> {
  const nonce = exactMember(await status(attempt), 'nonce')
  if (typeof nonce === 'string' && nonce !== '') return nonce
  const what = attempt.at === OPERATION_TOKEN ? 'operation' : 'root'
  throw new RemoteFailure(`No ${what} token generation is in progress: start one with -init`)
}

/** Makes a one-time password as long as the tokens of the server, which alone knows the length. */
async function generateOtp(io: CliIo, attempt: Attempt): Promise<0> {
  const length = exactMember(await status(attempt), 'otp_length')
  if (typeof length !== 'number' || !Number.isSafeInteger(length) || length < 1 || length > 1024)
    throw new RemoteFailure('Error reading the attempt: the answer does not say how long a one-time password is')
  await writeAll(io.stdout, `${randomBase62(length, realWorld().random.bytes)}\n`)
  return 0
}

/** Works without a server: XOR of the encoded token and the one-time password, byte by byte. */
async function decode(io: CliIo, typed: string, otp: string | undefined): Promise<0> {
  if (otp === undefined || otp === '') throw new CliError('Give the one-time password of the token with -otp')
  const encoded = typed === '-' ? await readShare(io, typed, 'Encoded Token') : typed
  await writeAll(io.stdout, `${xored(bytesOf(encoded), otp)}\n`)
  return 0
}

/** Decodes standard base64 with or without its padding: the server leaves it out. */
function bytesOf(encoded: string): Buffer {
  const bare = encoded.endsWith('=') ? encoded.slice(0, encoded.indexOf('=')) : encoded
  try {
    return decodeBase64(bare + '='.repeat((4 - (bare.length % 4)) % 4))
  } catch (cause) {
    throw new CliError('The encoded token is not base64', cause)
  }
}

/** @throws CliError if the lengths differ: the password is of another attempt */
function xored(bytes: Buffer, otp: string): string {
  if (bytes.length !== otp.length)
    throw new CliError(
      `The token has ${bytes.length} bytes and the one-time password ${otp.length}: they are from different attempts`,
    )
  return Buffer.from(bytes.map((byte, at) => byte ^ otp.charCodeAt(at))).toString('latin1')
}

/** Formats an attempt. The labels are those of the reference, which scripts look for. */
function formatStatus(body: Json): string {
  const tell = (name: string): Json => exactMember(body, name) ?? ''
  const shown = (label: string, name: string): [string, Json][] => (tell(name) === '' ? [] : [[label, tell(name)]])
  const otp = plainText(tell('otp'))
  const table = formatTable([
    ['Nonce', tell('nonce')],
    ['Started', tell('started')],
    ['Progress', `${plainText(tell('progress'))}/${plainText(tell('required'))}`],
    ['Complete', tell('complete')],
    ...shown('PGP Fingerprint', 'pgp_fingerprint'),
    ...shown('Encoded Token', 'encoded_token'),
    ...(otp === '' ? [] : ([['OTP', otp]] as [string, Json][])),
    ...(tell('complete') === true ? [] : shown('OTP Length', 'otp_length')),
  ])
  const isEncoded = tell('complete') === true && tell('pgp_fingerprint') === ''
  return isEncoded ? `${table}\n${ADVICE_ON_ENCODED}\n` : table
}

const ADVICE_ON_ENCODED =
  'Decode the token with the one-time password of -init:\n' +
  'keywright operator generate-root -decode=ENCODED -otp=PASSWORD'
