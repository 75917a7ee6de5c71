// Reads values out of a stanza of the configuration. It checks that each has its type and stands once, and that every
// key is known.

import { DurationError, parseDurationNanoseconds, parseDurationSeconds } from '../lib/duration.ts'
import { blocksOf, type HclBlock, HclError, hclStrings, itemsOf, scalar } from '../lib/hcl.ts'
import type { HclObject } from '../lib/hcl-tree.ts'
import { nearest } from '../lib/nearest.ts'
import type { Setting, SettingTable } from './setting.ts'

/** A fault of the configuration. The message has a sentence, or several, each on a line of its own. */
export class ConfigError extends Error {
  override name = 'ConfigError'
}

/** Collects faults from several places, so that the operator sees all of them at once. */
export class Faults {
  readonly #sentences: string[] = []

  /** Returns the result of `work`; undefined if it found a fault, which is kept. Defects are thrown on. */
  collect<T>(work: () => T): T | undefined {
    try {
      return work()
    } catch (cause) {
      if (!(cause instanceof ConfigError || cause instanceof HclError)) throw cause
      this.#sentences.push(...cause.message.split('\n'))
      return undefined
    }
  }

  /** @throws ConfigError with all faults, if there was one */
  end(): void {
    if (this.#sentences.length > 0) throw new ConfigError(this.#sentences.join('\n'))
  }
}

/** Checks that every key of `body` is one of `known`. @throws ConfigError that names all that are not (threats E-14) */
export function requireKnown(body: HclObject, known: readonly string[], where: string): void {
  const faults = new Faults()
  for (const { key, line } of body.items) {
    if (!known.includes(key)) faults.collect(() => unknownKey(key, line, known, where))
  }
  faults.end()
}

function unknownKey(key: string, line: number, known: readonly string[], where: string): never {
  const near = nearest(key, known)
  const all = known.length === 0 ? 'it takes none' : `known are ${known.join(', ')}`
  const hint = near === undefined ? all : `did you mean "${near}"?`
  throw new ConfigError(`line ${line}: unknown key "${key}" in ${where}, ${hint}`)
}

/**
 * Checks keys against the table of a stanza. Returns a warning for each key that is accepted and does nothing.
 * @throws ConfigError that names all keys that are unknown or refused
 */
export function checkKeys(body: HclObject, table: SettingTable, where: string): string[] {
  const faults = new Faults()
  const warnings: string[] = []
  for (const { key, line } of body.items) {
    const found: Setting | undefined = Object.hasOwn(table, key) ? table[key] : undefined
    if (found === undefined) faults.collect(() => unknownKey(key, line, takenKeys(table), where))
    else if (found.kind === 'refused' && !isOff(body, key)) {
      faults.collect(() => {
        throw new ConfigError(`line ${line}: "${key}" in ${where} is not offered: ${found.remedy}`)
      })
    } else if (found.kind === 'ignored') warnings.push(`line ${line}: "${key}" in ${where} does nothing: ${found.why}`)
  }
  faults.end()
  return warnings
}

/** True if a key only switches off what is not offered: the file asks for what it gets. */
const isOff = (body: HclObject, key: string): boolean =>
  itemsOf(body, key).every(({ value }) => [false, 'false'].includes(scalar(value) as string | boolean))

/** Returns the keys that a hint may name: those that are offered. */
const takenKeys = (table: SettingTable): string[] =>
  Object.entries(table).flatMap(([key, { kind }]) => (kind === 'offered' ? [key] : []))

/** Returns the block with this key; undefined without one. @throws ConfigError if there are two */
export function only(body: HclObject, key: string, labels = 1): HclBlock | undefined {
  const blocks = blocksOf(body, key, labels)
  if (blocks.length > 1) throw new ConfigError(`line ${blocks[1]?.line}: a second ${key}, this version knows one`)
  return blocks[0]
}

/** Returns the value of a key; undefined if it is missing. @throws ConfigError if it stands twice, or is no scalar */
export function single(body: HclObject, key: string): string | number | bigint | boolean | null | undefined {
  const items = body.items.filter((item) => item.key === key)
  const [first, second] = items
  if (second !== undefined) throw new ConfigError(`line ${second.line}: "${key}" stands twice`)
  if (first === undefined) return undefined
  const value = scalar(first.value)
  if (value === undefined) throw new ConfigError(`line ${first.line}: "${key}" must be a single value`)
  return value
}

/** Returns a text; undefined if it is missing or empty. @throws ConfigError, which never quotes it */
export function textIn(body: HclObject, key: string): string | undefined {
  const value = single(body, key)
  if (value === undefined || value === '') return undefined
  if (typeof value !== 'string') throw new ConfigError(`"${key}" must be text`)
  return value
}

/** Returns a switch; a missing one is off unless `missing` says otherwise. Texts and 0 and 1 are accepted too. */
export function switchOf(body: HclObject, key: string, missing = false): boolean {
  const value = single(body, key)
  if (value === undefined) return missing
  if (value === false || value === 'false' || value === 0 || value === '0') return false
  if (value === true || value === 'true' || value === 1 || value === '1') return true
  throw new ConfigError(`"${key}" must be true or false`)
}

/** Returns a duration in seconds; undefined if it is missing. @throws ConfigError, for negative ones too */
export function secondsIn(body: HclObject, key: string): number | undefined {
  const value = single(body, key)
  if (value === undefined) return undefined
  try {
    const seconds = parseDurationSeconds(typeof value === 'number' ? value : String(value))
    if (seconds >= 0) return seconds
  } catch (cause) {
    if (!(cause instanceof DurationError)) throw cause
  }
  throw new ConfigError(`"${key}" must be seconds or a duration such as 90m`)
}

/** Returns a duration in whole milliseconds, likewise. @throws ConfigError, for one above `mostMs` too */
export function millisecondsIn(body: HclObject, key: string, mostMs: number): number | undefined {
  const value = single(body, key)
  if (value === undefined) return undefined
  try {
    const ms = Number(parseDurationNanoseconds(typeof value === 'number' ? value : String(value)) / 1_000_000n)
    if (ms >= 0 && ms <= mostMs) return ms
  } catch (cause) {
    if (!(cause instanceof DurationError)) throw cause
  }
  throw new ConfigError(`"${key}" must be seconds or a duration such as 500ms, and ${mostMs / 1_000}s at most`)
}

/** Returns a whole number; as text it has decimal digits alone, since `0x10` and `1e3` are rarely meant. */
export function integerIn(body: HclObject, key: string, what = 'a whole number'): number | undefined {
  const value = single(body, key)
  if (value === undefined) return undefined
  const number = typeof value === 'string' && /^-?\d{1,16}$/.test(value) ? Number(value) : value
  if (typeof number !== 'number' || !Number.isSafeInteger(number)) throw new ConfigError(`"${key}" must be ${what}`)
  return number
}

/** Returns a list, which may be written as text with commas; empty if it is missing. @throws ConfigError */
export function listIn(body: HclObject, key: string): readonly string[] {
  const [first, second] = itemsOf(body, key)
  if (second !== undefined) throw new ConfigError(`line ${second.line}: "${key}" stands twice`)
  if (first === undefined) return []
  const value = first.value.kind === 'string' ? first.value.value.split(',') : hclStrings(first.value)
  if (value === undefined) throw new ConfigError(`line ${first.line}: "${key}" must be a list of texts`)
  return value.map((each) => each.trim()).filter((each) => each !== '')
}
