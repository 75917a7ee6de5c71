// The login methods that the command line knows by name: the path of their request, and the field that is asked for. A
// method need not exist on our server: people log in to others with the same command.

import { own } from '../lib/own.ts'
import { UsageError } from './cli-error.ts'
import { withMachine } from './cloud-machine.ts'
import type { Json } from './exact-json.ts'
import type { CliIo } from './io.ts'
import type { Data } from './key-values.ts'
import { readSecret, withoutLineEnd } from './secret-input.ts'

/** The request of a login method. */
type Method = {
  /** The field that goes into the path, behind `login/`. */
  readonly inPath?: string
  /** The field that is asked for without echo if it is missing, and its name at the prompt. */
  readonly secret?: readonly [field: string, label: string]
  /** Missing fields come from the metadata service of the machine. */
  readonly ofMachine?: true
}

const METHODS: Readonly<Record<string, Method>> = {
  userpass: { inPath: 'username', secret: ['password', 'Password'] },
  ldap: { inPath: 'username', secret: ['password', 'Password'] },
  radius: { inPath: 'username', secret: ['password', 'Password'] },
  okta: { inPath: 'username', secret: ['password', 'Password'] },
  approle: { secret: ['secret_id', 'Secret ID'] },
  jwt: { secret: ['jwt', 'JWT'] },
  kubernetes: { secret: ['jwt', 'JWT'] },
  azure: { ofMachine: true },
  cloud: { ofMachine: true },
  cert: {},
}

/** Values of -method. `token` is no method of a server: it keeps a token that the person has. */
export const LOGIN_METHODS = ['token', ...Object.keys(METHODS)]

/** The request of a login, without the token that a login does not have. */
export type LoginCall = { readonly path: string; readonly body: string }

/**
 * Makes the request of a login, asking for what is missing. Values from files lose their last line break.
 * @throws UsageError if there is no user name; CliError if the secret is empty
 */
export async function loginRequest(
  io: CliIo,
  { method, mount, metadataAddress }: { method: string; mount: string; metadataAddress: string },
  data: Data,
): Promise<LoginCall> {
  const { inPath, secret, ofMachine } = own(METHODS, method) ?? {}
  const given = new Map(
    [...data].map(([field, value]) => [field, typeof value === 'string' ? withoutLineEnd(value) : value]),
  )
  const fields = ofMachine === true ? await withMachine(io, metadataAddress, given) : given
  const name = inPath === undefined ? undefined : takeName(io, inPath, fields)
  if (secret !== undefined && !fields.has(secret[0])) fields.set(secret[0], await readSecret(io, secret[1]))
  const path = `auth/${mount}/login${name === undefined ? '' : `/${name}`}`
  return { path, body: JSON.stringify(Object.fromEntries(fields)) }
}

/** Takes the user name out of the fields. By default it is the name of the person on this machine. */
function takeName(io: CliIo, field: string, fields: Map<string, Json>): string {
  const name = fields.get(field) ?? io.env.USER ?? io.env.USERNAME
  fields.delete(field)
  if (typeof name === 'string' && name !== '' && !name.includes('/')) return name
  throw new UsageError(`${field}=NAME is missing: who logs in`)
}
