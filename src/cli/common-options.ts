// The options that commands share which talk to a server or print its answers. Most have two variables: our own comes
// first, then the one that the tools of the reference read, so that their environment works unchanged.
import type { OptionTable, OptionValues } from './options.ts'

/** Options of every command that talks to a server; `readConnection` turns their values into a connection. */
export const CONNECTION_OPTIONS = {
  address: {
    kind: 'text',
    value: 'URL',
    env: ['KEYWRIGHT_ADDR', 'VAULT_ADDR'],
    default: 'http://127.0.0.1:8200',
    about: 'Address of the server',
  },
  token: {
    kind: 'text',
    value: 'TOKEN',
    env: ['KEYWRIGHT_TOKEN', 'VAULT_TOKEN'],
    about: 'Token of the caller; without it the file ~/.vault-token is read. On the command line others may see it',
  },
  namespace: {
    kind: 'text',
    value: 'PATH',
    env: ['KEYWRIGHT_NAMESPACE', 'VAULT_NAMESPACE'],
    about: 'Namespace that the paths are in',
  },
  'ca-cert': {
    kind: 'text',
    value: 'FILE',
    env: ['KEYWRIGHT_CACERT', 'VAULT_CACERT'],
    about: 'PEM certificates that the certificate of the server must lead to, instead of the usual authorities',
  },
  'ca-path': {
    kind: 'text',
    value: 'DIR',
    env: ['KEYWRIGHT_CAPATH', 'VAULT_CAPATH'],
    about: 'Directory of such files',
  },
  'client-cert': {
    kind: 'text',
    value: 'FILE',
    env: ['KEYWRIGHT_CLIENT_CERT', 'VAULT_CLIENT_CERT'],
    about: 'PEM certificate that is shown to the server; -client-key belongs to it',
  },
  'client-key': {
    kind: 'text',
    value: 'FILE',
    env: ['KEYWRIGHT_CLIENT_KEY', 'VAULT_CLIENT_KEY'],
    about: 'PEM key of -client-cert, without a passphrase',
  },
  'tls-server-name': {
    kind: 'text',
    value: 'NAME',
    env: ['KEYWRIGHT_TLS_SERVER_NAME', 'VAULT_TLS_SERVER_NAME'],
    about: 'Name that the certificate of the server must have, instead of the one in the address',
  },
  'tls-skip-verify': {
    kind: 'flag',
    env: ['KEYWRIGHT_SKIP_VERIFY', 'VAULT_SKIP_VERIFY'],
    about: 'Accept any certificate: anybody on the way can then read the token',
  },
  header: { kind: 'texts', value: 'NAME=VALUE', about: 'Further header of every request' },
  timeout: {
    kind: 'text',
    value: 'DURATION',
    env: ['KEYWRIGHT_CLIENT_TIMEOUT', 'VAULT_CLIENT_TIMEOUT'],
    default: '60s',
    about: 'Longest silence of the server',
  },
  'max-retries': {
    kind: 'number',
    value: 'COUNT',
    env: ['KEYWRIGHT_MAX_RETRIES', 'VAULT_MAX_RETRIES'],
    default: 2,
    about: 'Further attempts after 412, 429 and 5xx but 501',
  },
  'disable-redirects': {
    kind: 'flag',
    env: ['KEYWRIGHT_DISABLE_REDIRECTS', 'VAULT_DISABLE_REDIRECTS'],
    about: 'Do not go to the active node where a standby names it',
  },
  'output-curl-string': { kind: 'flag', about: 'Print the request as a command of curl, and do not send it' },
  'output-policy': { kind: 'flag', about: 'Print the policy that the request needs, and do not send it' },
} as const satisfies OptionTable

/** Options of commands whose one answer may come wrapped. */
export const WRAP_OPTIONS = {
  'wrap-ttl': {
    kind: 'text',
    value: 'DURATION',
    env: ['KEYWRIGHT_WRAP_TTL', 'VAULT_WRAP_TTL'],
    about: 'Ask for the answer wrapped: what is printed is a token, under which `unwrap` finds it once, for so long',
  },
} as const satisfies OptionTable

/** Options of commands that print a result of their own: it has neither fields nor a raw form. */
export const RESULT_FORMAT_OPTION = {
  format: {
    kind: 'text',
    value: 'table|json',
    oneOf: ['table', 'json'],
    default: 'table',
    about: 'How the result is printed',
  },
} as const satisfies OptionTable

/** Options of commands that print an answer; `printAnswer` follows them. */
export const OUTPUT_OPTIONS = {
  format: {
    kind: 'text',
    value: 'table|json|yaml|raw',
    oneOf: ['table', 'json', 'yaml', 'raw'],
    env: ['KEYWRIGHT_FORMAT', 'VAULT_FORMAT'],
    default: 'table',
    about: 'How the answer is printed; raw: as it came',
  },
  field: {
    kind: 'text',
    value: 'NAME',
    about: 'Print one field only, without a line break at its end when the output is not a terminal',
  },
} as const satisfies OptionTable

/** Options of commands that read the answer themselves: wrapped, it would hide what they look for. */
export const UNWRAPPED_OPTIONS = { ...CONNECTION_OPTIONS, ...OUTPUT_OPTIONS } as const

/** Options of commands that pass one answer on, which is most of them. */
export const COMMON_OPTIONS = { ...CONNECTION_OPTIONS, ...WRAP_OPTIONS, ...OUTPUT_OPTIONS } as const

/** Values of CONNECTION_OPTIONS, with the wrapping of commands that have that option too. */
export type ConnectionValues = OptionValues<typeof CONNECTION_OPTIONS> & { readonly 'wrap-ttl'?: string | undefined }
/** Values of OUTPUT_OPTIONS. */
export type OutputValues = OptionValues<typeof OUTPUT_OPTIONS>
