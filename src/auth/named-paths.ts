// A body may name what a path could name. What a rule says of that path holds then too: else a key that nobody may
// restore under `restore/NAME` would be restored by its name in the body.
import type { Endpoint } from '../api/endpoint.ts'
import type { Mounts } from '../api/mount.ts'
import type { JsonObject } from '../lib/json.ts'
import { own } from '../lib/own.ts'
import type { Acl } from './acl.ts'
import { understood } from './parameter-values.ts'
import type { AclRequest } from './permissions.ts'

export type Naming = {
  readonly endpoint: Endpoint
  readonly mountPath: string
  /** The whole one of the request, and the names in it. */
  readonly path: string
  readonly pathParameters: Readonly<Record<string, string>>
  readonly input: JsonObject
  readonly wrapTtlSeconds: number
}

/**
 * What is asked of the first path that the body names and a rule refuses; undefined where there is none. A rule that is
 * about the request's own path as well has had its say, and where there is no rule the right to that path is enough.
 */
export function refusedByName(naming: Naming, acl: Acl, mounts: Pick<Mounts, 'spelled'>): AclRequest | undefined {
  const { endpoint, input, mountPath, pathParameters, path, wrapTtlSeconds } = naming
  if (endpoint.alsoNames === undefined || acl.isRoot) return undefined
  const sent = (field: string): readonly string[] => namesIn(endpoint, input, field)
  for (const { field, operation, at, onlyDenials, foldsNone } of endpoint.alsoNames) {
    if (Object.hasOwn(pathParameters, field)) continue
    for (const name of sent(field)) {
      const named = at(name, pathParameters, (other) => sent(other)[0])
      if (named === undefined) continue
      const whole = mountPath + named
      const spelled = foldsNone === true ? { path: whole } : mounts.spelled(whole)
      const sudoRequired = endpoint.sudo === true
      const request = { operation, ...spelled, parameters: input, declared: endpoint, sudoRequired, wrapTtlSeconds }
      const refusal = acl.refusalBeside(request, path)
      if (refusal !== undefined && (onlyDenials !== true || refusal.reason === 'denied-by-rule')) return request
    }
  }
  return undefined
}

type Place = Pick<Naming, 'endpoint' | 'mountPath' | 'path' | 'pathParameters' | 'wrapTtlSeconds'>

/**
 * What is asked of another path that does the same, where a rule denies it there: who was kept from one door must not
 * take the other (threats T-09). A rule that is about both has had its say.
 */
export function deniedAtTwin(
  { endpoint, mountPath, path, pathParameters, wrapTtlSeconds }: Place,
  operation: AclRequest['operation'],
  acl: Acl,
  mounts: Pick<Mounts, 'spelled'>,
): AclRequest | undefined {
  if (endpoint.twins === undefined || acl.isRoot) return undefined
  for (const twin of endpoint.twins(pathParameters)) {
    const request = { operation, ...mounts.spelled(mountPath + twin), isUnread: true, wrapTtlSeconds }
    if (acl.refusalBeside(request, path)?.reason === 'denied-by-rule') return request
  }
  return undefined
}

/** As the endpoint understands them, by all names of the field; what it refuses or ignores names nothing. */
function namesIn(endpoint: Endpoint, input: JsonObject, field: string): readonly string[] {
  return [field, ...(endpoint.otherNames?.get(field) ?? [])].flatMap((name) => {
    const declared = own(endpoint.fields, name)
    if (declared === undefined || !Object.hasOwn(input, name)) return []
    return understood(declared, own(input, name))?.parts.filter((part) => part !== '') ?? []
  })
}
