// The part of the configuration about hardening: two settings of its own, and the names of those that hold a secret.

import { scalar } from '../lib/hcl.ts'
import type { HclItem, HclObject } from '../lib/hcl-tree.ts'
import { switchOf } from './values.ts'

/** Input of the checks at the start (src/hardening). */
export type HardeningConfig = {
  /** `strict_hardening`: a warning of the checks keeps the server from starting. */
  readonly isStrict: boolean
  /** `require_audit`: without an audit device the server does not start. */
  readonly isAuditRequired: boolean
  /** Names of settings whose value is a secret in clear, such as `seal.current_key` (threats B-10). */
  readonly inlineSecrets: readonly string[]
}

/** Keys at the top that belong to this part. */
export const HARDENING_KEYS = ['strict_hardening', 'require_audit']

/** The part for a configuration without these keys. */
export const NO_HARDENING: HardeningConfig = {
  isStrict: false,
  isAuditRequired: false,
  inlineSecrets: [],
}

/** Reads both switches, and looks for secrets everywhere in the file. @throws ConfigError */
export function hardeningOf(body: HclObject): { readonly hardening?: Partial<HardeningConfig> } {
  const isStrict = switchOf(body, 'strict_hardening')
  const isAuditRequired = switchOf(body, 'require_audit')
  const secrets = inlineSecrets(body, '')
  if (!isStrict && !isAuditRequired && secrets.length === 0) return {}
  return {
    hardening: {
      ...(isStrict ? { isStrict } : {}),
      ...(isAuditRequired ? { isAuditRequired } : {}),
      ...(secrets.length === 0 ? {} : { inlineSecrets: secrets }),
    },
  }
}

/** Last parts of the names of settings that hold secrets, in any stanza. */
const SECRET_NAMES = ['current_key', 'previous_key', 'token', 'password', 'secret', 'client_secret', 'secret_key']
/** Values that begin so say where the secret is, and hold none. */
const REFERENCES = ['file://', 'env://']

function inlineSecrets(body: HclObject, prefix: string): string[] {
  return body.items.flatMap((item) => {
    const name = prefix + item.key
    const { value } = item
    const inner = value.kind === 'object' ? [value] : value.kind === 'list' ? value.elements : []
    const found = inner.flatMap((each) => (each.kind === 'object' ? inlineSecrets(each, `${name}.`) : []))
    return isInlineSecret(item) ? [name, ...found] : found
  })
}

function isInlineSecret({ key, value }: HclItem): boolean {
  const text = scalar(value)
  if (!SECRET_NAMES.includes(key) || typeof text !== 'string' || text === '') return false
  return !REFERENCES.some((prefix) => text.startsWith(prefix))
}
