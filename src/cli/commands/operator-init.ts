import { answeredByExitCode, type ExitCode, RemoteFailure } from '../cli-error.ts'
import type { Client } from '../client.ts'
import { type Call, command } from '../command.ts'
import { COMMON_OPTIONS } from '../common-options.ts'
import { connect } from '../connect.ts'
import { isList, type Json, memberOf, plainText } from '../exact-json.ts'
import type { OptionTable } from '../options.ts'
import { printAnswer } from '../output.ts'

const PATH = 'sys/init'

const OPTIONS = {
  'key-shares': {
    kind: 'number',
    short: 'n',
    value: 'COUNT',
    default: 5,
    about: 'Shares that the unseal key is split into',
  },
  'key-threshold': {
    kind: 'number',
    short: 't',
    value: 'COUNT',
    default: 3,
    about: 'Shares that are needed to unseal',
  },
  status: { kind: 'flag', about: 'Only show whether the server is initialised: exit code 0 if it is, 2 if not' },
  ...COMMON_OPTIONS,
} as const satisfies OptionTable

type InitCall = Call<typeof OPTIONS>

/** `keywright operator init`: makes the keys of a new server. */
export const operatorInit = command({
  name: 'init',
  summary: 'Initialise a new server: make its unseal keys and the first token',
  usage: '',
  describe: [
    'The unseal key is split into shares (Shamir), of which a threshold is needed to unseal the server after each ' +
      'start. The shares and the root token are shown this once; nobody can show them again.',
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

async function showStatus(client: Client, { io, options }: InitCall): Promise<ExitCode> {
  const { body } = await client.send({ doing: 'reading the initialisation status', method: 'GET', path: PATH })
  const initialized = memberOf(body, 'initialized')
  if (body === undefined || typeof initialized !== 'boolean') {
    throw new RemoteFailure('Error reading the initialisation status: the answer does not have it')
  }
  await printAnswer(io, options, body, () => `The server is ${initialized ? '' : 'not '}initialized\n`)
  return initialized ? 0 : 2
}

async function initialise(client: Client, { io, options }: InitCall): Promise<ExitCode> {
  // All the fields that the reference's command line sends.
  const body = JSON.stringify({
    secret_shares: options['key-shares'],
    secret_threshold: options['key-threshold'],
    stored_shares: 0,
    pgp_keys: null,
    recovery_shares: 0,
    recovery_threshold: 0,
    recovery_pgp_keys: null,
    root_token_pgp_key: '',
  })
  const answer = await client.send({ doing: 'initialising', method: 'PUT', path: PATH, body })
  const keys = {
    unseal_keys_b64: listOf(answer.body, 'keys_base64'),
    unseal_keys_hex: listOf(answer.body, 'keys'),
    unseal_shares: options['key-shares'],
    unseal_threshold: options['key-threshold'],
    recovery_keys_b64: listOf(answer.body, 'recovery_keys_base64'),
    recovery_keys_hex: listOf(answer.body, 'recovery_keys'),
    root_token: memberOf(answer.body, 'root_token') ?? '',
  }
  await printAnswer(io, options, keys, () => formatKeys(keys))
  return 0
}

function listOf(body: Json | undefined, name: string): readonly Json[] {
  const list = memberOf(body, name)
  return isList(list) ? list : []
}

type NewKeys = {
  readonly unseal_keys_b64: readonly Json[]
  readonly unseal_shares: number
  readonly unseal_threshold: number
  readonly recovery_keys_b64: readonly Json[]
  readonly root_token: Json
}

/** The labels are those of the reference: scripts look for them. */
function formatKeys(keys: NewKeys): string {
  return [
    ...keys.unseal_keys_b64.map((key, index) => `Unseal Key ${index + 1}: ${plainText(key)}`),
    ...keys.recovery_keys_b64.map((key, index) => `Recovery Key ${index + 1}: ${plainText(key)}`),
    '',
    `Initial Root Token: ${plainText(keys.root_token)}`,
    '',
    ...(keys.unseal_keys_b64.length > 0 ? adviceOn(keys) : []),
  ].join('\n')
}

function adviceOn({ unseal_shares: shares, unseal_threshold: threshold }: NewKeys): string[] {
  const needed = shares === 1 ? 'The one unseal key is' : `Any ${threshold} of the ${shares} unseal keys are`
  return [
    'Success! The server is initialized, and still sealed.',
    '',
    `${needed} needed to unseal it after every start, with \`keywright operator unseal\`.`,
    shares === 1 ? 'Keep it in a safe place:' : 'Give each to another person, to keep in a safe place:',
    'they are not stored anywhere, and without them all data is lost.',
    '',
  ]
}
