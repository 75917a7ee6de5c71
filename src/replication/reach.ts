// What of the data of a set a secondary for performance gets, where a filter keeps some of it from there (Interface
// 2.5). It is judged by scopes of the tree, so that entries, records and digests are judged alike.
//
//   NS/UUID                      data and entries of a mount: by its UUID alone, since a mount may have moved
//   NS/system                    what belongs to a namespace and to none of its mounts: by the id of the namespace
//   root/namespace/PARENT/NAME   the entry of a namespace, which names it: by that name
import { sha256 } from '../crypto/primitives/digest.ts'
import { SYSTEM_SCOPE } from '../storage/contract.ts'
import { ENTRY_SCOPES, treeScopeOf } from '../storage/log/tree.ts'

/**
 * Mounts by their UUIDs; ids of namespaces, with the names of their entries, which are `PARENT/NAME`. `lacksNothing`:
 * the filter keeps nothing back now, though it may keep what is made next.
 */
export type SetReach = {
  readonly mounts: ReadonlySet<string>
  readonly namespaces: ReadonlyMap<string, string>
  readonly lacksNothing: boolean
}

/** The entry that the root has not. */
export const NO_ENTRY = ''

/** Tells for a scope of the tree whether a secondary gets it. Undefined: it gets everything. */
export function reachedScopes(reach: SetReach | undefined): (scope: string) => boolean {
  if (reach === undefined) return () => true
  const { mounts, namespaces } = reach
  const entries = new Set(namespaces.values())
  return (scope) => {
    if (scope.startsWith(ENTRY_SCOPES)) return entries.has(scope.slice(ENTRY_SCOPES.length))
    const [namespace = '', of = ''] = scope.split('/', 2)
    return of === SYSTEM_SCOPE ? namespaces.has(namespace) : mounts.has(of)
  }
}

/** Tells for a stored key whether a secondary gets its entry. */
export function reachedKeys(reach: SetReach | undefined): (key: string) => boolean {
  const isReached = reachedScopes(reach)
  return (key) => isReached(treeScopeOf(key))
}

/** SHA-256 of a reach: two that are equal have the same. Undefined for everything. */
export function digestOfReach(reach: SetReach | undefined): Buffer | undefined {
  if (reach === undefined) return undefined
  const mounts = [...reach.mounts].sort()
  const namespaces = [...reach.namespaces].map(([id, entry]) => `${id} ${entry}`).sort()
  return sha256(Buffer.from([String(reach.lacksNothing), ...mounts, '', ...namespaces].join('\n')))
}

/** True if both are of the same reach. */
export const areSameReach = (one: SetReach | undefined, other: SetReach | undefined): boolean =>
  haveSameDigest(digestOfReach(one), digestOfReach(other))

/** As `areSameReach`, by their digests. */
export const haveSameDigest = (one: Buffer | undefined, other: Buffer | undefined): boolean =>
  one === undefined || other === undefined ? one === other : one.equals(other)
