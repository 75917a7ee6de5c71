// What the commands take that lead a cluster to a primary, or look whether that would work.
import type { CommandCall } from './command.ts'
import { UNWRAPPED_OPTIONS } from './common-options.ts'
import type { OptionTable, OptionValues } from './options.ts'
import { FAMILY_OPTION } from './replication-status.ts'
import { readTypedSecret } from './typed-text.ts'

/** Their argument, for the help. */
export const ACTIVATION_USAGE = '[TOKEN | @FILE | -]'

/** The paragraph of their help about it. */
export const ABOUT_ACTIVATION_TOKEN =
  'The activation token is that of `operator replication secondary-token` on the primary. Without an argument it is ' +
  'asked for without echo, or read from standard input if that is not a terminal. @FILE and - read a file and ' +
  'standard input. A TOKEN on the command line stays in the history of the shell, and other users of ' +
  'the machine can see it.'

/** Options about the API of the primary, as the server that is asked reaches it. */
const WAY_OPTIONS = {
  'primary-api-addr': {
    kind: 'text',
    value: 'URL',
    about: 'Address of the API of the primary, instead of the one in the activation token',
  },
  'primary-ca-file': {
    kind: 'text',
    value: 'FILE',
    about:
      'PEM file, on the server, of the CA certificates that the API of the primary must chain to; by default those ' +
      'of the system of the server',
  },
  'primary-ca-path': {
    kind: 'text',
    value: 'DIR',
    about: 'Directory, on the server, of PEM files of such CA certificates',
  },
} as const satisfies OptionTable

/** Their options. `-token`, `-ca-cert` and `-ca-path` are about the server that is asked, and not about the primary. */
export const ACTIVATION_OPTIONS = {
  ...FAMILY_OPTION,
  ...WAY_OPTIONS,
  ...UNWRAPPED_OPTIONS,
} as const satisfies OptionTable

/** Reads the activation token and returns the body of the request. @throws CliError */
export async function activationBody({ io, options, args }: CommandCall<typeof ACTIVATION_OPTIONS>): Promise<string> {
  const token = await readTypedSecret(io, args[0], 'activation token')
  return JSON.stringify({ token, ...waysToPrimary(options) })
}

/** The fields about how the server reaches the API of the primary. */
export function waysToPrimary(options: OptionValues<typeof WAY_OPTIONS>): object {
  const { 'primary-api-addr': address, 'primary-ca-file': file, 'primary-ca-path': directory } = options
  return { primary_api_addr: address, ca_file: file, ca_path: directory }
}
