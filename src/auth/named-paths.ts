// Some bodies name what a path could name. Rules about that path must hold for them too: otherwise a key denied under
// `restore/NAME` could be restored by its name in the body.
import type { Endpoint } from '../api/endpoint.ts'
import type { Mounts } from '../api/mount.ts'
import { type Namespace, type Namespaces, pathWithin } from '../api/namespace.ts'
import type { JsonObject } from '../lib/json.ts'
import { own } from '../lib/own.ts'
import { withoutLastSlashes } from '../lib/slashes.ts'
import type { Acl } from './acl.ts'
import { understood } from './parameter-values.ts'
import type { AclRequest } from './permissions.ts'

/** A request whose body may name other paths, as far as their rules need to know it. */
export type Naming = {
  readonly endpoint: Endpoint
  readonly namespace: Namespace
  /** The full path of the mount. */
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
export function refusedByName(naming: Naming, acl: Acl, among: Among): AclRequest | undefined {
  const { endpoint, input, pathParameters, path, wrapTtlSeconds } = naming
  if (endpoint.alsoNames === undefined || acl.isRoot) return undefined
  const sent = (field: string): readonly string[] => namesIn(endpoint, input, field)
  for (const { field, operation, at, onlyDenials, foldsNone, mayLieBelow } of endpoint.alsoNames) {
    if (Object.hasOwn(pathParameters, field)) continue
    for (const name of sent(field)) {
      for (const { mountPath, within } of placesOf(naming, among, mayLieBelow === true ? name : undefined)) {
        const named = at(within ?? name, pathParameters, (other) => sent(other)[0])
        if (named === undefined) continue
        const whole = mountPath + named
        const spelled = foldsNone === true ? { path: whole } : among.mounts.spelled(whole)
        const sudoRequired = endpoint.sudo === true
        const request = { operation, ...spelled, parameters: input, declared: endpoint, sudoRequired, wrapTtlSeconds }
        const refusal = acl.refusalBeside(request, path)
        const isDenied = refusal?.reason === 'denied-by-rule'
        if (refusal !== undefined && (isDenied || (onlyDenials !== true && within === undefined))) return request
      }
    }
  }
  return undefined
}

/** What is there to be named. */
export type Among = {
  readonly mounts: Pick<Mounts, 'spelled'>
  readonly namespaces: Pick<Namespaces, 'around'>
}

/** A mount of the endpoint, and how the named mount is called there; undefined: as it was sent. */
type Place = { readonly mountPath: string; readonly within?: string }

/** Where rules about a named mount may be: here, and in the namespace below in which it lies. */
function placesOf(
  { namespace, mountPath }: Pick<Naming, 'namespace' | 'mountPath'>,
  { namespaces }: Among,
  mount: string | undefined,
): readonly Place[] {
  const own = { mountPath }
  if (mount === undefined) return [own]
  const full = `${namespace.path}${mount}/`
  const inner = namespaces.around(full)
  if (inner.id === namespace.id) return [own]
  const within = withoutLastSlashes(pathWithin(inner, full))
  return [own, { mountPath: inner.path + pathWithin(namespace, mountPath), within }]
}

type TwinRequest = Pick<Naming, 'endpoint' | 'namespace' | 'mountPath' | 'path' | 'pathParameters' | 'wrapTtlSeconds'>

/**
 * Returns the request to another path of the same operation that a rule denies; undefined if there is none. A caller
 * denied at one path must not reach the same thing by another (threats T-09). A rule about both paths was judged
 * before.
 */
export function deniedAtTwin(
  request: TwinRequest,
  operation: AclRequest['operation'],
  acl: Acl,
  among: Among,
): AclRequest | undefined {
  if (acl.isRoot) return undefined
  for (const twin of twinsOf(request, among)) {
    const { path, wrapTtlSeconds } = request
    const asked = { operation, ...among.mounts.spelled(twin), isUnread: true, wrapTtlSeconds }
    if (acl.refusalBeside(asked, path)?.reason === 'denied-by-rule') return asked
  }
  return undefined
}

/** The full paths that do the same. Of a mount that lies in a namespace below, its own path there is one, too. */
function twinsOf(request: TwinRequest, among: Among): readonly string[] {
  const { endpoint, path, pathParameters } = request
  const { mayLieBelow: name, twins = () => [] } = endpoint
  const mount = name === undefined ? undefined : own(pathParameters, name)
  return placesOf(request, among, mount).flatMap(({ mountPath, within }) => {
    if (name === undefined || mount === undefined || within === undefined)
      return twins(pathParameters).map((twin) => mountPath + twin)
    const there = { ...pathParameters, [name]: within }
    const itself = path.slice(request.mountPath.length).replace(mount, within)
    return [itself, ...twins(there)].map((twin) => mountPath + twin)
  })
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
