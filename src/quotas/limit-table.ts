// Counts the requests of each caller in memory that all threads share, so a limit is the same however connections are
// spread over threads. The table has a fixed size. A slot is found by a keyed digest of quota and caller, among the
// eight of one bucket. If all eight are in use, the one that would be free first is given away.
//
// One thread at a time changes a bucket, and does a few additions while it holds it. A thread may die holding one, so
// another that hears nothing of the lock for a second takes the bucket all the same.

/** The shared table; plain data that is handed to every thread at its start. */
export type LimitMemory = {
  /** One lock per bucket: FREE, HELD or WAITED_FOR. */
  readonly locks: Int32Array<SharedArrayBuffer>
  /** Two numbers per slot: the digest of its owner. Two zeros mean that the slot is free. */
  readonly digests: Int32Array<SharedArrayBuffer>
  /** Four numbers per slot: START, COUNT, BLOCKED_UNTIL and OVER_AT. */
  readonly numbers: Float64Array<SharedArrayBuffer>
  /** Key of the digests, made anew at each start, so that no client can choose whose slot it shares. */
  readonly key: string
}

/** A quota's figures as the table needs them. */
export type Limit = {
  /** Requests allowed in each interval; a fraction counts as one more. */
  readonly requests: number
  readonly intervalMs: number
  /** How long a caller is refused after it exceeded the limit; 0: only until the interval ends. */
  readonly blockMs: number
}

/** The answer to one counted request. */
export type Charge = {
  readonly isAllowed: boolean
  /** Requests left in this interval; 0 once refused. */
  readonly remaining: number
  /** Milliseconds until the caller has requests again. */
  readonly resetMs: number
  /** True if another caller that was still counted lost its slot to this one. */
  readonly hasEvicted: boolean
}

/** A power of two, since the low bits of the digest select the bucket. 65,536 callers in all. */
const BUCKETS = 8_192
const SLOTS = 8
const FREE = 0
const HELD = 1
const WAITED_FOR = 2
const LOCK_TIMEOUT_MS = 1_000

const START = 0
const COUNT = 1
const BLOCKED_UNTIL = 2
/** The time from which the slot can be given away without effect. */
const OVER_AT = 3
const NUMBERS = 4

/** Makes the table, with every slot free. It takes 2.5 MiB; the thread that starts the others calls it once. */
export function newLimitMemory(key: string): LimitMemory {
  const slots = BUCKETS * SLOTS
  return {
    locks: new Int32Array(new SharedArrayBuffer(BUCKETS * Int32Array.BYTES_PER_ELEMENT)),
    digests: new Int32Array(new SharedArrayBuffer(slots * 2 * Int32Array.BYTES_PER_ELEMENT)),
    numbers: new Float64Array(new SharedArrayBuffer(slots * NUMBERS * Float64Array.BYTES_PER_ELEMENT)),
    key,
  }
}

/**
 * Counts one request of the caller whose digest is `high` and `low`, and says whether it is within the limit. The two
 * halves are never both 0, since that marks a free slot.
 */
export function charge(memory: LimitMemory, high: number, low: number, limit: Limit, nowMs: number): Charge {
  const bucket = low & (BUCKETS - 1)
  lock(memory.locks, bucket)
  try {
    return chargeIn(memory, bucket, high, low, limit, nowMs)
  } finally {
    unlock(memory.locks, bucket)
  }
}

function chargeIn(memory: LimitMemory, bucket: number, high: number, low: number, limit: Limit, nowMs: number): Charge {
  const { numbers } = memory
  const { slot, hasEvicted } = slotOf(memory, bucket, high, low, nowMs)
  const at = slot * NUMBERS
  let start = numbers[at + START] as number
  // A clock that was set back begins a new interval too.
  if (nowMs >= start + limit.intervalMs || nowMs < start) {
    start = nowMs
    numbers[at + START] = nowMs
    numbers[at + COUNT] = 0
  }
  const endMs = start + limit.intervalMs
  const blockedUntil = numbers[at + BLOCKED_UNTIL] as number
  if (blockedUntil > nowMs && blockedUntil <= nowMs + limit.blockMs)
    return { isAllowed: false, remaining: 0, resetMs: blockedUntil - nowMs, hasEvicted }
  const count = numbers[at + COUNT] as number
  if (count >= limit.requests) {
    const untilMs = limit.blockMs === 0 ? endMs : nowMs + limit.blockMs
    if (limit.blockMs > 0) numbers[at + BLOCKED_UNTIL] = untilMs
    numbers[at + OVER_AT] = Math.max(endMs, untilMs)
    return { isAllowed: false, remaining: 0, resetMs: untilMs - nowMs, hasEvicted }
  }
  numbers[at + COUNT] = count + 1
  numbers[at + OVER_AT] = endMs
  return {
    isAllowed: true,
    remaining: Math.max(0, Math.ceil(limit.requests) - count - 1),
    resetMs: endMs - nowMs,
    hasEvicted,
  }
}

/** Returns the caller's slot, or assigns it one; a slot that is taken from another caller starts at zero. */
function slotOf({ digests, numbers }: LimitMemory, bucket: number, high: number, low: number, nowMs: number) {
  const first = bucket * SLOTS
  let best = first
  let bestOverAt = Number.POSITIVE_INFINITY
  for (let slot = first; slot < first + SLOTS; slot++) {
    const [ownHigh, ownLow] = [digests[slot * 2], digests[slot * 2 + 1]]
    if (ownHigh === high && ownLow === low) return { slot, hasEvicted: false }
    const overAt = ownHigh === 0 && ownLow === 0 ? -1 : (numbers[slot * NUMBERS + OVER_AT] as number)
    if (overAt >= bestOverAt) continue
    best = slot
    bestOverAt = overAt
  }
  digests[best * 2] = high
  digests[best * 2 + 1] = low
  numbers.fill(0, best * NUMBERS, (best + 1) * NUMBERS)
  return { slot: best, hasEvicted: bestOverAt > nowMs }
}

function lock(locks: Int32Array<SharedArrayBuffer>, bucket: number): void {
  if (Atomics.compareExchange(locks, bucket, FREE, HELD) === FREE) return
  // A thread that takes the lock from here on cannot know whether others wait, so it marks the lock as waited for.
  while (Atomics.exchange(locks, bucket, WAITED_FOR) !== FREE) {
    if (Atomics.wait(locks, bucket, WAITED_FOR, LOCK_TIMEOUT_MS) === 'timed-out') return
  }
}

function unlock(locks: Int32Array<SharedArrayBuffer>, bucket: number): void {
  if (Atomics.exchange(locks, bucket, FREE) === WAITED_FOR) Atomics.notify(locks, bucket)
}
