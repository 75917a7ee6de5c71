// The keys `max_cubbyhole_…`: how much the server keeps for callers.
import { DEFAULT_KEPT_LIMITS, type KeptLimits } from '../auth/kept-values.ts'
import type { HclObject } from '../lib/hcl-tree.ts'
import { MAX_VALUE_BYTES } from '../storage/contract.ts'
import { setting } from './setting.ts'
import { ConfigError, integerIn } from './values.ts'

/** Keys of these limits; docs/configuration.md shows them. */
export const KEPT_SETTINGS = {
  max_cubbyhole_entry_size: setting(
    'bytes',
    String(DEFAULT_KEPT_LIMITS.entryBytes),
    'Maximum size of a cubbyhole entry and of a wrapped answer; beyond it 413',
  ),
  max_cubbyhole_entries: setting(
    'number',
    String(DEFAULT_KEPT_LIMITS.entries),
    'Maximum number of entries in the cubbyhole of one token; beyond it 400',
  ),
  max_cubbyhole_size: setting(
    'bytes',
    String(DEFAULT_KEPT_LIMITS.bytes),
    'Maximum total size of the cubbyhole of one token, including paths; beyond it 400',
  ),
} as const

/** A quarter of the largest stored value: a wrapped answer is a text in JSON, where a byte may take two. */
const MOST_ENTRY_BYTES = MAX_VALUE_BYTES / 4
/** The end of a token removes its entries in steps of a few hundred: more would take too long. */
const MOST_ENTRIES = 1_000_000

/** Reads the limits that are given. @throws ConfigError */
export function keptOf(body: HclObject): { readonly kept?: Partial<KeptLimits> } {
  const bound = (key: keyof typeof KEPT_SETTINGS, most: number): number | undefined => {
    const what = `a number from 1 to ${most}`
    const value = integerIn(body, key, what)
    if (value !== undefined && (value < 1 || value > most)) throw new ConfigError(`"${key}" must be ${what}`)
    return value
  }
  const entryBytes = bound('max_cubbyhole_entry_size', MOST_ENTRY_BYTES)
  const entries = bound('max_cubbyhole_entries', MOST_ENTRIES)
  const bytes = bound('max_cubbyhole_size', Number.MAX_SAFE_INTEGER)
  const kept = {
    ...(entryBytes === undefined ? {} : { entryBytes }),
    ...(entries === undefined ? {} : { entries }),
    ...(bytes === undefined ? {} : { bytes }),
  }
  return Object.keys(kept).length === 0 ? {} : { kept }
}
