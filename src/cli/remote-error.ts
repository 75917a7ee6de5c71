// The messages when the server, or the way to it, refuses: what was tried, what was answered, what may help.
import { isLocked, isSealed, mayBeDone, messagesOf } from '../client/error-messages.ts'
import type { ApiCall, Method } from '../client/wire.ts'
import { cliCodeOf, RemoteFailure } from './cli-error.ts'
import type { Json } from './exact-json.ts'
import { printable, printableLine } from './terminal-text.ts'

export { messagesOf }

/** A request that was answered with an error. */
export type FailedCall = {
  /** Follows "Error" in messages: `reading transit/keys/x`. */
  readonly doing: string
  readonly method: Method
  /** What a policy has to grant for it, as `capabilityOf` tells. */
  readonly capability: string
  /** The path of the API as typed. */
  readonly path: string
  /** The URL without its query, which may hold secrets of the caller. */
  readonly url: string
  readonly status: number
  readonly messages: readonly string[]
  readonly withToken: boolean
  /** The answer if it has data all the same, as to a batch with failed items (Interface 7.1). */
  readonly body: Json | undefined
}

/** The server answered, and the answer is an error. */
export class RemoteError extends RemoteFailure {
  override name = 'RemoteError'
  /** True for a 404 without a message: the path is valid, and nothing is stored there. */
  readonly nothingThere: boolean
  readonly body: Json | undefined
  constructor(refused: FailedCall) {
    super(describeRefusal(refused))
    this.body = refused.body
    this.nothingThere = refused.status === 404 && refused.messages.length === 0
  }
}

function describeRefusal(refused: FailedCall): string {
  const { doing, method, url, status, messages } = refused
  const lines = [`Error ${doing}: ${verdict(refused)}`, '', `URL: ${method} ${url}`]
  lines.push(messages.length === 0 ? `Code: ${status}.` : `Code: ${status}. Errors:`)
  if (messages.length > 0) lines.push('', ...messages.map((message) => `* ${printable(message)}`))
  const hint = HINTS.find((row) => row.fits(refused))?.hint(refused)
  if (hint !== undefined) lines.push('', hint)
  return lines.join('\n')
}

function verdict(refused: FailedCall): string {
  if (isSealed(refused.status, refused.messages)) return 'the server is sealed'
  if (isLocked(refused.status, refused.messages)) return 'the namespace is locked'
  if (refused.body !== undefined) return 'the request failed in part: the answer has the details'
  if (refused.status === 404) return 'there is nothing at this path'
  return refused.status >= 500 ? 'the server failed to process the request' : 'the server refused the request'
}

type Hint = { readonly fits: (refused: FailedCall) => boolean; readonly hint: (refused: FailedCall) => string }

/** Insufficient Storage (RFC 4918 section 11.5). */
const DEVICE_FULL = 507
/** Paths of logins: a 403 there cannot be for want of a token, which logins do not have. */
const LOGIN = /^auth\/.+\/login(\/|$)/
/** Refusals that name neither path nor capability, so the hint does. */
const BARE_DENIALS = ['permission denied', 'invalid token']

/** The first row that fits gives the hint: special cases stand before general ones. */
const HINTS: readonly Hint[] = [
  {
    fits: ({ status, messages }) => isSealed(status, messages),
    hint: () => 'Unseal it with `keywright operator unseal`; `keywright status` shows how many keys are missing.',
  },
  {
    fits: ({ messages }) => mentions(messages, 'not initialized') || mentions(messages, 'not yet initialized'),
    hint: () => 'Initialise it with `keywright operator init`.',
  },
  {
    fits: ({ status, withToken, path }) => status === 403 && !withToken && LOGIN.test(path),
    hint: () =>
      'Either no auth method is mounted at this path (set it with -path if it is not the default), or the user is ' +
      'locked out after too many failed logins, or the entity is disabled.',
  },
  {
    // Such a command needs no token of the caller.
    fits: ({ status, messages }) => status === 403 && mentions(messages, '"dr_operation_token" must be'),
    hint: () =>
      'Make one with `keywright operator generate-root -dr-token`, or take a batch token that the primary made. One ' +
      'that was made with key shares ends with a promotion, and with `disable`.',
  },
  {
    fits: ({ messages }) => mentions(messages, 'path disabled in replication DR secondary mode'),
    hint: () =>
      'This cluster is a secondary for disaster recovery: call its primary (-address). To operate the secondary ' +
      'itself, give the command an -operation-token, if it takes one.',
  },
  {
    fits: ({ status, withToken }) => status === 403 && !withToken,
    hint: () => 'No token was sent: set KEYWRIGHT_TOKEN or VAULT_TOKEN, use -token, or log in with `keywright login`.',
  },
  {
    // A server that says what was missing (`permission_denied_hints`) needs no guess beside it.
    fits: ({ status, messages }) => status === 403 && messages.every((message) => BARE_DENIALS.includes(message)),
    hint: ({ capability, path }) =>
      'Either the token is invalid or has expired (`keywright login` gets a new one), or none of its policies grants ' +
      `"${capability}" on "${printableLine(path)}".`,
  },
  {
    fits: ({ messages }) => mentions(messages, 'namespace not found'),
    hint: () =>
      'No namespace has the path in -namespace, KEYWRIGHT_NAMESPACE, BAO_NAMESPACE or VAULT_NAMESPACE: give it from ' +
      'the root on, as in team/a. `keywright namespace list -namespace=` shows those below the root.',
  },
  {
    fits: ({ status, messages }) => isLocked(status, messages),
    hint: () =>
      'Whoever locked it has the key: `keywright namespace unlock` in a namespace above, or in that namespace itself.',
  },
  {
    fits: ({ status, path }) => status === 404 && path.startsWith('v1/'),
    hint: () => 'Leave out the "v1/": it is added to every path.',
  },
  {
    fits: ({ status, messages }) => status === 404 && mentions(messages, 'no handler for route'),
    hint: ({ path }) =>
      path.startsWith('auth/')
        ? 'No auth method is mounted there: `keywright auth list` shows the enabled ones.'
        : 'No secrets engine is mounted there: `keywright secrets list` shows the enabled ones.',
  },
  {
    fits: ({ status, messages }) => (status === 404 && mentions(messages, 'unsupported path')) || status === 405,
    hint: ({ path }) => `\`keywright path-help ${printableLine(path)}\` shows the help of this path.`,
  },
  {
    fits: ({ status }) => status === 413,
    hint: () => 'The request is larger than the server accepts (max_request_size of its listener, 32 MiB by default).',
  },
  {
    fits: ({ status, messages }) => status === 503 && mentions(messages, 'not caught up'),
    hint: () =>
      'Nothing was changed. If its primary comes back, wait until `keywright operator replication status` shows that ' +
      'nothing is missing. If it is lost, promote the secondary that has most: with -force -yes it takes over ' +
      'without what is missing.',
  },
  {
    fits: ({ method, status, messages }) => method !== 'GET' && mayBeDone(status, messages),
    hint: () => 'It was not sent again: read what it was to change first. It may have been carried out.',
  },
  {
    fits: ({ status }) => status === 429,
    hint: () => 'A rate limit was exceeded: try again later.',
  },
  {
    fits: ({ status }) => status === DEVICE_FULL,
    hint: () =>
      'Free space on the device of the data directory, and try again. Do not restart the server: it still reads and ' +
      'encrypts, and a server that starts on a full device cannot be unsealed.',
  },
]

