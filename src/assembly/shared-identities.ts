// The entities of logins, on a cluster that may follow a primary. An entity and its alias at a shared mount belong to
// the whole set, so the primary makes them; the token that follows is made here.
import type { ErrorCode } from '../api/errors.ts'
import { fail, Refusal } from '../api/errors.ts'
import type { Identities } from '../auth/subject.ts'
import type { ToPrimary } from '../core/handed.ts'
import { WriteNotAllowed } from '../storage/contract.ts'

/** The primary, as a cluster that may follow one knows it. */
type Primary = { readonly toPrimary: () => ToPrimary | undefined; readonly primaryAddress: () => string }

/**
 * Returns identities that ask the primary where this cluster may not write. A login writes nothing if nothing changed,
 * so known callers log in without the primary, also while it cannot be reached.
 */
export function sharedIdentities(identities: Identities, primary: Primary): Identities {
  return {
    findEntityOfLogin: (mount, alias) => identities.findEntityOfLogin(mount, alias),
    removeMount: (mount) => identities.removeMount(mount),
    subject: (entityId) => identities.subject(entityId),
    entityOfLogin: (mount, alias, groups) =>
      orPrimary(
        primary,
        () => identities.entityOfLogin(mount, alias, groups),
        (to) => to.ensureEntity({ mount: mount.uuid, alias, groups }),
        () => identities.findEntityOfLogin(mount, alias),
      ),
    groupsOfLogin: (mount, entityId, groups) =>
      orPrimary(
        primary,
        () => identities.groupsOfLogin(mount, entityId, groups),
        (to) => to.setGroups({ mount: mount.uuid, entityId, groups }),
        async () => undefined,
      ),
  }
}

/** Refusals that say nothing of the caller: the primary was not asked, or gave no answer. */
const WITHOUT_PRIMARY: readonly ErrorCode[] = ['not_primary', 'primary_unreachable', 'primary_silent']

/**
 * Does `here`; where that is not allowed, `there`. `known` is the answer if the primary cannot be asked; undefined if
 * there is none without it.
 */
async function orPrimary<T>(
  { toPrimary, primaryAddress }: Primary,
  here: () => Promise<T>,
  there: (to: ToPrimary) => Promise<T>,
  known: () => Promise<T | undefined>,
): Promise<T> {
  try {
    return await here()
  } catch (cause) {
    if (!(cause instanceof WriteNotAllowed) || cause.storageClass !== 'replicated') throw cause
  }
  try {
    const to = toPrimary()
    if (to === undefined) throw fail('not_primary', [true, primaryAddress()])
    return await there(to)
  } catch (cause) {
    if (!(cause instanceof Refusal) || !WITHOUT_PRIMARY.includes(cause.code)) throw cause
    const found = await known()
    if (found === undefined) throw cause
    return found
  }
}
