// How much is kept for callers: `max_cubbyhole_…`.
import { DEFAULT_KEPT_LIMITS, type KeptLimits } from './auth/kept-values.ts'
import { setting } from './config-setting.ts'
import { ConfigError, integerIn } from './config-values.ts'
import type { HclObject } from './lib/hcl.ts'
import { MAX_VALUE_BYTES } from './storage/contract.ts'

export const KEPT_SETTINGS = {
  max_cubbyhole_entry_size: setting(
    'bytes',
    String(DEFAULT_KEPT_LIMITS.entryBytes),
    'Largest entry of a cubbyhole, and largest wrapped answer; beyond it 413',
  ),
} as const

/** Storage takes no larger value, and a wrapped answer is a text in JSON: a byte of it may take two. */
const MOST_ENTRY_BYTES = MAX_VALUE_BYTES / 4

export function keptOf(body: HclObject): { readonly kept?: Partial<KeptLimits> } {
  const bound = (key: keyof typeof KEPT_SETTINGS, most: number): number | undefined => {
    const what = `a number from 1 to ${most}`
    const value = integerIn(body, key, what)
    if (value !== undefined && (value < 1 || value > most)) throw new ConfigError(`"${key}" must be ${what}`)
    return value
  }
  const entryBytes = bound('max_cubbyhole_entry_size', MOST_ENTRY_BYTES)
  const kept = { ...(entryBytes === undefined ? {} : { entryBytes }) }
  return Object.keys(kept).length === 0 ? {} : { kept }
}
