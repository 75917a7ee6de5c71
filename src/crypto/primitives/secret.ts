import { inspect } from 'node:util'
import { constantTimeEqual } from './constant-time.ts'
import { copySecret } from './secret-bytes.ts'

const REDACTED = '[secret]'

/**
 * Secret bytes that do not print themselves: not in JSON, text, inspection or a logged object (threats N-11). Code that
 * reads them calls `reveal`, so a search for that word lists all of it.
 */
export class Secret {
  readonly #bytes: Buffer

  /** Keeps a copy of its own; the caller wipes what it handed in. */
  constructor(bytes: Buffer) {
    this.#bytes = copySecret(bytes)
  }

  get length(): number {
    return this.#bytes.length
  }

  /** The bytes themselves, not a copy: `wipe` turns them into zeros. */
  reveal(): Buffer {
    return this.#bytes
  }

  /** Compares in a time that depends only on the lengths. */
  equals(other: Secret): boolean {
    return constantTimeEqual(this.#bytes, other.#bytes)
  }

  /** Overwrites the bytes; after that the secret is as many zeros. */
  wipe(): void {
    this.#bytes.fill(0)
  }

  toJSON(): string {
    return REDACTED
  }

  toString(): string {
    return REDACTED
  }

  [inspect.custom](): string {
    return REDACTED
  }
}
