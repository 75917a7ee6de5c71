// Groups in groups: never in a circle, and never deeper than a request can afford to climb.
import { fail } from '../api/errors.ts'
import { childrenOf, parentsOf } from './memberships.ts'
import type { From } from './records.ts'

/** Levels of groups, one inside the other. */
export const MAX_NESTING = 16

/** @throws Refusal where `child` cannot be in `parent` */
export async function refuseNesting(from: From, parent: string, child: string): Promise<void> {
  const below = await levels(from, child, childrenOf, parent)
  const above = await levels(from, parent, parentsOf, child)
  if (below === undefined || above === undefined)
    throw fail('field_invalid', ['member_group_ids', `${child} holds the group itself: groups must not form a circle`])
  if (above + below > MAX_NESTING)
    throw fail('field_invalid', ['member_group_ids', `groups would be nested more than ${MAX_NESTING} levels deep`])
}

type Neighbours = (from: From, id: string) => Promise<readonly string[]>

/**
 * Groups on the longest way from `start`, itself included; undefined where `target` is on one.
 * Goes level by level, so that a group that many ways lead to is looked at once a level.
 */
async function levels(from: From, start: string, next: Neighbours, target: string): Promise<number | undefined> {
  let level: ReadonlySet<string> = new Set([start])
  for (let count = 1; ; count++) {
    if (level.has(target)) return undefined
    const following = new Set<string>()
    for (const id of level) for (const other of await next(from, id)) following.add(other)
    // What is stored has no circle, so this ends; deeper than allowed it need not be followed.
    if (following.size === 0 || count > MAX_NESTING) return count
    level = following
  }
}
