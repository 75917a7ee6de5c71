import { answeredByExitCode, type ExitCode, RemoteFailure } from '../cli-error.ts'
import type { Client } from '../client.ts'
import { type CommandCall, command } from '../command.ts'
import { UNWRAPPED_OPTIONS } from '../common-options.ts'
import { connect } from '../connect.ts'
import { exactMember, isList, type Json, plainText } from '../exact-json.ts'
import type { CliIo } from '../io.ts'
import type { OptionTable } from '../options.ts'
import { printAnswer } from '../output.ts'
import { readPgpKeyFile, readPgpKeyFiles } from '../pgp-key-files.ts'

const PATH = 'sys/init'

/** Names of the reference. The defaults depend on the seal of the server, so `initialise` applies them. */
const OPTIONS = {
  'key-shares': {
    kind: 'number',
    short: 'n',
    value: 'COUNT',
    about: 'Number of shares to split the unseal key into; default: 5',
  },
  'key-threshold': {
    kind: 'number',
    short: 't',
    value: 'COUNT',
    about: 'Number of shares needed to unseal; default: 3',
  },
  'pgp-keys': {
    kind: 'text',
    value: 'FILES',
    about: 'Files of OpenPGP public keys, one for each share, separated by commas',
  },
  'root-token-pgp-key': {
    kind: 'text',
    value: 'FILE',
    about: 'File of an OpenPGP public key to encrypt the root token to',
  },
  'recovery-shares': {
    kind: 'number',
    value: 'COUNT',
    about: 'Like -key-shares, for the recovery keys of a server that unseals itself; default: 5',
  },
  'recovery-threshold': { kind: 'number', value: 'COUNT', about: 'Like -key-threshold, for recovery keys; default: 3' },
  'recovery-pgp-keys': { kind: 'text', value: 'FILES', about: 'Like -pgp-keys, for recovery keys' },
  status: { kind: 'flag', about: 'Only show whether the server is initialised: exits with 0 if it is, 2 if not' },
  ...UNWRAPPED_OPTIONS,
} as const satisfies OptionTable

type InitCall = CommandCall<typeof OPTIONS>

/** `keywright operator init`: makes the keys of a new server. They are printed once, and stored nowhere. */
export const operatorInit = command({
  name: 'init',
  summary: 'Initialise a new server: generate its unseal keys and root token',
  usage: '',
  describe: [
    'The unseal key is split into shares (Shamir); a threshold of them is needed to unseal the server after each ' +
      'start. The shares and the root token are shown only once and cannot be recovered.',
  ],
  examples: ['operator init', 'operator init -key-shares=1 -key-threshold=1', 'operator init -status'],
  options: OPTIONS,
  args: { needed: [], most: 0 },
  run: async (call) => {
    const client = connect(call.io, call.options)
    return call.options.status
      ? await answeredByExitCode(() => showStatus(client, call))
      : await initialise(client, call)
  },
})

/** Answers -status by the exit code as well: 0 initialised, 2 not. */
async function showStatus(client: Client, { io, options }: InitCall): Promise<ExitCode> {
  const { body } = await client.send({ doing: 'reading the initialisation status', method: 'GET', path: PATH })
  const initialized = exactMember(body, 'initialized')
  if (body === undefined || typeof initialized !== 'boolean') {
    throw new RemoteFailure('Error reading the initialisation status: the answer does not say it')
  }
  await printAnswer(io, options, body, () => `The server is ${initialized ? '' : 'not '}initialized\n`)
  return initialized ? 0 : 2
}

