// Environment variables that stand for keys of the configuration. They are read like a last file, and win over the
// others, as with the reference.
import type { HclObject } from '../lib/hcl-tree.ts'
import { own } from '../lib/own.ts'

/** Prefixes of the variables; the first one that is set counts. */
export const PREFIXES = ['KEYWRIGHT_', 'VAULT_', 'BAO_'] as const

/** Keys of the configuration by the name of their variable, without its prefix. */
export const ENVIRONMENT: ReadonlyMap<string, string> = new Map([
  ['API_ADDR', 'api_addr'],
  ['CLUSTER_ADDR', 'cluster_addr'],
  ['CLUSTER_NAME', 'cluster_name'],
  ['EDITION', 'edition'],
])

/** Returns the first variable of that name that is set; an empty one counts as unset. */
export function firstOf(
  env: NodeJS.ProcessEnv,
  name: string,
): { readonly variable: string; readonly value: string } | undefined {
  for (const prefix of PREFIXES) {
    const value = own(env, prefix + name)
    if (value !== undefined && value !== '') return { variable: prefix + name, value }
  }
  return undefined
}

/** Returns each variable that is set as a parsed file of one key, so that the same rules and messages apply to it. */
export function environmentBodies(
  env: NodeJS.ProcessEnv,
): readonly { readonly variable: string; readonly body: HclObject }[] {
  return [...ENVIRONMENT].flatMap(([name, key]) => {
    const found = firstOf(env, name)
    if (found === undefined) return []
    const value = { kind: 'string', value: found.value } as const
    const item = { key, labels: [], value, line: 1, column: 1 }
    return [{ variable: found.variable, body: { kind: 'object', items: [item] } as const }]
  })
}
