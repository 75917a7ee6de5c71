// New shares as an answer carries them: in clear, or each encrypted to the OpenPGP key of its holder.
import { fail } from '../../api/errors.ts'
import type { ReadPgpKey, TextEncryptor } from './token-attempt.ts'

/** Shares, or OpenPGP messages that hold one each, in the order of the shares. */
export type ShareTexts = {
  /** In hexadecimal. */
  readonly keys: readonly string[]
  readonly keysBase64: readonly string[]
  /** Fingerprints of the holders' OpenPGP keys; undefined if the shares are in clear. */
  readonly fingerprints: readonly string[] | undefined
}

/** Reads the OpenPGP keys of a request: one for each share, or none at all. @throws Refusal naming `field` */
export async function readPgpKeys(
  read: ReadPgpKey,
  field: string,
  keys: readonly string[],
  shares: number,
): Promise<readonly TextEncryptor[]> {
  if (keys.length === 0) return []
  if (keys.length !== shares)
    throw fail('field_invalid', [field, `incorrect number of PGP keys: ${keys.length} for ${shares} shares`])
  const encryptors: TextEncryptor[] = []
  for (const key of keys) encryptors.push(await read(field, key))
  return encryptors
}

/** Formats the shares. What is encrypted is the hexadecimal text of a share: a holder decrypts it and types it. */
export async function shareTexts(shares: readonly Buffer[], encryptors: readonly TextEncryptor[]): Promise<ShareTexts> {
  const texts: Buffer[] = []
  for (const [index, share] of shares.entries()) {
    const encryptor = encryptors[index]
    texts.push(encryptor === undefined ? share : await encryptor.encrypt(share.toString('hex')))
  }
  return {
    keys: texts.map((bytes) => bytes.toString('hex')),
    keysBase64: texts.map((bytes) => bytes.toString('base64')),
    fingerprints: encryptors.length === 0 ? undefined : encryptors.map(({ fingerprint }) => fingerprint),
  }
}
