// The login methods that the command line knows by name: where their request goes, and what it asks for.

import { own } from '../lib/own.ts'
import { UsageError } from './cli-error.ts'
import { withMachine } from './cloud-machine.ts'
import type { Json } from './exact-json.ts'
import type { CliIo } from './io.ts'
import type { Data } from './key-values.ts'
import { readSecret, withoutLineEnd } from './secret-input.ts'

type Method = {
  /** The field that stands in the path, behind `login/`. */
  readonly inPath?: string
  /** The field that is asked for where it is missing, hidden, and how it is called. */
  readonly secret?: readonly [field: string, label: string]
  /** What is missing is asked of the machine’s cloud. */
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

export const LOGIN_METHODS = ['token', ...Object.keys(METHODS)]

export type LoginCall = { readonly path: string; readonly body: string }

/** @throws UsageError where the user name is missing; CliError where the secret is, and nobody can be asked for it */
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

/** By default, who the person is on this machine. */
function takeName(io: CliIo, field: string, fields: Map<string, Json>): string {
  const name = fields.get(field) ?? io.env.USER ?? io.env.USERNAME
  fields.delete(field)
  if (typeof name === 'string' && name !== '' && !name.includes('/')) return name
  throw new UsageError(`${field}=NAME is missing: who logs in`)
}
