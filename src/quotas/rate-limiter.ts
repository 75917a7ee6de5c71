// Charges requests to a quota: picks the group a caller is counted in, and the slot of that group.
import { digestNumbers } from '../crypto/token-digest.ts'
import { countedAddress } from '../lib/counted-address.ts'
import type { Clock } from '../lib/world.ts'
import { type Charge, charge, type LimitMemory } from './limit-table.ts'
import { isEntityGrouping, type RateQuota } from './quota.ts'

/** The caller of a request, as far as quotas distinguish callers. */
export type CountedCaller = {
  readonly remoteAddress: string
  /** Undefined if the token has no entity, or is not known yet. */
  readonly entityId: string | undefined
}

/** Counts requests in the shared table. Every thread has one, over the same memory. */
export class RateLimiter {
  readonly #memory: LimitMemory
  readonly #clock: Clock
  readonly #onEvicted: () => void

  /** `onEvicted` is called for each caller that lost its slot early because its bucket was full. */
  constructor(memory: LimitMemory, clock: Clock, onEvicted: () => void) {
    this.#memory = memory
    this.#clock = clock
    this.#onEvicted = onEvicted
  }

  /**
   * Counts one request and says whether it may go on. Takes about 2 µs. rate-steps.ts says which quotas are charged
   * before the body is read.
   */
  charge(quota: RateQuota, caller: CountedCaller): Charge {
    const isSecondary = isEntityGrouping(quota) && caller.entityId === undefined
    const limit = {
      requests: isSecondary ? quota.secondaryRate : quota.rate,
      intervalMs: quota.intervalSeconds * 1000,
      blockMs: quota.blockSeconds * 1000,
    }
    const [high, low] = digestNumbers(this.#memory.key, `${quota.id}\n${groupOf(quota, caller)}`)
    const charged = charge(this.#memory, high, low, limit, this.#clock.nowMs())
    if (charged.hasEvicted) this.#onEvicted()
    return charged
  }
}

/** Names the group that a caller is counted in; part of the digest that selects the slot. */
function groupOf({ groupBy }: RateQuota, { remoteAddress, entityId }: CountedCaller): string {
  if (groupBy === 'none') return 'all'
  if (groupBy === 'ip') return `ip ${countedAddress(remoteAddress)}`
  if (entityId !== undefined) return `entity ${entityId}`
  return groupBy === 'entity_then_ip' ? `ip ${countedAddress(remoteAddress)}` : 'all'
}
