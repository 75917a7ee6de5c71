// AES-CMAC (RFC 4493, NIST SP 800-38B).
import type { KeyObject } from 'node:crypto'
import * as crypto from 'node:crypto'

/** The block size of AES. */
export const CMAC_BYTES = 16

/** The part of the runtime's MAC interface that is used here: its type declarations lack it so far. */
type Mac = { update(data: Buffer): Mac; final(): Buffer }
type CreateMac = (algorithm: 'cmac', key: KeyObject, options: { readonly cipher: string }) => Mac

const { createMac } = crypto as unknown as { readonly createMac: CreateMac }

/** The CMAC in full length. The input may be empty. `key` is an AES key. */
export function aesCmac(key: KeyObject, input: Buffer): Buffer {
  return createMac('cmac', key, { cipher: `aes-${(key.symmetricKeySize ?? 0) * 8}-cbc` })
    .update(input)
    .final()
}
