// Opens ciphertexts with an RSA private key, at once or as a job of the pool, for both paddings.
import { type KeyObject, privateDecrypt, type RsaPrivateKey } from 'node:crypto'
import type { Job } from '../../lib/slow-work.ts'
import { AuthenticationFailed } from './aead.ts'

/** Input of a job that opens. */
export type RsaOpening = { readonly key: KeyObject; readonly sealed: Uint8Array }

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/**
 * Opens with a private key and the padding of `options`. The plaintext is the caller's to wipe. A ciphertext must be as
 * long as the modulus (RFC 8017 sections 7.1.2 and 7.2.2, step 1): OpenSSL takes a shorter one as if it began with
 * zeros.
 * @throws AuthenticationFailed for everything that is wrong, so that the answer teaches nothing (threats C-11)
 */
export function openRsa(key: KeyObject, sealed: Buffer, options: Omit<RsaPrivateKey, 'key'>): Buffer {
  if (sealed.length * 8 !== key.asymmetricKeyDetails?.modulusLength) throw new AuthenticationFailed()
  try {
    return privateDecrypt({ key, ...options }, sealed)
  } catch {
    throw new AuthenticationFailed()
  }
}

/** A job that opens. It returns undefined if `open` throws AuthenticationFailed; the plaintext is handed over. */
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
