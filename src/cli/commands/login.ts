import { asciiTrim } from '../../lib/ascii.ts'
import { own } from '../../lib/own.ts'
import { answerRows } from '../answer-rows.ts'
import { cleanPath } from '../api-path.ts'
import { CliError, RemoteFailure, UsageError } from '../cli-error.ts'
import type { Client } from '../client.ts'
import { METADATA_OPTIONS } from '../cloud-machine.ts'
import { type CommandCall, command } from '../command.ts'
import { COMMON_OPTIONS } from '../common-options.ts'
import { connect } from '../connect.ts'
import { headerText, tokenFile } from '../connection.ts'
import { exactMember, type Json } from '../exact-json.ts'
import { readInputText, STDIN } from '../input.ts'
import { type CliIo, writeAll } from '../io.ts'
import { readData } from '../key-values.ts'
import { LOGIN_METHODS, loginRequest } from '../login-methods.ts'
import { writeNewFile } from '../new-file.ts'
import type { OptionTable } from '../options.ts'
import { formatTable, printAnswer } from '../output.ts'
import { readSecret } from '../secret-input.ts'

/** -no-store, -no-print and -token-only are the reference's. The first and the last keep the token out of the file. */
const OPTIONS = {
  method: {
    kind: 'text',
    value: 'METHOD',
    oneOf: LOGIN_METHODS,
    default: 'token',
    about: `Login method: ${LOGIN_METHODS.join(', ')}`,
  },
  path: {
    kind: 'text',
    value: 'PATH',
    about: 'Mount path of the method, below auth/; default: the name of the method',
  },
  'no-store': { kind: 'flag', about: 'Do not store the token' },
  'no-print': { kind: 'flag', about: 'Do not print the token' },
  'token-only': { kind: 'flag', about: 'Print only the token, and do not store it' },
  ...METADATA_OPTIONS,
  ...COMMON_OPTIONS,
} as const satisfies OptionTable

type LoginCall = CommandCall<typeof OPTIONS>

/** `keywright login`: writes the token to the file that every other command reads. */
export const login = command({
  name: 'login',
  summary: 'Log in and store the token for later commands',
  usage: '[TOKEN | NAME=VALUE…]',
  describe: [
    'The token is stored in ~/.vault-token, which only you can read. With -method=token it is the argument, or ' +
      'is prompted for. Other methods take their fields as NAME=VALUE, from standard input as NAME=-, or from a ' +
      'file as NAME=@FILE; a secret field that is missing is prompted for. If standard input is not a terminal, ' +
      'prompts read from it.',
    'With -method=cloud (or azure) and without jwt, the token and names come from the metadata service of this ' +
      'machine. resource=URL sets the audience of that token; client_id=ID selects one of several identities.',
  ],
  examples: [
    'login',
    'login -method=userpass username=kim',
    'login -method=cloud role=app',
    'login -method=approle -no-print role_id=ID secret_id=@secret-id',
  ],
  options: OPTIONS,
  args: { needed: [], most: Number.POSITIVE_INFINITY },
  run: async (call) => {
    const { io, options } = call
    const keeps = !options['no-store'] && !options['token-only']
    const body = options.method === 'token' ? await loginByToken(call) : await loginByMethod(call, keeps)
    const token = exactMember(exactMember(body, 'auth'), 'client_token')
    if (keeps && typeof token === 'string') await keep(io, token)
    if (options['token-only']) return await printToken(io, body)
    if (options['no-print']) return 0
    await printAnswer(io, options, body, (shown) => `${typeof token === 'string' ? SAID : ''}${rows(shown)}`)
    return 0
  },
})

/** Only people read this: programs get the answer alone. */
const SAID = 'Success! You are logged in.\n\n'
const rows = (body: Json): string => formatTable(answerRows(body))

