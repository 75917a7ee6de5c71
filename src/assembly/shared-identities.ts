// The entities of logins, on a cluster that may follow a primary. An entity and its alias at a shared mount belong to
// the whole set, so the primary makes them; groups and the token that follow are set and made here.
import type { ErrorCode } from '../api/errors.ts'
import { fail, Refusal } from '../api/errors.ts'
import type { EnsuredEntity, WantedEntity } from '../api/login.ts'
import type { Consistency } from '../core/consistency.ts'
import type { ToPrimary } from '../core/handed.ts'
import type { AskEntity, OrPrimary } from '../identity/identity-store.ts'
import { WriteNotAllowed } from '../storage/errors.ts'

/** The primary, as a cluster that may follow one knows it. */
type Primary = {
  readonly toPrimary: () => ToPrimary | undefined
  readonly primaryAddress: () => string
  readonly consistency: Pick<Consistency, 'arrived'>
}

/** Refusals that say nothing of the caller: the primary was not asked, or gave no answer. */
const WITHOUT_PRIMARY: readonly ErrorCode[] = [
  'not_primary',
  'primary_unreachable',
  'primary_leaves',
  'primary_busy',
  'primary_silent',
]

/**
 * Returns what asks the primary where this cluster may not write for the set. A login writes nothing if nothing
 * changed, so known callers log in without the primary, also while it cannot be reached.
 */
export function sharedEntities(primary: Primary): OrPrimary {
  const ask: AskEntity = async (wanted, known) => {
    try {
      return await asked(primary, wanted)
    } catch (cause) {
      if (!(cause instanceof Refusal) || !WITHOUT_PRIMARY.includes(cause.code)) throw cause
      const found = await known?.()
      if (found === undefined) throw cause
      return found
    }
  }
  return async (here, there) => {
    try {
      return await here()
    } catch (cause) {
      if (!(cause instanceof WriteNotAllowed) || cause.storageClass !== 'replicated') throw cause
      return there(ask, cause)
    }
  }
}

async function asked(
  { toPrimary, primaryAddress, consistency }: Primary,
  wanted: WantedEntity,
): Promise<EnsuredEntity> {
  const to = toPrimary()
  if (to === undefined) throw fail('not_primary', [true, primaryAddress()])
  const { entity, written } = await to.ensureEntity(wanted)
  await consistency.arrived(written)
  return entity
}
