// The options and requests that the commands about files under transit keys share.
import { cleanPath } from './api-path.ts'
import { RemoteFailure, UsageError } from './cli-error.ts'
import { CONNECTION_OPTIONS } from './common-options.ts'
import type { OptionTable, OptionValues } from './options.ts'

/** Options of these commands. `-key` is needed; `transitPath` refuses to go on without it. */
export const TRANSIT_OPTIONS = {
  key: { kind: 'text', value: 'NAME', about: 'Name of the transit key (required)' },
  mount: { kind: 'text', value: 'PATH', default: 'transit', about: 'Where the transit engine is mounted' },
  context: { kind: 'text', value: 'BASE64', about: 'Key derivation context; required for derived keys' },
  out: { kind: 'text', value: 'FILE', about: 'Output file; - is standard output' },
  force: { kind: 'flag', short: 'f', about: 'Overwrite the output file if it exists' },
  ...CONNECTION_OPTIONS,
} as const satisfies OptionTable

/** Values that paths and contexts are made of. */
export type TransitValues = Pick<OptionValues<typeof TRANSIT_OPTIONS>, 'key' | 'mount' | 'context'>

/** The end of the names of encrypted files. */
export const ENCRYPTED_SUFFIX = '.kw'

/** Returns the path of an operation with the key of the options. @throws UsageError if there is no key */
export function transitPath(options: Pick<TransitValues, 'key' | 'mount'>, operation: string): string {
  const { key, mount } = options
  if (key === undefined || key === '') throw new UsageError('-key=NAME is missing: the transit key to use')
  if (key.includes('/')) throw new UsageError('-key is a name without slashes; -mount says where the engine is')
  return cleanPath(`${mount}/${operation}/${key}`)
}

/** Returns the member of a request that carries the context of a derived key (Interface 4.3), if one was given. */
export function contextField({ context }: TransitValues): { context?: string } {
  return context === undefined ? {} : { context }
}

/** Makes the error of an answer without the member that was asked for. */
export function missingResult(doing: string, what: string): RemoteFailure {
  return new RemoteFailure(`Error ${doing}: the answer has no ${what}`)
}
