// Slows down guessing: a name with too many failures is refused for a while, whatever is sent. Counts are kept in
// memory of the thread that serves logins. A restart forgets them, as it ends the guesser's connections.
import { count, group, oneOf, optional, type ValueOf } from '../lib/member-kinds.ts'
import type { Clock } from '../lib/world.ts'
import { fail, Refusal } from './errors.ts'

/** The stored settings of lockout. */
export const LOCKOUT_SETTINGS = group({
  /** Failures until the name is locked; 0: never locked. */
  threshold: count,
  /** True: never locked, while the threshold is kept for later; absent: not disabled. */
  disabled: optional(oneOf(true)),
  /** How long a name stays locked. */
  durationSeconds: count,
  /** Time without a failure after which the count starts at 0 again. */
  counterResetSeconds: count,
})
/** The settings as the program has them. */
export type LockoutSettings = ValueOf<typeof LOCKOUT_SETTINGS>

/** The settings of a mount that has none of its own. */
export const DEFAULT_LOCKOUT: LockoutSettings = { threshold: 5, durationSeconds: 900, counterResetSeconds: 900 }

/** True if no name is ever locked. */
export const isSwitchedOff = ({ threshold, disabled }: LockoutSettings): boolean => threshold === 0 || disabled === true

/**
 * Most names that are counted, and as many again that are locked. Names that do not exist count too, so a lock does not
 * tell which exist. Locked names are kept apart, so a flood of made-up names pushes them out only if it locks as many.
 */
const MAX_NAMES = 100_000
/** No real name is longer. All longer ones share one count: any client can send them, and memory is finite. */
const MAX_NAME_CHARACTERS = 512
const TOO_LONG = ''

type Attempts = {
  failures: number
  lastAtMs: number
  underWay: number
  readonly waiting: (() => void)[]
}

/** The failures of one login mount. */
export class Lockout {
  readonly #clock: Clock
  /** Returns the canonical spelling of a name. */
  readonly canonical: (name: string) => string
  readonly #names = new Map<string, Attempts>()
  readonly #locked = new Map<string, Attempts>()

  /** `canonical` maps the spellings of a name to one, if the method knows several. */
  constructor(clock: Clock, canonical: (name: string) => string = (name) => name) {
    this.#clock = clock
    this.canonical = canonical
  }

  /** Names that are locked now, sorted. If the threshold was lowered, names that are only counted may be among them. */
  locked(settings: LockoutSettings): string[] {
    if (isSwitchedOff(settings)) return []
    const names: string[] = []
    for (const [name, attempts] of [...this.#locked, ...this.#names]) {
      this.#forgetOld(attempts, settings)
      if (attempts.failures >= settings.threshold && name !== TOO_LONG) names.push(name)
    }
    return names.sort()
  }

  /** Unlocks a name and clears its count; does nothing for a name without failures. */
  unlock(given: string): void {
    const attempts = this.#find(this.canonical(given))
    if (attempts === undefined) return
    attempts.failures = 0
    this.#settle(this.canonical(given), attempts)
  }

  /**
   * Runs one attempt for the name `given`; a Refusal that it throws counts as a failure. Of parallel attempts only as
   * many run as may still fail; the others wait. So guessing in parallel gives no more tries than guessing in sequence.
   * @throws Refusal if the name is locked, without trying; whatever `attempt` throws
   */
  async guard<T>(given: string, settings: LockoutSettings, attempt: () => Promise<T>): Promise<T> {
    if (isSwitchedOff(settings)) return attempt()
    const name = this.#counted(given)
    const attempts = this.#of(name)
    for (;;) {
      this.#forgetOld(attempts, settings)
      if (attempts.failures >= settings.threshold) throw fail('permission_denied', [])
      if (attempts.failures + attempts.underWay < settings.threshold) break
      await new Promise<void>((resolve) => attempts.waiting.push(resolve))
    }
    attempts.underWay += 1
    try {
      const result = await attempt()
      attempts.failures = 0
      return result
    } catch (cause) {
      if (cause instanceof Refusal) this.#fail(name, attempts, settings)
      throw cause
    } finally {
      attempts.underWay -= 1
      this.#settle(name, attempts)
    }
  }

  /**
   * Counts an attempt that `guard` ran and another cluster judged. A name that was locked meanwhile stays so, for no
   * longer than without it.
   */
  count(given: string, settings: LockoutSettings, outcome: 'right' | 'wrong'): void {
    if (isSwitchedOff(settings)) return
    const name = this.#counted(given)
    const attempts = this.#of(name)
    this.#forgetOld(attempts, settings)
    if (attempts.failures < settings.threshold) {
      if (outcome === 'right') attempts.failures = 0
      else this.#fail(name, attempts, settings)
    }
    this.#settle(name, attempts)
  }

  #counted(given: string): string {
    return given.length > MAX_NAME_CHARACTERS ? TOO_LONG : this.canonical(given)
  }

  #fail(name: string, attempts: Attempts, { threshold }: LockoutSettings): void {
    attempts.failures += 1
    attempts.lastAtMs = this.#clock.monotonicMs()
    if (attempts.failures >= threshold) this.#lock(name, attempts)
  }

  /** Forgets a name without failures and running attempts, and wakes those that wait. */
  #settle(name: string, attempts: Attempts): void {
    const isOver = attempts.failures === 0 && attempts.underWay === 0
    if (isOver) {
      for (const names of [this.#names, this.#locked]) if (names.get(name) === attempts) names.delete(name)
    }
    for (const wake of attempts.waiting.splice(0)) wake()
  }

  #forgetOld(attempts: Attempts, { threshold, durationSeconds, counterResetSeconds }: LockoutSettings): void {
    const ageMs = this.#clock.monotonicMs() - attempts.lastAtMs
    const keptSeconds = attempts.failures >= threshold ? durationSeconds : counterResetSeconds
    if (ageMs >= keptSeconds * 1000) attempts.failures = 0
  }

  #find(name: string): Attempts | undefined {
    return this.#names.get(name) ?? this.#locked.get(name)
  }

  #of(name: string): Attempts {
    const known = this.#find(name)
    if (known !== undefined) return known
    const attempts: Attempts = { failures: 0, lastAtMs: 0, underWay: 0, waiting: [] }
    keep(this.#names, name, attempts)
    return attempts
  }

  #lock(name: string, attempts: Attempts): void {
    if (this.#locked.has(name)) return
    this.#names.delete(name)
    keep(this.#locked, name, attempts)
  }
}

/** Adds a name; forgets the oldest one if there are MAX_NAMES. */
function keep(names: Map<string, Attempts>, name: string, attempts: Attempts): void {
  if (names.size >= MAX_NAMES) {
    const oldest = names.keys().next()
    if (oldest.done !== true) names.delete(oldest.value)
  }
  names.set(name, attempts)
}
