// The options that commands share which talk to a server or print its answers. Most have two variables: our own comes
// first, then the one that the tools of the reference read, so that their environment works unchanged. The namespace
// has a third, that of the reference's fork, which wins over the first there.
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
    about:
      'Token to authenticate with; by default the one in ~/.vault-token. Other users may see it on the command line',
  },
  namespace: {
    kind: 'text',
    value: 'PATH',
    alias: 'ns',
    env: ['KEYWRIGHT_NAMESPACE', 'BAO_NAMESPACE', 'VAULT_NAMESPACE'],
    emptyEnv: ['BAO_NAMESPACE'],
    about: 'Namespace of the paths; empty: the root',
  },
  'ca-cert': {
    kind: 'text',
    value: 'FILE',
    env: ['KEYWRIGHT_CACERT', 'VAULT_CACERT'],
    about: 'PEM file of the CA certificates that the server certificate must chain to, instead of the default CAs',
  },
  'ca-path': {
    kind: 'text',
    value: 'DIR',
    env: ['KEYWRIGHT_CAPATH', 'VAULT_CAPATH'],
    about: 'Directory of PEM files of CA certificates',
  },
  'client-cert': {
    kind: 'text',
    value: 'FILE',
    env: ['KEYWRIGHT_CLIENT_CERT', 'VAULT_CLIENT_CERT'],
    about: 'PEM certificate to present to the server; needs -client-key',
  },
  'client-key': {
    kind: 'text',
    value: 'FILE',
    env: ['KEYWRIGHT_CLIENT_KEY', 'VAULT_CLIENT_KEY'],
    about: 'PEM private key of -client-cert, without a passphrase',
  },
  'tls-server-name': {
    kind: 'text',
    value: 'NAME',
    env: ['KEYWRIGHT_TLS_SERVER_NAME', 'VAULT_TLS_SERVER_NAME'],
    about: 'Name to expect in the server certificate, instead of the host in the address',
  },
  'tls-skip-verify': {
    kind: 'flag',
    env: ['KEYWRIGHT_SKIP_VERIFY', 'VAULT_SKIP_VERIFY'],
    about: 'Accept any server certificate: anyone on the network path can then read the token',
  },
  header: { kind: 'texts', value: 'NAME=VALUE', about: 'Additional header for every request' },
  timeout: {
    kind: 'text',
    value: 'DURATION',
    env: ['KEYWRIGHT_CLIENT_TIMEOUT', 'VAULT_CLIENT_TIMEOUT'],
    default: '60s',
    about: 'Longest wait without receiving data from the server',
  },
  'max-retries': {
    kind: 'number',
    value: 'COUNT',
    env: ['KEYWRIGHT_MAX_RETRIES', 'VAULT_MAX_RETRIES'],
    default: 2,
    about: 'Retries after status 412, 429 and 5xx except 501',
  },
  'disable-redirects': {
    kind: 'flag',
    env: ['KEYWRIGHT_DISABLE_REDIRECTS', 'VAULT_DISABLE_REDIRECTS'],
    about: 'Do not follow a redirect from a standby to the active node',
  },
  'output-curl-string': { kind: 'flag', about: 'Print the request as a curl command instead of sending it' },
  'output-policy': { kind: 'flag', about: 'Print the policy that the request needs instead of sending it' },
} as const satisfies OptionTable

/** Options of commands whose one answer may come wrapped. */
export const WRAP_OPTIONS = {
  'wrap-ttl': {
    kind: 'text',
    value: 'DURATION',
    env: ['KEYWRIGHT_WRAP_TTL', 'VAULT_WRAP_TTL'],
    about: 'Wrap the answer: print a single-use token with this lifetime, from which `unwrap` gets the answer',
  },
} as const satisfies OptionTable

/** Options of commands that print a result of their own: it has neither fields nor a raw form. */
export const RESULT_FORMAT_OPTION = {
  format: {
    kind: 'text',
    value: 'table|json',
    oneOf: ['table', 'json'],
    default: 'table',
    about: 'Format of the result',
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
    about: 'Format of the answer; raw prints it as the server sent it',
  },
  field: {
    kind: 'text',
    value: 'NAME',
    about: 'Print only this field, with a line break at the end only on a terminal',
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
