// Reads values out of a stanza of the configuration: each is what it should be, once, and every key is known.

import { DurationError, parseDurationSeconds } from '../lib/duration.ts'
import { blocksOf, type HclBlock, HclError, hclStrings, itemsOf, scalar } from '../lib/hcl.ts'
import type { HclObject } from '../lib/hcl-tree.ts'
import { nearest } from '../lib/nearest.ts'
import type { Setting, SettingTable } from './setting.ts'

/** What is wrong with the configuration: a sentence, or several, each on a line of its own. */
export class ConfigError extends Error {
  override name = 'ConfigError'
}

/** Collects what is wrong in several places, so that it is told at once. */
export class Faults {
  readonly #sentences: string[] = []

  /** What `work` gives; undefined where it found a fault. */
  collect<T>(work: () => T): T | undefined {
    try {
      return work()
    } catch (cause) {
      if (!(cause instanceof ConfigError || cause instanceof HclError)) throw cause
      this.#sentences.push(...cause.message.split('\n'))
      return undefined
    }
  }

  /** @throws ConfigError where there was a fault */
  end(): void {
    if (this.#sentences.length > 0) throw new ConfigError(this.#sentences.join('\n'))
  }
}

/** Every key of `body` is one of `known`. @throws ConfigError that names all that are not */
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
 * The same by the table of a stanza: gives a warning for each key that is taken and does nothing.
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

/** Who says that it is not to be gets what was asked for. */
const isOff = (body: HclObject, key: string): boolean =>
  itemsOf(body, key).every(({ value }) => [false, 'false'].includes(scalar(value) as string | boolean))

/** What a hint may name. */
const takenKeys = (table: SettingTable): string[] =>
  Object.entries(table).flatMap(([key, { kind }]) => (kind === 'offered' ? [key] : []))

/** The block with this key, of which there may be one. */
export function only(body: HclObject, key: string, labels = 1): HclBlock | undefined {
  const blocks = blocksOf(body, key, labels)
  if (blocks.length > 1) throw new ConfigError(`line ${blocks[1]?.line}: a second ${key}, this version knows one`)
  return blocks[0]
}

export function single(body: HclObject, key: string): string | number | bigint | boolean | null | undefined {
  const items = body.items.filter((item) => item.key === key)
  const [first, second] = items
  if (second !== undefined) throw new ConfigError(`line ${second.line}: "${key}" stands twice`)
  if (first === undefined) return undefined
  const value = scalar(first.value)
  if (value === undefined) throw new ConfigError(`line ${first.line}: "${key}" must be a single value`)
  return value
}

/** Undefined where it is missing or empty; its value is in no message. */
export function textIn(body: HclObject, key: string): string | undefined {
  const value = single(body, key)
  if (value === undefined || value === '') return undefined
  if (typeof value !== 'string') throw new ConfigError(`"${key}" must be text`)
  return value
}

/** Off where it is missing. */
export function switchOf(body: HclObject, key: string, missing = false): boolean {
  const value = single(body, key)
  if (value === undefined) return missing
  if (value === false || value === 'false' || value === 0 || value === '0') return false
  if (value === true || value === 'true' || value === 1 || value === '1') return true
  throw new ConfigError(`"${key}" must be true or false`)
}

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

/** A whole number, also as text: of decimal digits, since what else a program may read as a number is rarely meant. */
export function integerIn(body: HclObject, key: string, what = 'a whole number'): number | undefined {
  const value = single(body, key)
  if (value === undefined) return undefined
  const number = typeof value === 'string' && /^-?\d{1,16}$/.test(value) ? Number(value) : value
  if (typeof number !== 'number' || !Number.isSafeInteger(number)) throw new ConfigError(`"${key}" must be ${what}`)
  return number
}

/** A list, or a text with commas; empty where it is missing. */
export function listIn(body: HclObject, key: string): readonly string[] {
  const [first, second] = itemsOf(body, key)
  if (second !== undefined) throw new ConfigError(`line ${second.line}: "${key}" stands twice`)
  if (first === undefined) return []
  const value = first.value.kind === 'string' ? first.value.value.split(',') : hclStrings(first.value)
  if (value === undefined) throw new ConfigError(`line ${first.line}: "${key}" must be a list of texts`)
  return value.map((each) => each.trim()).filter((each) => each !== '')
}
