// Every refusal the service gives: code, status, public sentence. docs/errors.md is generated from this table.
//
// The code is for us (log, metrics, tests); the wire carries `{"errors": [sentence]}` and the status. What is thrown
// without `fail` is our bug and becomes `internal`. No status is ever chosen by reading a message.

export const ERRORS = {
  bad_request: { status: 400, message: (what: string) => what },
  bad_path: { status: 400, message: (what: string) => `The request path ${what}` },
  write_to_folder: { status: 400, message: () => "cannot write to a path ending in '/'" }, // Wire text.
  json_invalid: { status: 400, message: (what: string) => `failed to decode JSON input: ${what}` }, // Wire text.
  field_missing: { status: 400, message: (name: string) => `Missing required field "${name}"` },
  field_invalid: {
    status: 400,
    message: (name: string, why: string) =>
      `Field validation failed: error converting input for field "${name}": ${why}`, // Wire text: clients match it.
  },
  permission_denied: { status: 403, message: () => 'permission denied' }, // Wire text: every 403 contains it.
  bad_token: { status: 403, message: () => 'bad token' }, // Wire text.
  not_found: { status: 404, message: () => '' },
  bad_namespace: { status: 404, message: () => 'namespace not found' },
  no_route: { status: 404, message: (path: string) => `no handler for route "${path}". route entry not found.` },
  unsupported_path: { status: 404, message: () => 'unsupported path' }, // Wire text.
  unsupported_operation: { status: 405, message: () => 'unsupported operation' }, // Wire text.
  method_not_allowed: { status: 405, message: () => 'Method not allowed, use GET, LIST, POST, PUT or DELETE' },
  body_too_large: {
    status: 413,
    message: (limitBytes: number) => `http: request body too large, the limit is ${limitBytes} bytes`, // Wire text.
  },
  unsupported_media: { status: 415, message: (what: string) => what },
  internal: { status: 500, message: () => 'internal error' }, // Wire text.
  sealed: { status: 503, message: () => 'Vault is sealed' }, // Wire text: clients match "sealed".
  not_initialized: { status: 503, message: () => 'server is not yet initialized, see sys/init' },
  busy: { status: 503, message: () => 'The write lost against others too often, try again' },
  writer_gone: {
    status: 503,
    message: () => 'The thread that writes ended; whether the request was carried out is not known',
  },
  storage_full: { status: 507, message: () => 'The storage device is full, nothing was written' },
  storage_failed: { status: 500, message: () => 'The write could not be made durable, this node is stopping' },
} as const satisfies Record<string, { status: number; message: (...args: never[]) => string }>

export type ErrorCode = keyof typeof ERRORS
type MessageArgs<C extends ErrorCode> = Parameters<(typeof ERRORS)[C]['message']>

/** A refusal as thrown by `fail`; `cause` stays inside. */
export class Refusal extends Error {
  override name = 'Refusal'
  readonly code: ErrorCode
  readonly status: number
  constructor(code: ErrorCode, status: number, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.status = status
  }
}

/** The refusal of a row, to be thrown: `throw fail('field_missing', ['name'])`. */
export function fail<C extends ErrorCode>(code: C, args: MessageArgs<C>, cause?: unknown): Refusal {
  const row = ERRORS[code] as { status: number; message: (...args: unknown[]) => string }
  return new Refusal(code, row.status, row.message(...args), cause)
}
