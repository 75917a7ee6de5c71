import { inspect } from 'node:util'
import { constantTimeEqual } from './constant-time.ts'
import { copySecret } from './secret-bytes.ts'

const REDACTED = '[secret]'

/**
 * Secret bytes that do not print themselves: not in JSON, text, inspection or a logged object (threats N-11). Whatever
 * reads them says `reveal`, so a search for that word lists every such place.
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

  /** The bytes themselves, not a copy: they become zeros with `wipe`. */
  reveal(): Buffer {
    return this.#bytes
  }

  /** Constant in time for secrets of equal length. */
  equals(other: Secret): boolean {
    return constantTimeEqual(this.#bytes, other.#bytes)
  }

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
