// How many requests each caller has made, in memory that all threads share: so a limit is the same however the
// connections are spread. The table has a fixed size: a place is found by a keyed digest of the quota and the caller,
// among the eight of one bucket. Where all eight are of use, the one that would be free first is given away.
//
// A bucket is changed by one thread at a time. What is done in between is a few additions; a thread that ended just
// then is not waited for longer than a second.

/** What a thread is given. */
export type LimitMemory = {
  /** One for each bucket: FREE, HELD or WAITED_FOR. */
  readonly locks: Int32Array<SharedArrayBuffer>
  /** Two for each place: the digest of who has it; zeros: nobody. */
  readonly digests: Int32Array<SharedArrayBuffer>
  /** Four for each place: see below. */
  readonly numbers: Float64Array<SharedArrayBuffer>
  /** Of the digests; other ones with each start, so that nobody can choose whose place he shares. */
  readonly key: string
}

export type Limit = {
  readonly requests: number
  readonly intervalMs: number
  /** 0: nobody is refused beyond the interval. */
  readonly blockMs: number
}

export type Charge = {
  readonly isAllowed: boolean
  /** Requests left in this interval. */
  readonly remaining: number
  /** Until there are some again. */
  readonly resetMs: number
  /** Somebody else was forgotten for it. */
  readonly hasEvicted: boolean
}

const BUCKETS = 8_192
const PLACES = 8
const FREE = 0
const HELD = 1
const WAITED_FOR = 2
const LOCK_TIMEOUT_MS = 1_000

const START = 0
const COUNT = 1
const BLOCKED_UNTIL = 2
/** When the entry can be forgotten. */
const OVER_AT = 3
const NUMBERS = 4

export function newLimitMemory(key: string): LimitMemory {
  const places = BUCKETS * PLACES
  return {
    locks: new Int32Array(new SharedArrayBuffer(BUCKETS * Int32Array.BYTES_PER_ELEMENT)),
    digests: new Int32Array(new SharedArrayBuffer(places * 2 * Int32Array.BYTES_PER_ELEMENT)),
    numbers: new Float64Array(new SharedArrayBuffer(places * NUMBERS * Float64Array.BYTES_PER_ELEMENT)),
    key,
  }
}

/** Counts one request of the caller with the digest. Both halves of a digest are never 0 at once. */
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
  const { place, hasEvicted } = placeOf(memory, bucket, high, low, nowMs)
  const at = place * NUMBERS
  let start = numbers[at + START] as number
  // A clock that was put back begins another interval, too.
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

/** The caller's place, or a new one for him. */
function placeOf({ digests, numbers }: LimitMemory, bucket: number, high: number, low: number, nowMs: number) {
  const first = bucket * PLACES
  let best = first
  let bestOverAt = Number.POSITIVE_INFINITY
  for (let place = first; place < first + PLACES; place++) {
    const [ownHigh, ownLow] = [digests[place * 2], digests[place * 2 + 1]]
    if (ownHigh === high && ownLow === low) return { place, hasEvicted: false }
    const overAt = ownHigh === 0 && ownLow === 0 ? -1 : (numbers[place * NUMBERS + OVER_AT] as number)
    if (overAt >= bestOverAt) continue
    best = place
    bestOverAt = overAt
  }
  digests[best * 2] = high
  digests[best * 2 + 1] = low
  numbers.fill(0, best * NUMBERS, (best + 1) * NUMBERS)
  return { place: best, hasEvicted: bestOverAt > nowMs }
}

function lock(locks: Int32Array<SharedArrayBuffer>, bucket: number): void {
  if (Atomics.compareExchange(locks, bucket, FREE, HELD) === FREE) return
  // Whoever takes it from here on cannot know whether others wait, and says so.
  while (Atomics.exchange(locks, bucket, WAITED_FOR) !== FREE) {
    if (Atomics.wait(locks, bucket, WAITED_FOR, LOCK_TIMEOUT_MS) === 'timed-out') return
  }
}

function unlock(locks: Int32Array<SharedArrayBuffer>, bucket: number): void {
  if (Atomics.exchange(locks, bucket, FREE) === WAITED_FOR) Atomics.notify(locks, bucket)
}
