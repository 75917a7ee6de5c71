// Names that the server knows, for the shell to offer. It is asked once and briefly; a failure gives no names.
import type { Client } from './client.ts'
import type { Completes } from './command.ts'
import { exactMember, isList, isMembers, type Json } from './exact-json.ts'

/** A person at a prompt does not wait longer. */
const TIMEOUT = { retries: 0, timeoutMs: 500 }

/** Returns names for an argument of which `typed` is there. Never rejects; without a token nothing is asked. */
export async function serverNames(client: Client, kind: Completes, typed: string): Promise<readonly string[]> {
  if (client.token === undefined) return []
  const asker = client.with(TIMEOUT)
  try {
    return kind === 'path' ? await pathNames(asker, typed) : await FINDERS[kind](asker)
  } catch {
    return []
  }
}

/** The endpoints of the kinds. Names of mounts end in `/`, so the shell puts no blank behind them. */
const FINDERS = {
  policy: async (client: Client) => await listed(client, 'sys/policies/acl'),
  // Without the slash at the end: the commands take one name, and no path follows.
  namespace: async (client: Client) => (await listed(client, 'sys/namespaces')).map((name) => name.replace(/\/$/, '')),
  secrets: async (client: Client) => Object.keys(membersOf(await dataOf(client, 'sys/mounts'))),
  auth: async (client: Client) => Object.keys(membersOf(await dataOf(client, 'sys/auth'))),
}

/** Returns the mounts, or behind a slash the names in that folder. */
async function pathNames(client: Client, typed: string): Promise<readonly string[]> {
  const slash = typed.lastIndexOf('/')
  if (slash <= 0) {
    // Unlike sys/mounts it needs no right: it shows the mounts that the caller can reach.
    const mounts = await dataOf(client, 'sys/internal/ui/mounts')
    const logins = Object.keys(membersOf(exactMember(mounts, 'auth'))).map((path) => `auth/${path}`)
    return [...Object.keys(membersOf(exactMember(mounts, 'secret'))), ...logins]
  }
  const folder = typed.slice(0, slash)
  return (await listed(client, folder)).map((name) => `${folder}/${name}`)
}

async function listed(client: Client, path: string): Promise<readonly string[]> {
  const keys = exactMember(await dataOf(client, path, [['list', 'true']]), 'keys')
  return isList(keys) ? keys.filter((key) => typeof key === 'string') : []
}

async function dataOf(client: Client, path: string, query?: readonly (readonly [string, string])[]) {
  const { body } = await client.send({ doing: 'completing', method: 'GET', path, query })
  return exactMember(body, 'data')
}

function membersOf(value: Json | undefined): object {
  return isMembers(value) ? value : {}
}
