// Key material wrapped as import wants it, by other means than the ones that the server opens it with.
import { constants, createCipheriv, publicEncrypt, randomBytes } from 'node:crypto'

export type MaterialToWrap = {
  /** PEM. */
  readonly wrapping_key: string
  /** Base64. */
  readonly material: string
  /** Of RSA-OAEP; missing: sha256. */
  readonly hash?: string
  /** Which of the two parts is damaged. */
  readonly break?: 'head' | 'tail'
}

/** Base64. */
export function wrappedMaterial({ wrapping_key, material, hash = 'sha256', break: damaged }: MaterialToWrap): string {
  const aesKey = randomBytes(32)
  const cipher = createCipheriv('id-aes256-wrap-pad', aesKey, Buffer.from('a65959a6', 'hex'))
  const tail = Buffer.concat([cipher.update(Buffer.from(material, 'base64')), cipher.final()])
  const oaep = { key: wrapping_key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: hash }
  const blob = Buffer.concat([publicEncrypt(oaep, aesKey), tail])
  const at = damaged === 'tail' ? blob.length - 1 : 3
  if (damaged !== undefined) blob.writeUInt8(blob.readUInt8(at) ^ 1, at)
  return blob.toString('base64')
}