/** Checks a token that the person has, and returns it in the form of a login, so that both are printed the same way. */
async function loginByToken(call: LoginCall): Promise<Json> {
  const token = await readToken(call)
  const client = connect(call.io, { ...call.options, token, 'wrap-ttl': undefined })
  const path = 'auth/token/lookup-self'
  const data = exactMember((await client.send({ doing: 'checking the token', method: 'GET', path })).body, 'data')
  const tell = (name: string): Json => exactMember(data, name) ?? null
  const auth = {
    client_token: token,
    accessor: tell('accessor'),
    policies: tell('policies'),
    token_policies: tell('policies'),
    identity_policies: tell('identity_policies'),
    metadata: tell('meta'),
    lease_duration: tell('ttl'),
    renewable: exactMember(data, 'renewable') ?? false,
  }
  return { request_id: '', lease_id: '', lease_duration: 0, renewable: false, data: null, warnings: null, auth }
}

/** Reads the token from the argument, `token=…` included, or from `-`, or asks for it. */
async function readToken({ io, args }: LoginCall): Promise<string> {
  const [given, ...more] = args
  if (more.length > 0) throw new UsageError('with -method=token there is one argument, the token')
  const typed = given?.startsWith('token=') === true ? given.slice('token='.length) : given
  const asked = typed ?? asciiTrim(await readSecret(io, 'Token'))
  const token = headerText('The token', asked === STDIN ? asciiTrim(await readInputText(io, STDIN)) : asked)
  if (token === undefined) throw new CliError('The token is empty')
  return token
}

/** Logs in with a method. A wrapped answer is unwrapped at once if the token is to be kept: commands need the token. */
async function loginByMethod({ io, options, args }: LoginCall, keeps: boolean): Promise<Json> {
  const { method } = options
  const typed = cleanPath(options.path ?? method)
  const data = await readData(io, args)
  const mount = typed.startsWith('auth/') ? typed.slice('auth/'.length) : typed
  const metadataAddress = options['metadata-address']
  const request = await loginRequest(io, { method, mount, metadataAddress }, data)
  // An old token has no part in a login; the empty text also keeps the token file from being read.
  const client = connect(io, { ...options, token: '' })
  const { body = null } = await client.send({ doing: `logging in with ${method}`, method: 'PUT', ...request })
  const wrapping = exactMember(exactMember(body, 'wrap_info'), 'token')
  return keeps && typeof wrapping === 'string' ? await unwrapped(client, wrapping) : body
}

/**
 * Unwraps an answer, which spends the wrapping token. `token` is that token; if it is undefined the client's own is it.
 * @throws RemoteFailure
 */
export async function unwrapped(client: Client, token: string | undefined): Promise<Json> {
  const asker = token === undefined ? client : client.with({ token })
  const request = { doing: 'unwrapping', method: 'PUT', path: 'sys/wrapping/unwrap', body: 'null' } as const
  return (await asker.with({ wrapTtl: undefined }).send(request)).body ?? null
}

/** Keeps the token where only its owner can read it, and warns if a variable hides it from the commands that follow. */
async function keep(io: CliIo, token: string): Promise<void> {
  const path = tokenFile(io.env)
  if (path === undefined) throw new CliError('There is no home directory to store the token in: use -no-store')
  await writeNewFile({ path, force: true, mode: 0o600 }, token)
  const variable = ['KEYWRIGHT_TOKEN', 'VAULT_TOKEN'].find((name) => (own(io.env, name) ?? '') !== '')
  if (variable === undefined) return
  await writeAll(
    io.stderr,
    `${variable} is set and takes precedence over the stored token: unset it to use the stored one.\n\n`,
  )
}

/** Prints the token alone. A line break follows only on a terminal: a file then holds the token exactly. */
async function printToken(io: CliIo, body: Json): Promise<0> {
  const token =
    exactMember(exactMember(body, 'auth'), 'client_token') ?? exactMember(exactMember(body, 'wrap_info'), 'token')
  if (typeof token !== 'string') throw new RemoteFailure('Error logging in: the answer has no token')
  await writeAll(io.stdout, io.stdout.isTTY === true ? `${token}\n` : token)
  return 0
}
