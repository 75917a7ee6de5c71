// What the configuration says about hardening: two settings of its own, and which of the others hold a secret.

import { scalar } from '../lib/hcl.ts'
import type { HclItem, HclObject } from '../lib/hcl-tree.ts'
import { switchOf } from './values.ts'

export type HardeningConfig = {
  /** `strict_hardening`: what would be a warning keeps the server from starting. */
  readonly isStrict: boolean
  /** `require_audit`: without an audit device the server does not start. */
  readonly isAuditRequired: boolean
  /** Names of settings whose value is a secret in clear, as `seal.current_key`. */
  readonly inlineSecrets: readonly string[]
}

export const HARDENING_KEYS = ['strict_hardening', 'require_audit']

export const NO_HARDENING: HardeningConfig = {
  isStrict: false,
  isAuditRequired: false,
  inlineSecrets: [],
}

/** Nothing where none of it is said. @throws ConfigError */
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

/** Settings whose value is a secret, wherever they stand. */
const SECRET_NAMES = ['current_key', 'previous_key', 'token', 'password', 'secret', 'client_secret', 'secret_key']
/** A value that says where the secret is. */
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
