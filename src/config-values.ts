// Reads values out of a stanza of the configuration: each is what it should be, once, and every key is known.
import { DurationError, parseDurationSeconds } from './lib/duration.ts'
import { blocksOf, type HclBlock, type HclObject, scalar } from './lib/hcl.ts'
import { nearest } from './lib/nearest.ts'

/** What is wrong with the configuration, in one sentence. */
export class ConfigError extends Error {
  override name = 'ConfigError'
}

export function requireKnown(body: HclObject, known: readonly string[], where: string): void {
  for (const { key, line } of body.items) {
    if (known.includes(key)) continue
    const near = nearest(key, known)
    const hint = near === undefined ? `known are ${known.join(', ')}` : `did you mean "${near}"?`
    throw new ConfigError(`line ${line}: unknown key "${key}" in ${where}, ${hint}`)
  }
}

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
export function switchOf(body: HclObject, key: string): boolean {
  const value = single(body, key)
  if (value === undefined || value === false || value === 'false' || value === 0 || value === '0') return false
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
