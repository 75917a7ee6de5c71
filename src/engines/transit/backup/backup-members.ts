// Members of a backup: looked up as the other programs do, which take a name in capitals for the same, and each of
// the kind that it should be.
import { fail, type Refusal } from '../../../api/errors.ts'
import { Base64Error, decodeBase64 } from '../../../lib/base64.ts'
import type { ExactJson } from '../../../lib/json.ts'
import { type Instant, parseRfc3339 } from '../../../lib/rfc3339.ts'

/** Of versions, periods and all else that is counted. */
export const MAX_NUMBER = 2 ** 31 - 1

/** `path` leads to what is wrong. */
export function refuseBackup(path: string, why: string, cause?: unknown): Refusal {
  return fail('backup_invalid', [`${path} ${why}`], cause)
}

export class BackupMembers {
  readonly path: string
  readonly #members: ReadonlyMap<string, ExactJson>

  /** @throws Refusal for what is no object */
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

  /** Missing and null are one. */
  value(name: string): ExactJson | undefined {
    return this.#members.get(name.toLowerCase()) ?? undefined
  }

  refuse(name: string, why: string): Refusal {
    return refuseBackup(`${this.path}.${name}`, why)
  }

  /** Empty where it is missing. */
  text(name: string): string {
    const value = this.value(name) ?? ''
    if (typeof value !== 'string') throw this.refuse(name, 'is no text')
    return value
  }

  /** False where it is missing. */
  flag(name: string): boolean {
    const value = this.value(name) ?? false
    if (typeof value !== 'boolean') throw this.refuse(name, 'is neither true nor false')
    return value
  }

  /** 0 where it is missing. */
  whole(name: string, min: number, max: number): number {
    const value = this.value(name) ?? 0
    if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max)
      throw this.refuse(name, `is no whole number from ${min} to ${max}`)
    return value
  }

  /** A number of any length, not negative; undefined where it is missing. */
  natural(name: string): bigint | undefined {
    const value = this.value(name)
    return value === undefined ? undefined : naturalOf(value, `${this.path}.${name}`)
  }

  /** The caller wipes it; undefined where it is missing or empty. */
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

  /** Undefined where it is missing, or before 1970: how other programs write that there is none. */
  time(name: string): Instant | undefined {
    const text = this.text(name)
    if (text === '') return undefined
    const instant = parseRfc3339(text)
    if (instant === undefined) throw this.refuse(name, 'is no time in RFC 3339')
    return instant.ms < 0 ? undefined : instant
  }

  group(name: string): BackupMembers | undefined {
    const value = this.value(name)
    return value === undefined ? undefined : new BackupMembers(value, `${this.path}.${name}`)
  }

  list(name: string): readonly ExactJson[] {
    const value = this.value(name) ?? []
    if (!Array.isArray(value)) throw this.refuse(name, 'is no list')
    return value
  }
}

/** @throws Refusal */
export function naturalOf(value: ExactJson | undefined, path: string): bigint {
  const isWhole = typeof value === 'bigint' || (typeof value === 'number' && Number.isSafeInteger(value))
  const number = isWhole ? BigInt(value) : -1n
  if (number < 0n) throw refuseBackup(path, 'is no whole number, or negative')
  return number
}
