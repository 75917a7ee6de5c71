// TLS of a listener: HTTP/1.1 only, suites with forward secrecy and authenticated encryption only (RFC 9325).
import type { ServerOptions } from 'node:https'

export type TlsVersion = 'tls12' | 'tls13'

/** What the configuration says of TLS, files by their paths. */
export type TlsRules = {
  readonly certFile: string
  readonly keyFile: string
  /** Clients must show a certificate that one of these authorities signed; undefined: none is asked for. */
  readonly clientCaFile: string | undefined
  readonly minVersion: TlsVersion
  readonly maxVersion: TlsVersion
  /** Of TLS 1.2, by the names of the registry; those of TLS 1.3 are always on. */
  readonly cipherSuites: readonly string[]
}

/** What the files hold, and the key of the session tickets, which is the same in all threads. */
export type TlsMaterial = {
  readonly cert: string
  readonly key: string
  readonly clientCa: string | undefined
  /** 48 random bytes. */
  readonly ticketKey: Buffer
}

/** Names of the registry (RFC 5289, RFC 7905), and what the library calls them; the first are preferred. */
export const CIPHER_SUITES: ReadonlyMap<string, string> = new Map([
  ['TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384', 'ECDHE-ECDSA-AES256-GCM-SHA384'],
  ['TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384', 'ECDHE-RSA-AES256-GCM-SHA384'],
  ['TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256', 'ECDHE-ECDSA-AES128-GCM-SHA256'],
  ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256', 'ECDHE-RSA-AES128-GCM-SHA256'],
  ['TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256', 'ECDHE-ECDSA-CHACHA20-POLY1305'],
  ['TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256', 'ECDHE-RSA-CHACHA20-POLY1305'],
])
export const TLS13_SUITES = ['TLS_AES_256_GCM_SHA384', 'TLS_AES_128_GCM_SHA256', 'TLS_CHACHA20_POLY1305_SHA256']
const GROUPS = 'X25519MLKEM768:X25519:P-256:P-384'
const HANDSHAKE_TIMEOUT_MS = 10_000
const VERSIONS = { tls12: 'TLSv1.2', tls13: 'TLSv1.3' } as const

/** For `https.createServer` and, with other material, for `setSecureContext`. */
export function secureOptions(rules: TlsRules, material: TlsMaterial): ServerOptions {
  const suites = rules.cipherSuites.map((name) => CIPHER_SUITES.get(name) as string)
  return {
    cert: material.cert,
    key: material.key,
    ...(material.clientCa === undefined ? {} : { ca: material.clientCa }),
    requestCert: material.clientCa !== undefined,
    rejectUnauthorized: material.clientCa !== undefined,
    minVersion: VERSIONS[rules.minVersion],
    maxVersion: VERSIONS[rules.maxVersion],
    ciphers: [...TLS13_SUITES, ...suites].join(':'),
    honorCipherOrder: true,
    ecdhCurve: GROUPS,
    ALPNProtocols: ['http/1.1'],
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    ticketKeys: material.ticketKey,
  }
}
