// Writes to a role, and warnings for its author.
import { fail } from '../../api/errors.ts'
import type { Args } from '../../api/fields.ts'
import { changedSettings, oldNamesUsed, type TOKEN_FIELDS } from '../../api/token-settings.ts'
import { formatDuration } from '../../lib/duration.ts'
import { isGuid } from './names.ts'
import { type Bounds, type CloudRole, NO_BOUNDS, narrows } from './roles.ts'

/** A write as it was decoded; what was not sent is undefined. */
export type GivenRole = Partial<Args<typeof TOKEN_FIELDS>> & {
  readonly bound_service_principal_ids?: readonly string[] | undefined
  readonly bound_group_ids?: readonly string[] | undefined
  readonly bound_subscription_ids?: readonly string[] | undefined
  readonly bound_resource_groups?: readonly string[] | undefined
  readonly bound_locations?: readonly string[] | undefined
  readonly bound_scale_sets?: readonly string[] | undefined
  readonly policies?: readonly string[] | undefined
  readonly ttl?: number | undefined
  readonly max_ttl?: number | undefined
  readonly period?: number | undefined
  readonly num_uses?: number | undefined
}

/** Characters of one entry of a list. */
const MAX_BOUND_CHARACTERS = 256

/**
 * Merges a write into the role. `mostSeconds` is the longest TTL that the mount allows. A role without any bound is
 * refused, since it would admit everyone (threats L-03).
 * @throws Refusal
 */
export function changedCloudRole(given: GivenRole, before: CloudRole | undefined, mostSeconds: number): CloudRole {
  const settings = changedSettings(
    {
      ...given,
      token_period: given.token_period ?? given.period,
      token_num_uses: given.token_num_uses ?? given.num_uses,
    },
    before?.settings,
  )
  if (settings.periodSeconds > mostSeconds)
    throw fail('out_of_range', [
      // Wire text.
      `token period of "${formatDuration(settings.periodSeconds)}" is greater than the backend's maximum lease TTL ` +
        `of "${formatDuration(mostSeconds)}"`,
    ])
  const bounds = changedBounds(given, before?.bounds)
  if (Object.values(bounds).every((list) => list.length === 0))
    throw fail('role_unbound', ['must have at least one bound constraint when creating/updating a role']) // Wire text.
  return { bounds, settings, oldNames: oldNamesUsed(given, before?.oldNames) }
}

function changedBounds(given: GivenRole, before: Bounds = NO_BOUNDS): Bounds {
  return {
    principals: listOf('bound_service_principal_ids', given, before.principals),
    groups: listOf('bound_group_ids', given, before.groups),
    subscriptions: listOf('bound_subscription_ids', given, before.subscriptions),
    resourceGroups: listOf('bound_resource_groups', given, before.resourceGroups),
    locations: listOf('bound_locations', given, before.locations),
    scaleSets: listOf('bound_scale_sets', given, before.scaleSets),
  }
}

type BoundName = Extract<keyof GivenRole, `bound_${string}`>

function listOf(name: BoundName, given: GivenRole, before: readonly string[]): readonly string[] {
  const list = given[name]
  if (list === undefined) return before
  const texts = list.map((text) => text.trim()).filter((text) => text !== '')
  if (texts.some((text) => text.length > MAX_BOUND_CHARACTERS))
    throw fail('field_invalid', [name, `has an item of more than ${MAX_BOUND_CHARACTERS} characters`])
  return texts
}

/** Returns warnings about settings that are stored nevertheless. */
export function roleWarnings({ bounds, settings }: CloudRole, mostSeconds: number): readonly string[] {
  const warnings: string[] = []
  if (!narrows(bounds))
    warnings.push('The role narrows nothing, since "*" stands for everybody: every login by it is refused')
  const ids = [
    ['bound_service_principal_ids', bounds.principals],
    ['bound_group_ids', bounds.groups],
    ['bound_subscription_ids', bounds.subscriptions],
  ] as const
  for (const [name, list] of ids) {
    if (list.some((each) => !isGuid(each) && each !== '*'))
      warnings.push(`${name} has an entry that is no GUID: it fits nobody`)
    if (list.length > 1 && list.includes('*')) warnings.push(`${name} has "*" beside others: it then stands for itself`)
  }
  if (settings.maxTtlSeconds > mostSeconds)
    // Wire text.
    warnings.push(
      "max_ttl is greater than the system or backend mount's maximum TTL value; issued tokens' max TTL value will be " +
        'truncated',
    )
  return warnings
}
