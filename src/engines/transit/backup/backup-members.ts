// Members of a backup, each checked for its kind. Names match whatever their case, as they do in the other products
// that read backups.
import { fail, type Refusal } from '../../../api/errors.ts'
import { Base64Error, decodeBase64 } from '../../../lib/base64.ts'
import type { ExactJson } from '../../../lib/json.ts'
import { type Instant, parseRfc3339 } from '../../../lib/rfc3339.ts'

/** Limit for the whole numbers of a backup, such as versions: those of 31 bits. */
export const MAX_NUMBER = 2 ** 31 - 1

/** Returns the refusal of a backup; `path` names the member that is wrong. */
export function refuseBackup(path: string, why: string, cause?: unknown): Refusal {
  return fail('backup_invalid', [`${path} ${why}`], cause)
}

/** One object of a backup. Every method refuses a member that is of another kind. */
export class BackupMembers {
  readonly path: string
  readonly #members: ReadonlyMap<string, ExactJson>

  /** `path` leads here, for refusals. @throws Refusal unless the value is an object */
  constructor(value: ExactJson | undefined, path: string) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw refuseBackup(path, 'is no object')
    this.path = path
    this.#members = new Map(Object.entries(value).map(([name, one]) => [name.toLowerCase(), one]))
  }

  get names(): Iterable<string> {
    return this.#members.keys()
  }

  has(name: string): boolean {
    return this.#members.has(name.toLowerCase())
  }

  /** Returns the value; undefined if it is missing or null, which mean the same. */
  value(name: string): ExactJson | undefined {
    return this.#members.get(name.toLowerCase()) ?? undefined
  }

  /** Returns the refusal that names this member. */
  refuse(name: string, why: string): Refusal {
    return refuseBackup(`${this.path}.${name}`, why)
  }

  /** Returns a text, '' if it is missing. @throws Refusal */
  text(name: string): string {
    const value = this.value(name) ?? ''
    if (typeof value !== 'string') throw this.refuse(name, 'is no text')
    return value
  }

  /** Returns a flag, false if it is missing. @throws Refusal */
  flag(name: string): boolean {
    const value = this.value(name) ?? false
    if (typeof value !== 'boolean') throw this.refuse(name, 'is neither true nor false')
    return value
  }

  /** Returns a whole number within the bounds; a missing one is 0, which they must allow. @throws Refusal */
  whole(name: string, min: number, max: number): number {
    const value = this.value(name) ?? 0
    if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max)
      throw this.refuse(name, `is no whole number from ${min} to ${max}`)
    return value
  }

  /** Returns a whole number of any length that is not negative; undefined if it is missing. @throws Refusal */
  natural(name: string): bigint | undefined {
    const value = this.value(name)
    return value === undefined ? undefined : naturalOf(value, `${this.path}.${name}`)
  }

  /** Returns bytes that stand in base64, which the caller wipes; undefined if missing or empty. @throws Refusal */
  bytes(name: string): Buffer | undefined {
    const text = this.text(name)
    if (text === '') return undefined
    try {
      return decodeBase64(text)
    } catch (cause) {
      if (!(cause instanceof Base64Error)) throw cause
      throw this.refuse(name, 'is not base64')
    }
  }

  /**
   * Returns a time; undefined if it is missing or before 1970, as other products write a time for "none".
   * @throws Refusal
   */
  time(name: string): Instant | undefined {
    const text = this.text(name)
    if (text === '') return undefined
    const instant = parseRfc3339(text)
    if (instant === undefined) throw this.refuse(name, 'is no time in RFC 3339')
    return instant.ms < 0 ? undefined : instant
  }

  /** Returns an object; undefined if it is missing. @throws Refusal */
  group(name: string): BackupMembers | undefined {
    const value = this.value(name)
    return value === undefined ? undefined : new BackupMembers(value, `${this.path}.${name}`)
  }

  /** Returns a list, empty if it is missing. @throws Refusal */
  list(name: string): readonly ExactJson[] {
    const value = this.value(name) ?? []
    if (!Array.isArray(value)) throw this.refuse(name, 'is no list')
    return value
  }
}

/** Returns the value as a whole number that is not negative; `path` is for the refusal. @throws Refusal */
export function naturalOf(value: ExactJson | undefined, path: string): bigint {
  const isWhole = typeof value === 'bigint' || (typeof value === 'number' && Number.isSafeInteger(value))
  const number = isWhole ? BigInt(value) : -1n
  if (number < 0n) throw refuseBackup(path, 'is no whole number, or negative')
  return number
}
