// Endpoints that shares alone open need no token, unless the configuration of the listener asks for one.
import { fail } from '../api/errors.ts'
import type { RequestInfo } from '../api/request.ts'
import type { System } from './system.ts'

/** How such an endpoint is declared. */
export const KEY_HOLDER = { capability: 'none', body: 'plain', runsOn: 'writer' } as const

/** @throws Refusal where a token with sudo on the path is asked for and not there */
export async function admitKeyHolder(
  system: System,
  what: 'generateRoot' | 'rekey',
  path: string,
  { caller, operation }: RequestInfo,
): Promise<void> {
  if (system.facts.tokenAskedFor?.[what] !== true) return
  if (caller === undefined) throw fail('permission_denied', [])
  const acl = await system.policies.acl(caller.policies)
  if (!acl.check({ operation, path: `sys/${path}`, parameters: undefined, sudoRequired: true }).allowed)
    throw fail('permission_denied', [])
}
