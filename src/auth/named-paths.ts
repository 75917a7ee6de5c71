// Some bodies name what a path could name. Rules about that path must hold for them too: otherwise a key denied under
// `restore/NAME` could be restored by its name in the body.
import type { Endpoint } from '../api/endpoint.ts'
import type { Mounts } from '../api/mount.ts'
import type { JsonObject } from '../lib/json.ts'
import { own } from '../lib/own.ts'
import type { Acl } from './acl.ts'
import { understood } from './parameter-values.ts'
import type { AclRequest } from './permissions.ts'

/** A request whose body may name other paths, as far as their rules need to know it. */
export type Naming = {
  readonly endpoint: Endpoint
  readonly mountPath: string
  /** The full path of the request; `pathParameters` are the names captured from it. */
  readonly path: string
  readonly pathParameters: Readonly<Record<string, string>>
  readonly input: JsonObject
  readonly wrapTtlSeconds: number
}

/**
 * Returns the first path named in the body that a rule refuses, as the request it stands for; undefined if there is
 * none. A rule that is also about the request's own path was judged before. A path without a rule is allowed: the right
 * to the request's own path is enough.
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

type TwinRequest = Pick<Naming, 'endpoint' | 'mountPath' | 'path' | 'pathParameters' | 'wrapTtlSeconds'>

/**
 * Returns the request to another path of the same operation that a rule denies; undefined if there is none. A caller
 * denied at one path must not reach the same thing by another (threats T-09). A rule about both paths was judged
 * before.
 */
export function deniedAtTwin(
  { endpoint, mountPath, path, pathParameters, wrapTtlSeconds }: TwinRequest,
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

/**
 * Returns the names in a field, as the endpoint understands them, under all names of the field. Values that the
 * endpoint refuses or ignores name nothing.
 */
function namesIn(endpoint: Endpoint, input: JsonObject, field: string): readonly string[] {
  return [field, ...(endpoint.otherNames?.get(field) ?? [])].flatMap((name) => {
    const declared = own(endpoint.fields, name)
    if (declared === undefined || !Object.hasOwn(input, name)) return []
    return understood(declared, own(input, name))?.parts.filter((part) => part !== '') ?? []
  })
}
