// Refusals of a request as such: how it arrived, and where it was to go.
import type { RefusalRows } from './row.ts'

/** `bad_request` is here for whatever no other row of any group says. */
export const REQUEST_REFUSALS = {
  bad_request: {
    status: 400,
    message: (what: string) => what,
    remedy: 'Nothing more exact can be said than the sentence says; change the request.',
  },
  bad_path: {
    status: 400,
    message: (what: string) => `The request path ${what}`,
    remedy: 'Percent-encode each segment once, as UTF-8, without "." and ".." segments and control characters.',
  },
  bad_namespace_header: {
    status: 400,
    message: () => 'X-Vault-Namespace has a "." or ".." segment: relative paths not supported',
    remedy: 'Name the namespace by its whole path, as sys/namespaces shows it, such as team/a.',
  },
  write_to_folder: {
    status: 400,
    message: () => "cannot write to a path ending in '/'", // Wire text.
    remedy: 'Leave the last "/" out.',
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
      'Send HTTP/1.1 (RFC 9112), with one header Host, and X-Vault-Token, X-Vault-Namespace and X-Vault-Wrap-TTL at ' +
      'most once. A LIST, SCAN or HELP request has no repeated header that matters, a head of at most 16 KiB, no ' +
      'body or one that means nothing, and nothing behind it; GET with ?list=true, ?scan=true or ?help=1 is the same.',
  },
  bad_forwarding: {
    status: 400,
    message: (what: string) => `The header X-Forwarded-For ${what}`,
    remedy:
      'Ask through the proxy of the listener. The proxy appends the address it was called from to the header, ' +
      'without a port; x_forwarded_for_authorized_addrs and x_forwarded_for_hop_skips of the listener say which ' +
      'proxies there are.',
  },
  too_many_parameters: {
    status: 400,
    message: (what: string) => what,
    remedy: 'A form or a query holds more than is read: send the fields as JSON in the body.',
  },
  wrapping_refused: {
    status: 400,
    message: (what: string) => what,
    remedy:
      'The headers X-Vault-Wrap-TTL and X-Vault-Wrap-Format say how long the answer is kept, and under what kind ' +
      'of token: a duration such as 5m, and jwt or nothing. sys/wrapping/wrap wants them; what is no answer in ' +
      'JSON, and what anybody may read, is given without them.',
  },
  consistency_header: {
    status: 400,
    message: (header: string, what: string) => `The header ${header} ${what}`,
    remedy:
      'Send X-Vault-Index as an answer of a cluster of this set had it, at most twice, or leave it out; ' +
      'X-Vault-Inconsistent takes the words that docs/consistency.md has.',
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
  bad_namespace: {
    status: 404,
    message: () => 'namespace not found', // Wire text.
    remedy:
      'X-Vault-Namespace, or the name in the path, is that of no namespace: sys/namespaces lists those of the ' +
      'namespace that is asked.',
  },
  namespace_going: {
    status: 404,
    message: (path: string) => `no handler for route "${path}". route entry or namespace is tainted`, // Wire text.
    remedy: 'The namespace is being deleted. Make it again once sys/namespaces does not show it any more.',
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
  state_missing: {
    status: 412,
    message: () => 'required index state not present', // Wire text.
    remedy:
      'This cluster has not come as far as X-Vault-Index asks for: send the request again in a moment, with ' +
      'X-Vault-Inconsistent: await-state to have it wait for longer, or to the cluster that gave the value.',
  },
  write_lost: {
    status: 412,
    message: () => 'required index state not present: the write that it is of was lost in a failover or a restore',
    remedy:
      'It never arrives. Read what was written, write it again where it is missing, and go on with the X-Vault-Index ' +
      'of that answer: docs/consistency.md.',
  },
  body_too_large: {
    status: 413,
    message: (limitBytes: number) => `http: request body too large, the limit is ${limitBytes} bytes`, // Wire text.
    remedy:
      'Send less at once, or raise max_request_size of the listener. LIST, SCAN and HELP need no body: leave it out.',
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
  headers_too_large: {
    status: 431,
    message: () => 'The request headers are too large',
    remedy: 'Send at most 16 KiB of headers, the request line included.',
  },
  coding_unknown: {
    status: 501,
    message: () => 'Transfer-Encoding: only chunked is offered',
    remedy: 'Send the body as it is, with Content-Length or in chunks.',
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
} as const satisfies RefusalRows