/** Asks for the kind of seal first, since a request for keys of the other kind is refused. */
async function initialise(client: Client, { io, options }: InitCall): Promise<ExitCode> {
  const isAuto = await opensByItself(client)
  // A number of the kind of keys that the server does not make is 0, and not a default: the server refuses others.
  const own = (wanted: boolean, value: number | undefined, usual: number): number => value ?? (wanted ? usual : 0)
  const numbers = {
    secret_shares: own(!isAuto, options['key-shares'], 5),
    secret_threshold: own(!isAuto, options['key-threshold'], 3),
    recovery_shares: own(isAuto, options['recovery-shares'], 5),
    recovery_threshold: own(isAuto, options['recovery-threshold'], 3),
  }
  // The fields are those that the reference's command line sends, empty ones included.
  const body = JSON.stringify({
    ...numbers,
    stored_shares: 0,
    pgp_keys: await keyFiles(io, options['pgp-keys']),
    recovery_pgp_keys: await keyFiles(io, options['recovery-pgp-keys']),
    root_token_pgp_key: await readPgpKeyFile(io, options['root-token-pgp-key']),
  })
  const answer = await client.send({ doing: 'initialising', method: 'PUT', path: PATH, body })
  const keys = {
    unseal_keys_b64: listOf(answer.body, 'keys_base64'),
    unseal_keys_hex: listOf(answer.body, 'keys'),
    unseal_shares: numbers.secret_shares,
    unseal_threshold: numbers.secret_threshold,
    recovery_keys_b64: listOf(answer.body, 'recovery_keys_base64'),
    recovery_keys_hex: listOf(answer.body, 'recovery_keys'),
    root_token: exactMember(answer.body, 'root_token') ?? '',
  }
  await printAnswer(io, options, keys, () => formatKeys(keys))
  return 0
}

/** True if the server opens by itself, and so makes recovery keys. Its configuration decides, before there are keys. */
async function opensByItself(client: Client): Promise<boolean> {
  const { body } = await client.send({ doing: 'reading the seal status', method: 'GET', path: 'sys/seal-status' })
  return exactMember(body, 'recovery_seal') === true
}

/** Null, and not an empty list, says that the shares are not encrypted: the reference's command line sends it so. */
async function keyFiles(io: CliIo, names: string | undefined): Promise<readonly string[] | null> {
  const keys = await readPgpKeyFiles(io, names)
  return keys.length === 0 ? null : keys
}

function listOf(body: Json | undefined, name: string): readonly Json[] {
  const list = exactMember(body, name)
  return isList(list) ? list : []
}

/** The part of the result that a person is shown; the names are those of the reference's JSON output. */
type NewKeys = {
  readonly unseal_keys_b64: readonly Json[]
  readonly unseal_shares: number
  readonly unseal_threshold: number
  readonly recovery_keys_b64: readonly Json[]
  readonly root_token: Json
}

/** Formats the keys. The labels are those of the reference: scripts look for `Unseal Key 1:`. */
function formatKeys(keys: NewKeys): string {
  return [
    ...keys.unseal_keys_b64.map((key, index) => `Unseal Key ${index + 1}: ${plainText(key)}`),
    ...keys.recovery_keys_b64.map((key, index) => `Recovery Key ${index + 1}: ${plainText(key)}`),
    '',
    `Initial Root Token: ${plainText(keys.root_token)}`,
    '',
    ...(keys.unseal_keys_b64.length > 0 ? adviceOn(keys) : ADVICE_ON_RECOVERY),
  ].join('\n')
}

/** Printed below recovery keys: people must not take them for keys that unseal. */
const ADVICE_ON_RECOVERY = [
  'Success! The server is initialized, and unseals itself at every start.',
  '',
  'A threshold of recovery keys generates a root token, with `keywright operator generate-root`. Recovery keys do',
  'not unseal the server: without its own seal key it cannot read its data.',
  '',
]

function adviceOn({ unseal_shares: shares, unseal_threshold: threshold }: NewKeys): string[] {
  const needed = shares === 1 ? 'The one unseal key is' : `Any ${threshold} of the ${shares} unseal keys are`
  return [
    'Success! The server is initialized, and still sealed.',
    '',
    `${needed} needed to unseal it after every start, with \`keywright operator unseal\`.`,
    shares === 1 ? 'Keep it in a safe place:' : 'Give each to a different person, to keep in a safe place:',
    'they are not stored anywhere, and without them all data is lost.',
    '',
  ]
}
