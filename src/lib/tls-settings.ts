// What both ends of a real link agree on: TLS 1.3 alone, and what the accepting end says first.
import { constants, type KeyObject, X509Certificate } from 'node:crypto'
import { createSecureContext, type SecureContext } from 'node:tls'
import type { LinkIdentity } from './links.ts'

/**
 * TLS of both ends. The hybrid with ML-KEM is preferred. A session is never resumed: that would show no certificate.
 */
export const TLS_RULES = {
  minVersion: 'TLSv1.3',
  maxVersion: 'TLSv1.3',
  ciphers: 'TLS_AES_256_GCM_SHA384:TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256',
  ecdhCurve: 'X25519MLKEM768:X25519:P-256:P-384',
  secureOptions: constants.SSL_OP_NO_TICKET,
} as const

/**
 * The accepting end speaks first. In TLS 1.3 a dialer learns only so that its certificate was taken. CLOCK is followed
 * by the time there, in milliseconds (u64, big-endian). Only a certificate of the set's authority that is not valid at
 * that time is told so. All others are told nothing: the connection closes.
 */
export const VERDICT = { accepted: 1, clock: 2 } as const
/** Bytes of the time behind CLOCK. */
export const VERDICT_TIME_BYTES = 8

/** The verdict that tells a dialer the time. */
export function clockVerdict(nowMs: number): Buffer {
  const verdict = Buffer.alloc(1 + VERDICT_TIME_BYTES, VERDICT.clock)
  verdict.writeBigUInt64BE(BigInt(nowMs), 1)
  return verdict
}

const contexts = new WeakMap<LinkIdentity, SecureContext>()

/** The identity as node:tls takes it. It is made once, since strangers can ask for it often. */
export function secureContextOf(identity: LinkIdentity): SecureContext {
  const known = contexts.get(identity)
  if (known !== undefined) return known
  const made = createSecureContext({
    ...TLS_RULES,
    key: pemOf(identity.key),
    cert: certificatePem(identity.certificate),
    // An empty list must not stand for the authorities that the runtime trusts.
    ca: identity.trusted.map(certificatePem),
  })
  contexts.set(identity, made)
  return made
}

function certificatePem(certificate: Buffer): string {
  return new X509Certificate(certificate).toString()
}

function pemOf(key: KeyObject): string {
  return key.export({ format: 'pem', type: 'pkcs8' }) as string
}
