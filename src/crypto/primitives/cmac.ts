// AES-CMAC (RFC 4493, NIST SP 800-38B).
import type { KeyObject } from 'node:crypto'
import * as crypto from 'node:crypto'

export const CMAC_BYTES = 16

/** As much of the runtime's MAC interface as is needed, which its types do not have yet. */
type Mac = { update(data: Buffer): Mac; final(): Buffer }
type CreateMac = (algorithm: 'cmac', key: KeyObject, options: { readonly cipher: string }) => Mac

const { createMac } = crypto as unknown as { readonly createMac: CreateMac }

/** Of any input, the empty one too; in full length. */
export function aesCmac(key: KeyObject, input: Buffer): Buffer {
  return createMac('cmac', key, { cipher: `aes-${(key.symmetricKeySize ?? 0) * 8}-cbc` })
    .update(input)
    .final()
}
