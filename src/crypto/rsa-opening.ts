// Opening with an RSA private key as a job for the pool, whichever the padding.
import type { KeyObject } from 'node:crypto'
import type { Job } from '../lib/slow-work.ts'
import { AuthenticationFailed } from './aead.ts'

export type RsaOpening = { readonly key: KeyObject; readonly sealed: Uint8Array }

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

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
