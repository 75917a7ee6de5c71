// The stanza `seal`: what opens the server when it starts.
import { ConfigError, only, requireKnown, textIn } from './config-values.ts'
import type { HclObject } from './lib/hcl.ts'
import type { StaticSealConfig } from './static-seal.ts'

/** Nothing where shares open the server. */
const STATIC_KEYS = ['current_key_id', 'current_key', 'previous_key_id', 'previous_key']

export function sealOf(body: HclObject): { readonly seal?: StaticSealConfig } {
  const block = only(body, 'seal')
  if (block === undefined || block.labels[0] === 'shamir') return {}
  if (block.labels[0] !== 'static') {
    throw new ConfigError(`line ${block.line}: the seal "${block.labels[0]}" is not offered, use static or shamir`)
  }
  requireKnown(block.body, STATIC_KEYS, 'seal "static"')
  const [keyId, key, previousId, previousKey] = STATIC_KEYS.map((name) => textIn(block.body, name))
  if (keyId === undefined || key === undefined)
    throw new ConfigError(`line ${block.line}: seal "static" needs current_key_id and current_key`)
  if ((previousId === undefined) !== (previousKey === undefined))
    throw new ConfigError(`line ${block.line}: seal "static" needs previous_key_id and previous_key together`)
  if (previousId === keyId)
    throw new ConfigError(`line ${block.line}: seal "static" has two keys with the id "${keyId}"`)
  const previous =
    previousId === undefined || previousKey === undefined ? undefined : { keyId: previousId, key: previousKey }
  return { seal: { keyId, key, previous } }
}
