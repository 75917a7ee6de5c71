// The keys of a listener that begin with tls_. The files are read when the server starts, and again at SIGHUP
// (src/process/tls-files.ts).

import { CIPHER_SUITES, TLS13_SUITES, type TlsRules, type TlsVersion } from '../http/tls.ts'
import type { HclObject } from '../lib/hcl-tree.ts'
import { nearest } from '../lib/nearest.ts'
import { ignored, refused, setting } from './setting.ts'
import { ConfigError, listIn, switchOf, textIn } from './values.ts'

const SUITE_NAMES = [...CIPHER_SUITES.keys()].map((name) => `\`${name}\``).join(', ')

/** Keys of `listener "tcp"`; docs/configuration.md shows them. */
export const TLS_SETTINGS = {
  tls_disable: setting('bool', 'false', 'Serve plain HTTP; required if there is no certificate'),
  tls_cert_file: setting('path', 'none', 'PEM certificate, followed by its chain; reloaded on SIGHUP'),
  tls_key_file: setting('path', 'none', 'PEM private key of the certificate, without a passphrase; reloaded on SIGHUP'),
  tls_min_version: setting('"tls12", "tls13"', 'tls12', 'Minimum TLS version'),
  tls_max_version: setting('"tls12", "tls13"', 'tls13', 'Maximum TLS version'),
  tls_cipher_suites: setting(
    'list',
    'all',
    `TLS 1.2 cipher suites to allow, from ${SUITE_NAMES}; those of TLS 1.3 are always enabled`,
  ),
  tls_require_and_verify_client_cert: setting('bool', 'false', 'Clients must present a certificate'),
  tls_client_ca_file: setting(
    'path',
    'none',
    'PEM CA certificates that verify client certificates; reloaded on SIGHUP',
  ),
  tls_disable_client_certs: setting('bool', 'false', 'Do not request client certificates, which is the default anyway'),
  tls_prefer_server_cipher_suites: ignored('the order of the server always applies'),
  tls_acme_domains: refused('get the certificate with an ACME client, and send SIGHUP when it is renewed'),
} as const

const VERSIONS: readonly TlsVersion[] = ['tls12', 'tls13']
/** Deprecated by RFC 8996. They get a message of their own: the reference still takes them. */
const OLD_VERSIONS = ['tls10', 'tls11']

/**
 * Reads the TLS rules; undefined if the listener speaks in clear. That has to be said with `tls_disable` (threats
 * P-61), unless `isPlainAllowed`.
 * @throws ConfigError
 */
export function tlsOf(body: HclObject, isPlainAllowed: boolean): TlsRules | undefined {
  const [certFile, keyFile] = [textIn(body, 'tls_cert_file'), textIn(body, 'tls_key_file')]
  if (switchOf(body, 'tls_disable')) return undefined
  if (certFile === undefined && keyFile === undefined && isPlainAllowed) return undefined
  if (certFile === undefined || keyFile === undefined) {
    throw new ConfigError(
      'a listener needs tls_cert_file and tls_key_file; tls_disable = true lets it speak in clear, tokens included',
    )
  }
  const [minVersion, maxVersion] = [versionIn(body, 'tls_min_version'), versionIn(body, 'tls_max_version')]
  if (minVersion === 'tls13' && maxVersion === 'tls12')
    throw new ConfigError('"tls_min_version" must not be newer than "tls_max_version"')
  return {
    certFile,
    keyFile,
    clientCaFile: clientCaIn(body),
    minVersion: minVersion ?? 'tls12',
    maxVersion: maxVersion ?? 'tls13',
    cipherSuites: suitesIn(body),
  }
}

function versionIn(body: HclObject, key: string): TlsVersion | undefined {
  const text = textIn(body, key)
  if (text === undefined) return undefined
  if (OLD_VERSIONS.includes(text)) throw new ConfigError(`"${key}": ${text} is not offered, it is broken: use tls12`)
  const found = VERSIONS.find((version) => version === text)
  if (found === undefined) throw new ConfigError(`"${key}" must be one of ${VERSIONS.join(', ')}`)
  return found
}

/** Contradictions are refused: a client authority without effect would look like protection. */
function clientCaIn(body: HclObject): string | undefined {
  const file = textIn(body, 'tls_client_ca_file')
  const isRequired = switchOf(body, 'tls_require_and_verify_client_cert')
  if (isRequired && switchOf(body, 'tls_disable_client_certs'))
    throw new ConfigError('"tls_require_and_verify_client_cert" and "tls_disable_client_certs" exclude each other')
  if (isRequired && file === undefined)
    throw new ConfigError('"tls_require_and_verify_client_cert" needs tls_client_ca_file')
  if (!isRequired && file !== undefined)
    throw new ConfigError('"tls_client_ca_file" is for tls_require_and_verify_client_cert = true')
  return file
}

/** Returns suites of TLS 1.2 in the given order. Those of TLS 1.3 cannot be chosen, and are passed over. */
function suitesIn(body: HclObject): readonly string[] {
  const names = listIn(body, 'tls_cipher_suites').filter((name) => !TLS13_SUITES.includes(name))
  for (const name of names) {
    if (CIPHER_SUITES.has(name)) continue
    const near = nearest(name, CIPHER_SUITES.keys())
    const hint = near === undefined ? `offered are ${[...CIPHER_SUITES.keys()].join(', ')}` : `did you mean ${near}?`
    throw new ConfigError(`"tls_cipher_suites": the suite ${name} is not offered, ${hint}`)
  }
  return names.length === 0 ? [...CIPHER_SUITES.keys()] : names
}