function mentions(messages: readonly string[], part: string): boolean {
  return messages.some((message) => message.includes(part))
}

/** Returns the capability that a policy has to grant (Interface 5). PUT and POST may need `create` instead. */
export function capabilityOf({ method, query = [] }: Pick<ApiCall, 'method' | 'query'>): string {
  if (method === 'GET') return query.find(([name]) => name === 'list' || name === 'scan')?.[0] ?? 'read'
  if (method === 'PATCH') return 'patch'
  return method === 'DELETE' ? 'delete' : 'update'
}

/** Makes the error of a request without an answer. `origin` is a sentence about where the address comes from. */
export function connectionError(doing: string, address: string, origin: string, error: unknown): RemoteFailure {
  const code = cliCodeOf(error)
  const advice = CONNECTION_ADVICE.find(({ codes }) => codes.includes(code ?? ''))
  const what = advice?.what ?? 'the connection broke'
  const reason = code === undefined ? '' : ` (${code})`
  const hint = advice?.hint(address) ?? `Is ${address} the address of the server?`
  return new RemoteFailure(`Error ${doing}: ${what}: ${address}${reason}\n\n${hint}\n${origin}`, error)
}

/** The code of an error of our own transport, beside those of the system. */
export const ANSWER_TOO_LARGE = 'ANSWER_TOO_LARGE'

type Advice = { readonly codes: readonly string[]; readonly what: string; readonly hint: (address: string) => string }

const NAME_ANOTHER = 'name another address with -address or KEYWRIGHT_ADDR'
/** Codes of libuv, OpenSSL and Node.js, with the cause that is usual for each. */
const CONNECTION_ADVICE: readonly Advice[] = [
  {
    codes: ['ECONNREFUSED'],
    what: 'the connection was refused',
    hint: (address) => `Is the server running at ${address}? Start one with \`keywright server\`, or ${NAME_ANOTHER}.`,
  },
  {
    codes: ['ENOTFOUND', 'EAI_AGAIN'],
    what: 'the host name has no address',
    hint: () => `Check the host name and the network, or ${NAME_ANOTHER}.`,
  },
  {
    codes: ['ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'],
    what: 'the server did not answer',
    hint: (address) => `Is ${address} reachable from here? Otherwise ${NAME_ANOTHER}.`,
  },
  {
    codes: [ANSWER_TOO_LARGE],
    what: 'the answer is larger than any that a Keywright server sends',
    hint: (address) => `Is ${address} the address of the server?`,
  },
  {
    codes: ['ECONNRESET', 'EPIPE'],
    what: 'the server closed the connection',
    hint: (address) =>
      address.startsWith('http:')
        ? 'A TLS server does that to plain HTTP: try https:// in the address.'
        : 'It may require a client certificate, or be shutting down.',
  },
  {
    codes: ['EPROTO', 'ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG'],
    what: 'the server does not speak TLS',
    hint: () => 'Without TLS the address begins with http://.',
  },
  {
    codes: ['ERR_TLS_CERT_ALTNAME_INVALID'],
    what: 'the certificate is for another name',
    hint: () =>
      'Use the name in the certificate of the server as the host of the address, or set it with -tls-server-name or ' +
      'KEYWRIGHT_TLS_SERVER_NAME.',
  },
  {
    codes: ['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID'],
    what: 'the certificate of the server has expired or is not valid yet',
    hint: () => 'Renew it, or check the clocks of both machines.',
  },
  {
    codes: [
      'DEPTH_ZERO_SELF_SIGNED_CERT',
      'SELF_SIGNED_CERT_IN_CHAIN',
      'UNABLE_TO_GET_ISSUER_CERT',
      'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    ],
    what: 'the certificate of the server is not signed by a trusted CA',
    hint: () => 'Give the CA certificate with -ca-cert or KEYWRIGHT_CACERT.',
  },
]
