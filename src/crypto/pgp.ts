// Encrypting to an OpenPGP key (RFC 4880, RFC 9580): for shares and tokens that only one person shall read. The library
// is loaded when it is first needed (docs/decisions/0005-openpgp.md).
import type { Key } from 'openpgp'
import type { Clock } from '../lib/world.ts'

/** Why a key cannot be encrypted to: without a word of it. */
export class PgpKeyError extends Error {
  override name = 'PgpKeyError'
}

export type PgpKey = {
  /** 40 hexadecimal digits, of the primary key. */
  readonly fingerprint: string
  /** The binary message. */
  readonly encrypt: (text: string) => Promise<Buffer>
}

export const MAX_PGP_KEY_BYTES = 65_536
/** Version 4: the one whose fingerprint has 160 bits. */
const KEY_VERSION = 4

/** Reads a binary public key that can be encrypted to now. @throws PgpKeyError */
export async function readPgpKey(bytes: Buffer, clock: Clock): Promise<PgpKey> {
  if (bytes.length === 0 || bytes.length > MAX_PGP_KEY_BYTES)
    throw new PgpKeyError(`a key has 1 to ${MAX_PGP_KEY_BYTES} bytes`)
  const { createMessage, encrypt } = await import('openpgp')
  const key = await onlyKey(bytes)
  await requireUsable(key, clock)
  return {
    fingerprint: key.getFingerprint(),
    encrypt: async (text) => {
      const content = new TextEncoder().encode(text)
      const message = await createMessage({ binary: content })
      const encrypted = await encrypt({
        message,
        encryptionKeys: key,
        format: 'binary',
        date: new Date(clock.nowMs()),
      })
      content.fill(0)
      return Buffer.from(encrypted)
    },
  }
}

async function onlyKey(bytes: Buffer): Promise<Key> {
  const { readKeys } = await import('openpgp')
  let keys: Key[]
  try {
    keys = await readKeys({ binaryKeys: bytes })
  } catch (cause) {
    throw new PgpKeyError('it is not a binary OpenPGP public key in base64', { cause })
  }
  const [key] = keys
  if (key === undefined || keys.length > 1) throw new PgpKeyError(`it must be one key, not ${keys.length}`)
  return key
}

async function requireUsable(key: Key, clock: Clock): Promise<void> {
  if (key.isPrivate()) throw new PgpKeyError('it is a private key: give the public one, and make a new pair')
  if (key.keyPacket.version !== KEY_VERSION) throw new PgpKeyError(`only keys of version ${KEY_VERSION} are offered`)
  const now = new Date(clock.nowMs())
  try {
    // Checks revocation, expiry and the signatures that bind the subkey, and that there is one for encryption.
    await key.verifyPrimaryKey(now)
    await key.getEncryptionKey(undefined, now)
  } catch (cause) {
    throw new PgpKeyError('it is revoked, has expired, is too weak, or has no part to encrypt to', { cause })
  }
}
