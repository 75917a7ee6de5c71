// The alias that a request names, and the mount that it is to have.
import { fail } from '../api/errors.ts'
import type { MountEntry } from '../api/mount.ts'
import type { Sight } from '../api/node-role.ts'
import type { IdentityParts } from './records.ts'

/**
 * The alias that a request names, of the namespace of the request; `id` undefined: it is named otherwise, or new.
 * `sight` missing: it sees all.
 */
export type AskedAlias = { readonly namespaceId: string; readonly id: string | undefined; readonly sight?: Sight }
/** The same with what the request sees, as its endpoint knows it. */
export type SoughtAlias = AskedAlias & { readonly sight: Sight }

/** What is said of an accessor that no login mount has, by what the request sees. */
const NO_MOUNT: Readonly<Record<Sight, string>> = {
  all: 'no login mount has this accessor: sys/auth lists them',
  shared:
    'no login mount that the clusters of the set share has this accessor; one that is local to a secondary has no ' +
    'aliases of groups, and no alias can move to it',
}
/** The same of the id of an alias. */
export const NO_ALIAS: Readonly<Record<Sight, string>> = {
  all: 'no alias has this id',
  shared:
    'no alias that the clusters of the set share has this id; one that is local to a secondary cannot move to a ' +
    'mount that they share: delete it, and make one there',
}

/** The login mount with the accessor that was sent. @throws Refusal if there is none */
export function loginMount({ mountOf }: IdentityParts, accessor: string, { sight = 'all' }: AskedAlias): MountEntry {
  const mount = mountOf(accessor)
  if (mount?.kind === 'auth') return mount
  throw fail('field_invalid', ['mount_accessor', NO_MOUNT[sight]])
}

/**
 * Checks the mount that an alias is to have. One that it has already may have moved to another namespace since: who
 * logs in there is still the same entity.
 * @throws Refusal if the mount is in another namespace than the request
 */
export function requireMountIn(namespaceId: string, mount: MountEntry, present: string | undefined): void {
  // Wire text.
  if (mount.namespace !== namespaceId && mount.accessor !== present)
    throw fail('other_namespace', ['matching mount is in a different namespace than request'])
}
