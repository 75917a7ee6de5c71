// The stanza `seal`: a static key that opens the server at its start, or shares of people.

import type { HclObject } from '../lib/hcl-tree.ts'
import { type Stanza, setting } from './setting.ts'
import { ConfigError, checkKeys, only, textIn } from './values.ts'

const KEY_FORM = 'text, `file://PATH`, `env://NAME`'

/** Keys of `seal "static"`; `seal "shamir"` has none. */
export const SEAL_STANZA: Stanza = {
  title: 'seal "static"',
  about: 'A key that unseals the server at every start. Without it, or with `seal "shamir" {}`, key shares unseal it.',
  settings: {
    current_key_id: setting('text', 'required', 'Id of the key'),
    current_key: setting(KEY_FORM, 'required', 'Key of 32 bytes'),
    previous_key_id: setting('text', 'none', 'Id of the previous key, while the key is being changed'),
    previous_key: setting(KEY_FORM, 'none', 'Previous key'),
  },
}
const STATIC_KEYS = Object.keys(SEAL_STANZA.settings)

/** The keys as they are written: text, `file://PATH` or `env://NAME`. src/assembly/static-seal.ts reads them. */
export type StaticSealConfig = {
  readonly keyId: string
  readonly key: string
  readonly previous: { readonly keyId: string; readonly key: string } | undefined
}

/** Reads the stanza; returns nothing if shares open the server. @throws ConfigError */
export function sealOf(body: HclObject): { readonly seal?: StaticSealConfig } {
  const block = only(body, 'seal')
  if (block === undefined) return {}
  if (block.labels[0] === 'shamir') {
    checkKeys(block.body, {}, 'seal "shamir"')
    return {}
  }
  if (block.labels[0] !== 'static') {
    throw new ConfigError(`line ${block.line}: the seal "${block.labels[0]}" is not offered, use static or shamir`)
  }
  checkKeys(block.body, SEAL_STANZA.settings, SEAL_STANZA.title)
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
