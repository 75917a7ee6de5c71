// Every refusal the service gives: code, status, public sentence, and what to do about it. docs/errors.md is generated
// from this table.
//
// The code is for us (log, metrics, tests); the wire carries `{"errors": [sentence]}` and the status. What is thrown
// without `fail` is our bug and becomes `internal`. No status is ever chosen by reading a message.

type ErrorRow = {
  readonly status: number
  readonly message: (...args: never[]) => string
  /** For whoever got it, client or operator; only in the documentation. */
  readonly remedy: string
}

export const ERRORS = {
  bad_request: {
    status: 400,
    message: (what: string) => what,
    remedy: 'The sentence says what cannot be done as asked, and mostly what could; change the request.',
  },
  bad_path: {
    status: 400,
    message: (what: string) => `The request path ${what}`,
    remedy: 'Percent-encode each segment once, as UTF-8, without "." and ".." segments and control characters.',
  },
  write_to_folder: {
    status: 400,
    message: () => "cannot write to a path ending in '/'", // Wire text.
    remedy: 'Leave the last "/" out.',
  },
  bad_wrapping_token: {
    status: 400,
    message: () => 'wrapping token is not valid or does not exist', // Wire text.
    remedy:
      'The token was used, has expired, or never was one. If nobody of yours opened it, somebody else did: what was ' +
      'under it is known to them.',
  },
  json_invalid: {
    status: 400,
    message: (what: string) => `failed to decode JSON input: ${what}`, // Wire text.
    remedy: 'Send one JSON object, in UTF-8, or no body.',
  },
  malformed_http: {
    status: 400,
    message: () => 'The request is not well-formed HTTP',
    remedy:
      'Send HTTP/1.1 (RFC 9112), with one header Host. A LIST or HELP request has no repeated header that matters, ' +
      'a head of at most 16 KiB, no body or one that means nothing, and nothing behind it; GET with ?list=true and ' +
      '?help=1 are the same.',
  },
  bad_forwarding: {
    status: 400,
    message: (what: string) => `The header X-Forwarded-For ${what}`,
    remedy:
      'Ask through the proxy of the listener. The proxy appends the address it was called from to the header, ' +
      'without a port; x_forwarded_for_authorized_addrs and x_forwarded_for_hop_skips of the listener say which ' +
      'proxies there are.',
  },
  cubbyhole_full: {
    status: 400,
    message: (bound: string) => `The cubbyhole of this token is full: it holds ${bound}. Delete entries first`,
    remedy:
      'Delete what is no longer needed, or write less; overwriting with no more than is there already goes on. The ' +
      'operator can raise max_cubbyhole_entries and max_cubbyhole_size. Secrets for long are not for a cubbyhole.',
  },
  field_missing: {
    status: 400,
    message: (name: string) => `Missing required field "${name}"`,
    remedy: 'Send the field; docs/api names the fields of each endpoint.',
  },
  field_invalid: {
    status: 400,
    message: (name: string, why: string) =>
      `Field validation failed: error converting input for field "${name}": ${why}`, // Wire text: clients match it.
    remedy: 'Send a value of the kind that the endpoint takes; docs/api names it.',
  },
  feature_off: {
    status: 400,
    message: (feature: string, edition: string) =>
      `${feature} is not licensed: the edition of this server is "${edition}"`,
    remedy: 'Nothing has to be bought: set `edition` in the configuration of the server, or leave it out.',
  },
  permission_denied: {
    status: 403,
    message: () => 'permission denied', // Wire text: every 403 contains it.
    remedy:
      'Send a token in X-Vault-Token that has not expired, with a policy that grants the capability on the path. A ' +
      'second text tells the holder of a valid token what its policies lack (permission_denied_hints = false turns ' +
      'that off); sys/policies/explain-self says which rule decides. What does not exist is refused in the same way.',
  },
  login_refused: {
    status: 403,
    message: (what: string) => `permission denied: ${what}`,
    remedy:
      'The text names the constraint that the login did not meet. auth/MOUNT/explain, and `keywright cloud explain`, ' +
      'show for the same token and role which ones it meets; docs/runbooks/connect-a-cloud.md says how each is met.',
  },
  bad_token: {
    status: 403,
    message: () => 'bad token', // Wire text.
    remedy: 'The token that was asked about does not exist, has expired or was revoked: get another.',
  },
  origin_refused: {
    status: 403,
    message: () => 'origin not allowed', // Wire text.
    remedy: 'Add the origin to allowed_origins of sys/config/cors, or call from another page.',
  },
  not_found: {
    status: 404,
    message: () => '',
    remedy: 'There is no such entry, or the list is empty; outside /v1/ there is nothing.',
  },
  no_such_key: {
    status: 404,
    message: (name: string) => `key not found: no key has the name "${name}"`,
    remedy: 'Correct the name, or make the key; a list of the keys of the mount shows what there is.',
  },
  bad_namespace: {
    status: 404,
    message: () => 'namespace not found',
    remedy: 'Leave X-Vault-Namespace out: only the root namespace exists.',
  },
  no_route: {
    status: 404,
    message: (path: string) => `no handler for route "${path}". route entry not found.`,
    remedy: 'Mount an engine at the path (sys/mounts), or correct the path.',
  },
  unsupported_path: {
    status: 404,
    message: () => 'unsupported path', // Wire text.
    remedy: 'The engine has no such endpoint, or the name in the path is not one: HELP on the mount lists them.',
  },
  unsupported_operation: {
    status: 405,
    message: () => 'unsupported operation', // Wire text.
    remedy: 'The path exists for another method: HELP on it says which.',
  },
  method_not_allowed: {
    status: 405,
    message: () => 'Method not allowed, use GET, LIST, POST, PUT or DELETE',
    remedy: 'Use one of these methods.',
  },
  request_timeout: {
    status: 408,
    message: () => 'The request took too long to arrive',
    remedy: 'Send the request faster, or raise http_read_header_timeout or http_read_timeout of the listener.',
  },
  body_too_large: {
    status: 413,
    message: (limitBytes: number) => `http: request body too large, the limit is ${limitBytes} bytes`, // Wire text.
    remedy: 'Send less at once, or raise max_request_size of the listener. LIST and HELP need no body: leave it out.',
  },
  value_too_large: {
    status: 413,
    message: (limitBytes: number) => `What the request would store is too large, the limit is ${limitBytes} bytes`,
    remedy:
      'Send less, or spread it over several entries; what is there already counts, too. What a cubbyhole or a ' +
      'wrapped answer holds is bounded by max_cubbyhole_entry_size of the configuration.',
  },
  unsupported_media: {
    status: 415,
    message: (what: string) => what,
    remedy: 'Use POST, which changes the fields that are sent.',
  },
  content_coding: {
    status: 415,
    message: () => 'Content-Encoding: only identity is offered',
    remedy: 'Send the body as it is, without compressing it.',
  },
  expectation_failed: {
    status: 417,
    message: () => 'Expect: only 100-continue is offered',
    remedy: 'Leave the header Expect out.',
  },
  rate_limited: {
    status: 429,
    message: (path: string) => `request path "${path}": rate limit quota exceeded`, // Wire text.
    remedy:
      'Wait as many seconds as Retry-After says, and send less. An operator raises the quota that applies ' +
      '(sys/quotas/rate-limit), or exempts the path (sys/quotas/config).',
  },
  too_many_attempts: {
    status: 429,
    message: (seconds: number) => `Too many attempts, try again in ${seconds} s`,
    remedy:
      'Wait as many seconds as Retry-After says. Where you did nothing yet, somebody else floods these endpoints: ' +
      'the log names the address. Keep them out of the network that reaches the listener, or ask a token for ' +
      'these endpoints (disable_unauthed_rekey_endpoints, disable_unauthed_generate_root_endpoints).',
  },
  too_many_logins: {
    status: 429,
    message: () => 'Too many logins of this address are waiting, try again later',
    remedy:
      'Nothing was tried: come back after the time in Retry-After. Logins are tried in turn by address; clients of a ' +
      'proxy are told apart by x_forwarded_for_authorized_addrs.',
  },
  headers_too_large: {
    status: 431,
    message: () => 'The request headers are too large',
    remedy: 'Send at most 16 KiB of headers, the request line included.',
  },
  token_too_large: {
    status: 431,
    message: (limitBytes: number) => `The token is too long, the limit is ${limitBytes} characters`,
    remedy: 'Send the token as it was given out, or raise max_token_header_size of the listener.',
  },
  internal: {
    status: 500,
    message: () => 'internal error', // Wire text.
    remedy: 'This is a defect of the server: its log has the cause under the time of the request. Report it.',
  },
  audit_request_failed: {
    status: 500,
    message: () => 'No audit device could record the request, so it was not carried out',
    remedy: 'Nothing was done. Make one device writable again (disk, permissions, peer); the log names what fails.',
  },
  audit_response_failed: {
    status: 500,
    message: () => 'No audit device could record the answer, so it is withheld',
    remedy:
      'The request may have been carried out: read what it was to change before it is sent again. A token that it ' +
      'made was revoked. Make one device writable again; the log names those that fail.',
  },
  storage_failed: {
    status: 500,
    message: () => 'The write could not be made durable, this node is stopping',
    remedy: 'Look at the disk and at the log, then start the node again: what was answered before is kept.',
  },
  coding_unknown: {
    status: 501,
    message: () => 'Transfer-Encoding: only chunked is offered',
    remedy: 'Send the body as it is, with Content-Length or in chunks.',
  },
  device_failed: {
    status: 502,
    message: (what: string, why: string) => `${what}: ${why}`,
    remedy:
      'The device behind a managed key is not there, or does not do what it should: docs/runbooks/managed-keys.md. ' +
      'Whoever gave the managed key away can do nothing about it; what was made with it stays readable.',
  },
  cloud_unavailable: {
    status: 502,
    message: (what: string) => what,
    remedy:
      'Nothing was decided: try again. The log has the cause under the id of the request: the cloud did not answer ' +
      'within 10 s, throttled, or refused the credential of this server.',
  },
  sealed: {
    status: 503,
    message: () => 'Vault is sealed', // Wire text: clients match "sealed".
    remedy: 'Give the shares of the unseal key (sys/unseal).',
  },
  not_initialized: {
    status: 503,
    message: () => 'server is not yet initialized, see sys/init',
    remedy: 'Initialise the server (sys/init), then unseal it.',
  },
  busy: {
    status: 503,
    message: () => 'The write lost against others too often, try again',
    remedy: 'Nothing was written: try again.',
  },
  overloaded: {
    status: 503,
    message: () => 'More slow work waits than can be done soon, try again later',
    remedy:
      'Nothing was done: try again. New RSA keys take seconds each; whoever makes many waits for one before the next.',
  },
  body_memory_full: {
    status: 503,
    message: () => 'Too many large requests are under way, try again later',
    remedy:
      'Nothing was done: try again after the time in Retry-After. The operator can raise max_body_memory, which ' +
      'bounds what the bodies of all requests take together; those without a live token have a quarter of it.',
  },
  body_share_full: {
    status: 503,
    message: () => 'Too many large requests of this address are under way, try again later',
    remedy:
      'Nothing was done: try again after the time in Retry-After, and send fewer large requests at once. The ' +
      'operator can raise max_body_memory_per_address; x_forwarded_for_authorized_addrs tells the clients of a proxy ' +
      'apart.',
  },
  request_took_too_long: {
    status: 503,
    message: () => 'The request took too long; whether it was carried out is not known',
    remedy:
      'Read what the request was to change before it is sent again, or raise max_request_duration of the listener.',
  },
  writer_gone: {
    status: 503,
    message: () => 'The thread that writes ended; whether the request was carried out is not known',
    remedy: 'Start the node again, and read what the request was to change before it is sent again.',
  },
  storage_full: {
    status: 507,
    message: () => 'The storage device is full, nothing was written',
    remedy: 'Make space on the device; reads go on meanwhile.',
  },
} as const satisfies Record<string, ErrorRow>

