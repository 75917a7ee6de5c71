// The options that all commands share which talk to a server or print what it answered. Each has a variable of our own
// and the one that the tools of the reference read.
import type { OptionTable, OptionValues } from './options.ts'

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
  'tls-skip-verify': {
    kind: 'flag',
    env: ['KEYWRIGHT_SKIP_VERIFY', 'VAULT_SKIP_VERIFY'],
    about: 'Accept any certificate: anybody on the way can then read the token',
  },
} as const satisfies OptionTable

export const OUTPUT_OPTIONS = {
  format: {
    kind: 'text',
    value: 'table|json',
    oneOf: ['table', 'json'],
    env: ['KEYWRIGHT_FORMAT', 'VAULT_FORMAT'],
    default: 'table',
    about: 'How the answer is printed',
  },
  field: {
    kind: 'text',
    value: 'NAME',
    about: 'Print one field only, without a line break at its end when the output is not a terminal',
  },
} as const satisfies OptionTable

export const COMMON_OPTIONS = { ...CONNECTION_OPTIONS, ...OUTPUT_OPTIONS } as const

export type ConnectionValues = OptionValues<typeof CONNECTION_OPTIONS>
export type OutputValues = OptionValues<typeof OUTPUT_OPTIONS>
