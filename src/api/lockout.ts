// Guessing is made slow: a name with too many failures is refused for a while, whatever is sent then. Kept in memory,
// where logins are served: a restart forgets it, as it forgets the guesser's connections.
import { count, group, oneOf, optional, type ValueOf } from '../lib/member-kinds.ts'
import type { Clock } from '../lib/world.ts'
import { fail, Refusal } from './errors.ts'

export const LOCKOUT_SETTINGS = group({
  /** Failures until the name is locked; 0: never. */
  threshold: count,
  /** Never, whatever the threshold says, which is kept for when it is switched on again; absent: not so. */
  disabled: optional(oneOf(true)),
  durationSeconds: count,
  /** Without a failure for so long, the count begins anew. */
  counterResetSeconds: count,
})
export type LockoutSettings = ValueOf<typeof LOCKOUT_SETTINGS>

export const DEFAULT_LOCKOUT: LockoutSettings = { threshold: 5, durationSeconds: 900, counterResetSeconds: 900 }

export const isSwitchedOff = ({ threshold, disabled }: LockoutSettings): boolean => threshold === 0 || disabled === true

/** Of names that do not exist too: so a name is not told by it. */
const MAX_NAMES = 100_000
/** No name is longer; all that are have one count together, since anybody can send them and memory ends. */
const MAX_NAME_CHARACTERS = 512
const TOO_LONG = ''

type Attempts = {
  failures: number
  lastAtMs: number
  underWay: number
  readonly waiting: (() => void)[]
}

export class Lockout {
  readonly #clock: Clock
  /** The one spelling of a name. */
  readonly canonical: (name: string) => string
  readonly #names = new Map<string, Attempts>()

  /** `canonical`: the one spelling of a name, where the method knows several. */
  constructor(clock: Clock, canonical: (name: string) => string = (name) => name) {
    this.#clock = clock
    this.canonical = canonical
  }

  /** Names that are refused now, sorted; at most 100,000. */
  locked(settings: LockoutSettings): string[] {
    if (isSwitchedOff(settings)) return []
    const names: string[] = []
    for (const [name, attempts] of this.#names) {
      this.#forgetOld(attempts, settings)
      if (attempts.failures >= settings.threshold && name !== TOO_LONG) names.push(name)
    }
    return names.sort()
  }

  /** The name begins anew; one that is not locked is no error. */
  unlock(given: string): void {
    const attempts = this.#names.get(this.canonical(given))
    if (attempts === undefined) return
    attempts.failures = 0
    this.#settle(this.canonical(given), attempts)
  }

  /**
   * Runs one attempt of the name `given`; a refusal that it throws counts as a failure. Of attempts at once no more run
   * than may still fail, so that guessing in parallel gives no more tries than guessing in a row; the others wait.
   * @throws Refusal where the name is locked, without trying; whatever `attempt` throws
   */
  async guard<T>(given: string, settings: LockoutSettings, attempt: () => Promise<T>): Promise<T> {
    if (isSwitchedOff(settings)) return attempt()
    const name = given.length > MAX_NAME_CHARACTERS ? TOO_LONG : this.canonical(given)
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
      if (cause instanceof Refusal) {
        attempts.failures += 1
        attempts.lastAtMs = this.#clock.monotonicMs()
      }
      throw cause
    } finally {
      attempts.underWay -= 1
      this.#settle(name, attempts)
    }
  }

  /** Forgets a name without failures and without attempts under way; those that wait look again. */
  #settle(name: string, attempts: Attempts): void {
    const isOver = attempts.failures === 0 && attempts.underWay === 0
    if (isOver && this.#names.get(name) === attempts) this.#names.delete(name)
    for (const wake of attempts.waiting.splice(0)) wake()
  }

  #forgetOld(attempts: Attempts, { threshold, durationSeconds, counterResetSeconds }: LockoutSettings): void {
    const ageMs = this.#clock.monotonicMs() - attempts.lastAtMs
    const keptSeconds = attempts.failures >= threshold ? durationSeconds : counterResetSeconds
    if (ageMs >= keptSeconds * 1000) attempts.failures = 0
  }

  #of(name: string): Attempts {
    const known = this.#names.get(name)
    if (known !== undefined) return known
    if (this.#names.size >= MAX_NAMES) {
      const oldest = this.#names.keys().next()
      if (oldest.done !== true) this.#names.delete(oldest.value)
    }
    const attempts: Attempts = { failures: 0, lastAtMs: 0, underWay: 0, waiting: [] }
    this.#names.set(name, attempts)
    return attempts
  }
}
