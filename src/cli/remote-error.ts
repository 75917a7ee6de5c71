// The messages when the server, or the way to it, refuses: what was tried, what was answered, what may help.
import { isSealed, messagesOf } from '../client/error-messages.ts'
import type { Method } from '../client/wire.ts'
import { cliCodeOf, RemoteFailure } from './cli-error.ts'
import type { Json } from './exact-json.ts'
import { printable, printableLine } from './terminal-text.ts'

export { messagesOf }

/** A request that was answered with an error. */
export type FailedCall = {
  /** Follows "Error" in messages: `reading transit/keys/x`. */
  readonly doing: string
  readonly method: Method
  readonly listing: boolean
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
  if (refused.body !== undefined) return 'not all of it could be done, the answer says what'
  if (refused.status === 404) return 'there is nothing at this path'
  return refused.status >= 500 ? 'the server could not do it' : 'the server refused the request'
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
    hint: () => 'Initialise it, once and for all, with `keywright operator init`.',
  },
  {
    fits: ({ status, withToken, path }) => status === 403 && !withToken && LOGIN.test(path),
    hint: () =>
      'Either no login method is mounted at this path (-path says where it is, if not at its name), or the name is ' +
      'locked for a while after too many failures, or its entity is disabled.',
  },
  {
    fits: ({ status, withToken }) => status === 403 && !withToken,
    hint: () => 'No token was sent: give one in KEYWRIGHT_TOKEN, VAULT_TOKEN, the file ~/.vault-token or with -token.',
  },
  {
    // A server that says what was missing (`permission_denied_hints`) needs no guess beside it.
    fits: ({ status, messages }) => status === 403 && messages.every((message) => BARE_DENIALS.includes(message)),
    hint: ({ method, listing, path }) =>
      'Either the token is unknown or has ended, and `keywright login` gets another, or none of its policies grants ' +
      `"${capabilityOf(method, listing)}" on "${printableLine(path)}".`,
  },
  {
    fits: ({ status, path }) => status === 404 && path.startsWith('v1/'),
    hint: () => 'Leave out the "v1/": it is added to every path.',
  },
  {
    fits: ({ status, messages }) => status === 404 && mentions(messages, 'no handler for route'),
    hint: ({ path }) =>
      path.startsWith('auth/')
        ? 'No login method is mounted there: `keywright auth list` shows those that are.'
        : 'No engine is mounted there: `keywright secrets list` shows those that are.',
  },
  {
    fits: ({ status, messages }) => (status === 404 && mentions(messages, 'unsupported path')) || status === 405,
    hint: ({ path }) => `\`keywright path-help ${printableLine(path)}\` says what this path is for.`,
  },
  {
    fits: ({ status }) => status === 413,
    hint: () => 'The request is larger than the server accepts (max_request_size of its listener, 32 MiB by default).',
  },
  {
    fits: ({ status }) => status === 429,
    hint: () => 'A rate limit was reached, also after two more attempts: try again later.',
  },
  {
    fits: ({ status }) => status === DEVICE_FULL,
    hint: () =>
      'Make space on the device of the data directory, and try again. Do not restart the server: it reads and ' +
      'encrypts meanwhile, and one that starts on a full device cannot be unsealed.',
  },
]

function mentions(messages: readonly string[], part: string): boolean {
  return messages.some((message) => message.includes(part))
}

/** Returns the capability that a policy has to grant (Interface 5). PUT and POST may need `create` instead. */
export function capabilityOf(method: Method, listing: boolean): string {
  if (method === 'GET') return listing ? 'list' : 'read'
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
    what: 'nobody listens',
    hint: (address) => `Is the server running at ${address}? Start one with \`keywright server\`, or ${NAME_ANOTHER}.`,
  },
  {
    codes: ['ENOTFOUND', 'EAI_AGAIN'],
    what: 'the host name has no address',
    hint: () => `Is the name right, and the network there? Otherwise ${NAME_ANOTHER}.`,
  },
  {
    codes: ['ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'],
    what: 'no answer came',
    hint: (address) => `Is ${address} reachable from here? Otherwise ${NAME_ANOTHER}.`,
  },
  {
    codes: [ANSWER_TOO_LARGE],
    what: 'the answer is larger than any that the service gives',
    hint: (address) => `Is ${address} the address of the server?`,
  },
  {
    codes: ['ECONNRESET', 'EPIPE'],
    what: 'the server closed the connection',
    hint: (address) =>
      address.startsWith('http:')
        ? 'A server with TLS does so when it is spoken to without: try https:// in the address.'
        : 'It may demand a client certificate, or be stopping.',
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
      'Use the name in the address that stands in the certificate of the server, or say it with -tls-server-name or ' +
      'KEYWRIGHT_TLS_SERVER_NAME.',
  },
  {
    codes: ['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID'],
    what: 'the certificate of the server is not valid now',
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
    what: 'the certificate of the server is not signed by an authority that is known here',
    hint: () => 'Name the certificate of its authority with -ca-cert or KEYWRIGHT_CACERT.',
  },
]
