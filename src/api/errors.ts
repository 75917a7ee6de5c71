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
      'Send HTTP/1.1 (RFC 9112). A LIST or HELP request has no body, no repeated header that matters, and a head of ' +
      'at most 16 KiB; GET with ?list=true and ?help=1 are the same.',
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
  permission_denied: {
    status: 403,
    message: () => 'permission denied', // Wire text: every 403 contains it.
    remedy:
      'Send a token in X-Vault-Token that has not expired, with a policy that grants the capability on the path. A ' +
      'second text tells the holder of a valid token what its policies lack (permission_denied_hints = false turns ' +
      'that off); sys/policies/explain-self says which rule decides. What does not exist is refused in the same way.',
  },
  bad_token: {
    status: 403,
    message: () => 'bad token', // Wire text.
    remedy: 'The token that was asked about does not exist, has expired or was revoked: get another.',
  },
  not_found: {
    status: 404,
    message: () => '',
    remedy: 'There is no such entry, or the list is empty; outside /v1/ there is nothing.',
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
    remedy: 'Send less at once, or raise max_request_size of the listener.',
  },
  unsupported_media: {
    status: 415,
    message: (what: string) => what,
    remedy: 'Use POST, which changes the fields that are sent.',
  },
  expectation_failed: {
    status: 417,
    message: () => 'Expect: only 100-continue is offered',
    remedy: 'Leave the header Expect out.',
  },
  headers_too_large: {
    status: 431,
    message: () => 'The request headers are too large',
    remedy: 'Send at most 16 KiB of headers, the request line included.',
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

/** A request that the policies of a valid token do not allow; `hint` says what they lack, '' where nothing is told. */
export function permissionDenied(hint: string): Refusal {
  const row = ERRORS.permission_denied
  return new Refusal('permission_denied', row.status, row.message(), undefined, hint)
}

/** The refusal of a row, to be thrown: `throw fail('field_missing', ['name'])`. */
export function fail<C extends ErrorCode>(code: C, args: MessageArgs<C>, cause?: unknown): Refusal {
  const row = ERRORS[code] as { status: number; message: (...args: unknown[]) => string }
  return new Refusal(code, row.status, row.message(...args), cause)
}
