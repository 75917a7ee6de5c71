// Encrypting to an OpenPGP key (RFC 4880, RFC 9580): for shares and tokens that only one person shall read. The library
// is loaded when it is first needed (docs/decisions/0005-openpgp.md). Both reading a key and encrypting to it are slow:
// tens of milliseconds, all of them JavaScript.
import type { Key } from 'openpgp'
import type { Job, SlowWork } from '../lib/slow-work.ts'
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

type Reading = { readonly key: Uint8Array; readonly nowMs: number }

/** The fingerprint, or why the key is none to encrypt to. */
export const READ_PGP_KEY: Job<Reading, { readonly fingerprint: string } | { readonly refusal: string }> = {
  name: 'pgp-read-key',
  takes: 'short',
  run: async ({ key: bytes, nowMs }) => {
    try {
      const key = await onlyKey(bytes)
      await requireUsable(key, new Date(nowMs))
      return { fingerprint: key.getFingerprint() }
    } catch (cause) {
      if (cause instanceof PgpKeyError) return { refusal: cause.message }
      throw cause
    }
  },
}

/** `content` is wiped. */
export const ENCRYPT_TO_PGP: Job<Reading & { readonly content: Uint8Array }, Uint8Array> = {
  name: 'pgp-encrypt',
  takes: 'short',
  run: async ({ key: bytes, nowMs, content }) => {
    const { createMessage, encrypt } = await import('openpgp')
    try {
      const message = await createMessage({ binary: content })
      const encryptionKeys = await onlyKey(bytes)
      return await encrypt({ message, encryptionKeys, format: 'binary', date: new Date(nowMs) })
    } finally {
      content.fill(0)
    }
  },
}

/** Reads a binary public key that can be encrypted to now. @throws PgpKeyError */
export async function readPgpKey(bytes: Buffer, clock: Clock, slow: SlowWork): Promise<PgpKey> {
  if (bytes.length === 0 || bytes.length > MAX_PGP_KEY_BYTES)
    throw new PgpKeyError(`a key has 1 to ${MAX_PGP_KEY_BYTES} bytes`)
  const key = new Uint8Array(bytes)
  const read = await slow.run(READ_PGP_KEY, { key, nowMs: clock.nowMs() })
  if ('refusal' in read) throw new PgpKeyError(read.refusal)
  return {
    fingerprint: read.fingerprint,
    encrypt: async (text) => {
      const memory = new ArrayBuffer(Buffer.byteLength(text))
      const content = new Uint8Array(memory)
      new TextEncoder().encodeInto(text, content)
      return Buffer.from(await slow.run(ENCRYPT_TO_PGP, { key, nowMs: clock.nowMs(), content }, [memory]))
    },
  }
}

async function onlyKey(bytes: Uint8Array): Promise<Key> {
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

async function requireUsable(key: Key, now: Date): Promise<void> {
  if (key.isPrivate()) throw new PgpKeyError('it is a private key: give the public one, and make a new pair')
  if (key.keyPacket.version !== KEY_VERSION) throw new PgpKeyError(`only keys of version ${KEY_VERSION} are offered`)
  try {
    // Checks revocation, expiry and the signatures that bind the subkey, and that there is one for encryption.
    await key.verifyPrimaryKey(now)
    await key.getEncryptionKey(undefined, now)
  } catch (cause) {
    throw new PgpKeyError('it is revoked, has expired, is too weak, or has no part to encrypt to', { cause })
  }
}
