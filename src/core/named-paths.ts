// A body may name what a path could name. What a rule says of that path holds then too: else a key that nobody may
// restore under `restore/NAME` would be restored by its name in the body.
import type { Acl } from '../auth/acl.ts'
import { understood } from '../auth/parameter-values.ts'
import type { AclRequest } from '../auth/permissions.ts'
import type { JsonObject } from '../lib/json.ts'
import { own } from '../lib/own.ts'
import type { Exchange } from './exchange.ts'
import type { Surroundings } from './surroundings.ts'

/**
 * What is asked of the first path that the body names and a rule refuses; undefined where there is none. A rule that is
 * about the request's own path as well has had its say, and where there is no rule the right to that path is enough.
 */
export function refusedByName(exchange: Exchange, acl: Acl, { mounts }: Surroundings): AclRequest | undefined {
  const { endpoint, input, mounted, pathParameters, path, wrapTtlSeconds } = exchange
  if (endpoint?.alsoNames === undefined || input === undefined || mounted === undefined || acl.isRoot) return undefined
  const sent = (field: string): readonly string[] => namesIn(exchange, input, field)
  for (const { field, operation, at, onlyDenials, foldsNone } of endpoint.alsoNames) {
    if (Object.hasOwn(pathParameters, field)) continue
    for (const name of sent(field)) {
      const named = at(name, pathParameters, (other) => sent(other)[0])
      if (named === undefined) continue
      const whole = mounted.entry.path + named
      const spelled = foldsNone === true ? { path: whole } : mounts.spelled(whole)
      const sudoRequired = endpoint.sudo === true
      const request = { operation, ...spelled, parameters: input, declared: endpoint, sudoRequired, wrapTtlSeconds }
      const refusal = acl.refusalBeside(request, path)
      if (refusal !== undefined && (onlyDenials !== true || refusal.reason === 'denied-by-rule')) return request
    }
  }
  return undefined
}

/** As the endpoint understands them, by all names of the field; what it refuses or ignores names nothing. */
function namesIn({ endpoint }: Exchange, input: JsonObject, field: string): readonly string[] {
  return [field, ...(endpoint?.otherNames?.get(field) ?? [])].flatMap((name) => {
    const declared = endpoint && own(endpoint.fields, name)
    if (declared === undefined || !Object.hasOwn(input, name)) return []
    return understood(declared, own(input, name))?.parts.filter((part) => part !== '') ?? []
  })
}
