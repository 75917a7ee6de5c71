// Counts requests against a quota.
import { digestNumbers } from '../crypto/token-digest.ts'
import { countedAddress } from '../lib/counted-address.ts'
import type { Clock } from '../lib/world.ts'
import { type Charge, charge, type LimitMemory } from './limit-table.ts'
import { isEntityGrouping, type RateQuota } from './quota.ts'

export type CountedCaller = {
  readonly remoteAddress: string
  /** Undefined: nobody is behind the token, or it is not known yet. */
  readonly entityId: string | undefined
}

export class RateLimiter {
  readonly #memory: LimitMemory
  readonly #clock: Clock
  readonly #onEvicted: () => void

  /** `onEvicted` hears of each caller who was forgotten before his time, since the table is full. */
  constructor(memory: LimitMemory, clock: Clock, onEvicted: () => void) {
    this.#memory = memory
    this.#clock = clock
    this.#onEvicted = onEvicted
  }

  /** About 2 µs. */
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

/** Whom a request is counted with. */
function groupOf({ groupBy }: RateQuota, { remoteAddress, entityId }: CountedCaller): string {
  if (groupBy === 'none') return 'all'
  if (groupBy === 'ip') return `ip ${countedAddress(remoteAddress)}`
  if (entityId !== undefined) return `entity ${entityId}`
  return groupBy === 'entity_then_ip' ? `ip ${countedAddress(remoteAddress)}` : 'all'
}
