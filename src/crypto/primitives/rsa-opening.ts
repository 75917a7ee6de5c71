// Opening with an RSA private key as a job for the pool, whichever the padding.
import { type KeyObject, privateDecrypt, type RsaPrivateKey } from 'node:crypto'
import type { Job } from '../../lib/slow-work.ts'
import { AuthenticationFailed } from './aead.ts'

export type RsaOpening = { readonly key: KeyObject; readonly sealed: Uint8Array }

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/**
 * Opens with a private key and the padding of `options`. The plaintext is the caller's to wipe.
 * @throws AuthenticationFailed for what is not as long as the modulus (RFC 8017 sections 7.1.2 and 7.2.2, step 1:
 * OpenSSL takes a shorter ciphertext as if it began with zeros), and for all else that is wrong, so that the answer
 * teaches nothing
 */
export function openRsa(key: KeyObject, sealed: Buffer, options: Omit<RsaPrivateKey, 'key'>): Buffer {
  if (sealed.length * 8 !== key.asymmetricKeyDetails?.modulusLength) throw new AuthenticationFailed()
  try {
    return privateDecrypt({ key, ...options }, sealed)
  } catch {
    throw new AuthenticationFailed()
  }
}

/** Gives undefined where `open` throws AuthenticationFailed. */
export function openingJob(
  name: string,
  open: (key: KeyObject, sealed: Buffer) => Buffer,
): Job<RsaOpening, ArrayBuffer | undefined> {
  return {
    name,
    takes: 'short',
    kind: ({ key }) => `${key.asymmetricKeyDetails?.modulusLength}`,
    run: ({ key, sealed }) => {
      try {
        const opened = open(key, asBuffer(sealed))
        const memory = new ArrayBuffer(opened.length)
        opened.copy(new Uint8Array(memory))
        opened.fill(0)
        return memory
      } catch (cause) {
        if (cause instanceof AuthenticationFailed) return undefined
        throw cause
      }
    },
    moves: (plaintext) => (plaintext === undefined ? [] : [plaintext]),
  }
}
