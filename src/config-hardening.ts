// What the configuration says about hardening: two settings of its own, and what the checks look at in the others.
import { isLoopback, parseAddress } from './config-listener.ts'
import { single, switchOf } from './config-values.ts'
import type { ListenerFacts } from './hardening/setting.ts'
import { blocksOf, type HclItem, type HclObject, scalar } from './lib/hcl.ts'

export type HardeningConfig = {
  /** `strict_hardening`: what would be a warning keeps the server from starting. */
  readonly isStrict: boolean
  /** `require_audit`: without an audit device the server does not start. */
  readonly isAuditRequired: boolean
  /** Of the stanzas; none where there is no stanza. */
  readonly listeners: readonly ListenerFacts[]
  /** Names of settings whose value is a secret in clear, as `seal.current_key`. */
  readonly inlineSecrets: readonly string[]
}

export const HARDENING_KEYS = ['strict_hardening', 'require_audit']

export const NO_HARDENING: HardeningConfig = {
  isStrict: false,
  isAuditRequired: false,
  listeners: [],
  inlineSecrets: [],
}

/** @throws ConfigError */
export function hardeningOf(body: HclObject): { readonly hardening: HardeningConfig } {
  return {
    hardening: {
      isStrict: switchOf(body, 'strict_hardening'),
      isAuditRequired: switchOf(body, 'require_audit'),
      listeners: blocksOf(body, 'listener', 1).flatMap(({ labels, body: stanza }) =>
        labels[0] === 'tcp' ? [listenerFacts(stanza)] : [],
      ),
      inlineSecrets: inlineSecrets(body, ''),
    },
  }
}

function listenerFacts(stanza: HclObject): ListenerFacts {
  const given = single(stanza, 'address')
  const address = given === undefined ? '127.0.0.1:8200' : String(given)
  const text = (key: string): string | undefined => {
    const value = single(stanza, key)
    return typeof value === 'string' && value !== '' ? value : undefined
  }
  return {
    address,
    isLocal: isLoopback(parseAddress(address).host),
    isTlsDisabled: switchOf(stanza, 'tls_disable'),
    certFile: text('tls_cert_file'),
    keyFile: text('tls_key_file'),
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
