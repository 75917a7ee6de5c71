// The key `edition`: which features are switched on (Interface 9). None of them needs a licence.
import { EDITIONS, type Edition } from '../api/edition.ts'
import type { HclObject } from '../lib/hcl-tree.ts'
import { ConfigError, single } from './values.ts'

/** Reads the key; returns nothing for a file without it. @throws ConfigError */
export function editionOf(body: HclObject): { readonly edition?: Edition } {
  const value = single(body, 'edition')
  if (value === undefined) return {}
  const edition = EDITIONS.find((name) => name === value)
  if (edition === undefined) throw new ConfigError(`"edition" must be one of ${EDITIONS.join(', ')}`)
  return { edition }
}
