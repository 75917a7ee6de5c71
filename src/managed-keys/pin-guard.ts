// Remembers which PINs a token has refused. A token counts failures and locks itself after a few. So a refused PIN is
// not shown to it again until an operator writes it again.
import { sha256 } from '../crypto/primitives/digest.ts'

/** The refused PINs, as tags: neither a PIN nor a token is kept. */
export class PinGuard {
  readonly #salt: Buffer
  readonly #refused: Set<string>
  readonly #onRefused: (tag: string) => void

  /** `salt` is as secret as the PINs: with it, the PIN of a tag could be found by trying. */
  constructor(salt: string, refused: readonly string[], onRefused: (tag: string) => void) {
    this.#salt = Buffer.from(salt, 'hex')
    this.#refused = new Set(refused)
    this.#onRefused = onRefused
  }

  /** Returns the name of a PIN at a token, which does not reveal the PIN without the salt. */
  tag(token: string, pin: string): string {
    const parts = [this.#salt, Buffer.from(`${token.length}:${token}`), Buffer.from(pin)]
    return sha256(Buffer.concat(parts)).toString('hex')
  }

  isRefused(tag: string): boolean {
    return this.#refused.has(tag)
  }

  /** Notes that the token refused the PIN, and tells the watching thread, which outlives this process. */
  refuse(tag: string): void {
    this.#refused.add(tag)
    this.#onRefused(tag)
  }

  /** Forgets all refusals, as an operator has written a PIN again. */
  forgive(): void {
    this.#refused.clear()
  }
}
