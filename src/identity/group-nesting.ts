// The limits of groups in groups: no circles, and a depth that a request can afford to climb.
import { fail } from '../api/errors.ts'
import { childrenOf, parentsOf } from './memberships.ts'
import type { From } from './records.ts'

/** Levels of groups, the outermost and the innermost included. */
export const MAX_NESTING = 16

/** Checks that `child` may become a member of `parent`. @throws Refusal for a circle, or too many levels */
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
 * Counts the groups on the longest path from `start`, itself included; undefined if `target` is on any path. It goes
 * level by level, so that a group on many paths is read once a level, not once a path.
 */
async function levels(from: From, start: string, next: Neighbours, target: string): Promise<number | undefined> {
  let level: ReadonlySet<string> = new Set([start])
  for (let count = 1; ; count++) {
    if (level.has(target)) return undefined
    const following = new Set<string>()
    for (const id of level) for (const other of await next(from, id)) following.add(other)
    // Stored groups have no circle, so this ends. Beyond the limit the exact number does not matter.
    if (following.size === 0 || count > MAX_NESTING) return count
    level = following
  }
}
