// Which PINs a token has refused. A token counts failures and locks itself after a few: a PIN that was refused is not
// shown to it again until an operator writes it anew.
import { sha256 } from '../crypto/primitives/digest.ts'

export class PinGuard {
  readonly #salt: Buffer
  readonly #refused: Set<string>
  readonly #onRefused: (tag: string) => void

  /** `salt` is as secret as the PINs: with it a tag could be searched for. */
  constructor(salt: string, refused: readonly string[], onRefused: (tag: string) => void) {
    this.#salt = Buffer.from(salt, 'hex')
    this.#refused = new Set(refused)
    this.#onRefused = onRefused
  }

  /** Names a PIN of a token without holding it. */
  tag(token: string, pin: string): string {
    const parts = [this.#salt, Buffer.from(`${token.length}:${token}`), Buffer.from(pin)]
    return sha256(Buffer.concat(parts)).toString('hex')
  }

  isRefused(tag: string): boolean {
    return this.#refused.has(tag)
  }

  refuse(tag: string): void {
    this.#refused.add(tag)
    this.#onRefused(tag)
  }

  forgive(): void {
    this.#refused.clear()
  }
}
