// Holders give their shares one after the other, in requests of their own. This collects them for every operation that
// needs shares: it names the attempt by a nonce, and forgets it when it is left alone (Interface 3.3).
import { fail } from '../../api/errors.ts'
import { constantTimeEqual } from '../../crypto/primitives/constant-time.ts'
import { copySecret } from '../../crypto/primitives/secret-bytes.ts'
import type { Timer, World } from '../../lib/world.ts'
import { wipeAll } from './key-shares.ts'

/**
 * An attempt ends when no share came for this time. Else an abandoned one would block all others (threats S-02).
 * Differs: docs/differences.md#storage-and-seal.
 */
export const IDLE_MS = 10 * 60 * 1000

/** The shares given so far, each counted once (threats T-19). It owns its copies and wipes them. */
export class ShareCollector {
  #given: Buffer[] = []

  /** How many distinct shares there are. */
  get count(): number {
    return this.#given.length
  }

  /** Keeps a copy of the share; false if it was given before. */
  add(share: Buffer): boolean {
    let isNew = true
    // The share is compared with all, so that the time does not tell which one it equals.
    for (const other of this.#given) if (constantTimeEqual(other, share)) isNew = false
    if (!isNew) return false
    this.#given.push(copySecret(share))
    return true
  }

  /** Hands over all shares; the caller wipes them. */
  take(): readonly Buffer[] {
    const given = this.#given
    this.#given = []
    return given
  }

  /** Wipes and forgets all shares. */
  clear(): void {
    wipeAll(this.take())
  }
}

/** Texts of the refusals. They differ by kind of attempt, because clients compare them. */
export type AttemptWords = {
  readonly alreadyRunning: string
  readonly notRunning: string
  readonly wrongNonce: (nonce: string) => string
}

/** The attempt under way; `progress` counts the shares given. */
export type RunningAttempt<P> = { readonly nonce: string; readonly purpose: P; readonly progress: number }

/** One attempt at a time (Interface 7.13). `P` is what the shares are for; `forget` wipes its secrets at the end. */
export class ShareAttempt<P> {
  readonly #world: World
  readonly #words: AttemptWords
  readonly #forget: (purpose: P) => void
  readonly #given = new ShareCollector()
  #running: { readonly nonce: string; readonly purpose: P; idleSinceMs: number } | undefined
  #timer: Timer | undefined

  constructor(world: World, words: AttemptWords, forget: (purpose: P) => void = () => {}) {
    this.#world = world
    this.#words = words
    this.#forget = forget
  }

  /** The attempt, if one is under way. One that is idle too long ends here, even if its timer is late. */
  get running(): RunningAttempt<P> | undefined {
    if (this.#running !== undefined && this.#idleMs(this.#running) >= IDLE_MS) this.cancel()
    if (this.#running === undefined) return undefined
    return { nonce: this.#running.nonce, purpose: this.#running.purpose, progress: this.#given.count }
  }

  #idleMs({ idleSinceMs }: { readonly idleSinceMs: number }): number {
    return this.#world.clock.monotonicMs() - idleSinceMs
  }

  /** Starts an attempt and returns the nonce that names it. @throws Refusal while one is under way */
  start(purpose: P): string {
    if (this.running !== undefined) throw fail('already_in_progress', [this.#words.alreadyRunning])
    const nonce = this.#world.random.uuid()
    this.#running = { nonce, purpose, idleSinceMs: 0 }
    this.#touch()
    return nonce
  }

  /** Starts the time of idleness again. */
  #touch(): void {
    if (this.#running === undefined) return
    this.#running.idleSinceMs = this.#world.clock.monotonicMs()
    this.#timer?.cancel()
    // The timer wipes the shares even if no further request comes.
    this.#timer = this.#world.timers.after(IDLE_MS, () => this.cancel())
  }

  /**
   * Takes one share. Returns all shares with the one that completes `threshold`, for the caller to wipe; the attempt is
   * then without shares and still under way. Else undefined.
   * @throws Refusal without an attempt, for another nonce, and for a share that was given before
   */
  give(share: Buffer, nonce: string, threshold: number): readonly Buffer[] | undefined {
    const { running } = this
    if (running === undefined) throw fail('not_in_progress', [this.#words.notRunning])
    if (nonce !== running.nonce) throw fail('not_in_progress', [this.#words.wrongNonce(running.nonce)])
    if (!this.#given.add(share)) {
      // Wire text.
      throw fail('key_share_wrong', ['given key has already been provided during this generation operation'])
    }
    this.#touch()
    return this.#given.count < threshold ? undefined : this.#given.take()
  }

  /** Ends the attempt, if any, and wipes its shares. @throws Refusal if `nonce` is given and names another one */
  cancel(nonce = ''): void {
    if (nonce !== '' && this.#running !== undefined && nonce !== this.#running.nonce)
      throw fail('not_in_progress', [this.#words.wrongNonce(this.#running.nonce)])
    this.#timer?.cancel()
    this.#timer = undefined
    this.#given.clear()
    if (this.#running !== undefined) this.#forget(this.#running.purpose)
    this.#running = undefined
  }
}
