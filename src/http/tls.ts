// TLS of a listener: no HTTP/2, only suites with forward secrecy and authenticated encryption (RFC 9325).
import type { ServerOptions } from 'node:https'

/** A version as the configuration names it. */
export type TlsVersion = 'tls12' | 'tls13'

/** The TLS part of a listener's configuration, with files by their paths. */
export type TlsRules = {
  readonly certFile: string
  readonly keyFile: string
  /** Clients must show a certificate signed by one of these authorities; undefined: none is asked for. */
  readonly clientCaFile: string | undefined
  readonly minVersion: TlsVersion
  readonly maxVersion: TlsVersion
  /** Suites of TLS 1.2, by the names of the registry; those of TLS 1.3 are always on. */
  readonly cipherSuites: readonly string[]
}

/** Contents of the files, and the key of session tickets, which is the same in all threads so that each can resume. */
export type TlsMaterial = {
  readonly cert: string
  readonly key: string
  readonly clientCa: string | undefined
  /** 48 random bytes, as node:tls asks for. */
  readonly ticketKey: Buffer
}

/**
 * Suites of TLS 1.2 that can be set: names of the registry (RFC 5289, RFC 7905) and OpenSSL's names, preferred ones
 * first.
 */
export const CIPHER_SUITES: ReadonlyMap<string, string> = new Map([
  ['TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384', 'ECDHE-ECDSA-AES256-GCM-SHA384'],
  ['TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384', 'ECDHE-RSA-AES256-GCM-SHA384'],
  ['TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256', 'ECDHE-ECDSA-AES128-GCM-SHA256'],
  ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256', 'ECDHE-RSA-AES128-GCM-SHA256'],
  ['TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256', 'ECDHE-ECDSA-CHACHA20-POLY1305'],
  ['TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256', 'ECDHE-RSA-CHACHA20-POLY1305'],
])
/** Suites of TLS 1.3, preferred ones first. */
export const TLS13_SUITES = ['TLS_AES_256_GCM_SHA384', 'TLS_AES_128_GCM_SHA256', 'TLS_CHACHA20_POLY1305_SHA256']
/** Groups of the key exchange, the hybrid with ML-KEM first. */
const GROUPS = 'X25519MLKEM768:X25519:P-256:P-384'
const HANDSHAKE_TIMEOUT_MS = 10_000
const VERSIONS = { tls12: 'TLSv1.2', tls13: 'TLSv1.3' } as const

/** Returns options for `https.createServer` and, with renewed material, for `setSecureContext`. */
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
