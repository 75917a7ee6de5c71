// People give their shares one after the other. One engine for all that shares are needed for: it collects them, names
// the attempt, and forgets it when it is left alone.
import { fail } from '../../api/errors.ts'
import { constantTimeEqual } from '../../crypto/primitives/constant-time.ts'
import { copySecret } from '../../crypto/primitives/secret-bytes.ts'
import type { Timer, World } from '../../lib/world.ts'
import { wipeAll } from './key-shares.ts'

/** An attempt that is left alone ends after this time, or it would keep others from theirs (threats S-02). */
export const IDLE_MS = 10 * 60 * 1000

/** Shares given so far, each once (threats T-19). */
export class ShareCollector {
  #given: Buffer[] = []

  get count(): number {
    return this.#given.length
  }

  /** Keeps a copy. False where this share was given before. */
  add(share: Buffer): boolean {
    let isNew = true
    // All are compared, so that the time does not tell which one it was.
    for (const other of this.#given) if (constantTimeEqual(other, share)) isNew = false
    if (!isNew) return false
    this.#given.push(copySecret(share))
    return true
  }

  /** Hands all over, for the caller to wipe. */
  take(): readonly Buffer[] {
    const given = this.#given
    this.#given = []
    return given
  }

  clear(): void {
    wipeAll(this.take())
  }
}

/** The refusals, in the words of each kind of attempt. */
export type AttemptWords = {
  readonly alreadyRunning: string
  readonly notRunning: string
  readonly wrongNonce: (nonce: string) => string
}

export type RunningAttempt<P> = { readonly nonce: string; readonly purpose: P; readonly progress: number }

/** One attempt at a time; `P` is what the shares are for. `forget` wipes the purpose of one that is dropped. */
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

  get running(): RunningAttempt<P> | undefined {
    if (this.#running !== undefined && this.#idleMs(this.#running) >= IDLE_MS) this.cancel()
    if (this.#running === undefined) return undefined
    return { nonce: this.#running.nonce, purpose: this.#running.purpose, progress: this.#given.count }
  }

  #idleMs({ idleSinceMs }: { readonly idleSinceMs: number }): number {
    return this.#world.clock.monotonicMs() - idleSinceMs
  }

  /** Gives the nonce that names it. @throws Refusal where one is running */
  start(purpose: P): string {
    if (this.running !== undefined) throw fail('already_in_progress', [this.#words.alreadyRunning])
    const nonce = this.#world.random.uuid()
    this.#running = { nonce, purpose, idleSinceMs: 0 }
    this.#touch()
    return nonce
  }

  #touch(): void {
    if (this.#running === undefined) return
    this.#running.idleSinceMs = this.#world.clock.monotonicMs()
    this.#timer?.cancel()
    // What was given is wiped even where nobody asks again.
    this.#timer = this.#world.timers.after(IDLE_MS, () => this.cancel())
  }

  /** Takes one share. The shares, for the caller to wipe, when `threshold` are there: progress is then 0 again. */
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

  /** Forgets the attempt and what was given; nothing where none is running. */
  cancel(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#given.clear()
    if (this.#running !== undefined) this.#forget(this.#running.purpose)
    this.#running = undefined
  }
}
