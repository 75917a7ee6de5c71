// Logs refused logins. Callers without a token can cause many, so it writes some and counts the others (threats L-12).
import type { Refusal } from '../../api/errors.ts'
import type { Log } from '../../lib/log.ts'
import type { Clock } from '../../lib/world.ts'

/** Lines in one period: five a second on average. */
const MOST_LINES = 50
const PERIOD_MS = 10_000

/** The log of one mount's refusals. */
export class RefusalLog {
  readonly #log: Log
  readonly #clock: Clock
  #sinceMs = -Infinity
  #lines = 0
  #unsaid = 0

  constructor(log: Log, clock: Clock) {
    this.#log = log
    this.#clock = clock
  }

  /** Logs a refusal, or counts it if the period has its lines. */
  note(refusal: Refusal, mount: string, requestId: string): void {
    const nowMs = this.#clock.monotonicMs()
    if (nowMs - this.#sinceMs >= PERIOD_MS) {
      if (this.#unsaid > 0) this.#log('info', 'Further logins were refused', { logins: this.#unsaid })
      this.#sinceMs = nowMs
      this.#lines = 0
      this.#unsaid = 0
    }
    if (this.#lines >= MOST_LINES) {
      this.#unsaid += 1
      return
    }
    this.#lines += 1
    const cause = refusal.cause instanceof Error ? { cause: refusal.cause.message } : {}
    this.#log('info', 'A login was refused', { request_id: requestId, mount, reason: refusal.message, ...cause })
  }
}
