import type { Log } from '../../lib/log.ts'
import type { LinkedWorld } from '../../lib/world.ts'
import type { LinkCounts } from '../counts.ts'
import type { SinkLimits } from '../sink/sink-parts.ts'
import type { SourceLimits, SourceStore } from '../source/source-parts.ts'
import type { LinkOwner, NodeFacts } from './link-sides.ts'
import type { LinkTimes } from './link-times.ts'

/** The parts of the world that ends of links use. */
export type LinkWorld = Pick<LinkedWorld, 'clock' | 'random' | 'timers' | 'ticks' | 'links'>

/** How much goes into one message, and is applied at once. */
export type LinkLimits = { readonly source: SourceLimits; readonly sink: SinkLimits }

/** What the ends of links have in common. */
export type LinkEndParts = {
  readonly world: LinkWorld
  readonly owner: LinkOwner
  readonly log: Log
  readonly counts: LinkCounts
  readonly times: LinkTimes
  readonly limits: LinkLimits
  /** What this node says of itself now. */
  readonly facts: () => NodeFacts
}

/** What the primary's ends of links have. The store may throw StorageClosed while it is being replaced. */
export type PrimaryParts = LinkEndParts & { readonly store: SourceStore }