export type ErrorCode = keyof typeof ERRORS
type MessageArgs<C extends ErrorCode> = Parameters<(typeof ERRORS)[C]['message']>

/** A refusal as thrown by `fail`; `cause` stays inside. */
export class Refusal extends Error {
  override name = 'Refusal'
  readonly code: ErrorCode
  readonly status: number
  /** A second sentence for this caller alone; empty without one. */
  readonly hint: string
  constructor(code: ErrorCode, status: number, message: string, cause?: unknown, hint = '') {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.status = status
    this.hint = hint
  }
}

/** A refusal that holds for a time only: the answer has it in Retry-After. */
export class RefusalForNow extends Refusal {
  readonly retryAfterSeconds: number
  constructor({ code, status, message }: Refusal, retryAfterSeconds: number) {
    super(code, status, message)
    this.retryAfterSeconds = retryAfterSeconds
  }
}

/** As `fail`, with the time after which it is worth to come back. */
export function failFor<C extends ErrorCode>(seconds: number, code: C, args: MessageArgs<C>): RefusalForNow {
  return new RefusalForNow(fail(code, args), seconds)
}

/** A request that the policies of a valid token do not allow; `hint` says what they lack, '' where nothing is told. */
export function permissionDenied(hint: string): Refusal {
  const row = ERRORS.permission_denied
  return new Refusal('permission_denied', row.status, row.message(), undefined, hint)
}

/** A path has half of that. What a caller sent is repeated in sentences, and those stand in clear in the audit. */
const MAX_MESSAGE_CHARACTERS = 8_192

const bounded = (message: string): string =>
  message.length <= MAX_MESSAGE_CHARACTERS ? message : `${message.slice(0, MAX_MESSAGE_CHARACTERS)}…`

/** The refusal of a row, to be thrown: `throw fail('field_missing', ['name'])`. */
export function fail<C extends ErrorCode>(code: C, args: MessageArgs<C>, cause?: unknown): Refusal {
  const row = ERRORS[code] as { status: number; message: (...args: unknown[]) => string }
  return new Refusal(code, row.status, bounded(row.message(...args)), cause)
}
