// Encrypts to an OpenPGP key (RFC 4880, RFC 9580): for shares and tokens that only one person may read. The library is
// loaded when it is first needed (docs/decisions/0005-openpgp.md). Reading a key and encrypting to it take tens of
// milliseconds of JavaScript, and minutes for a key that was made to be slow. A caller needs no token to send one, so
// it is checked for its cost before anything is computed with it.
import type { Key } from 'openpgp'
import type { Job, SlowWork } from '../lib/slow-work.ts'
import type { Clock } from '../lib/world.ts'

/** Why a key cannot be encrypted to, without quoting it. The message continues a sentence about the key. */
export class PgpKeyError extends Error {
  override name = 'PgpKeyError'
}

/** A key that was read and checked. */
export type PgpKey = {
  /** Fingerprint of the primary key, 40 hexadecimal digits. */
  readonly fingerprint: string
  /** Encrypts on the pool. Returns the binary message. */
  readonly encrypt: (text: string) => Promise<Buffer>
}

/** Longest key that is read at all. A key in its least form has a few thousand bytes. */
export const MAX_PGP_KEY_BYTES = 65_536
/** Version 4: the only one whose fingerprint has 160 bits, as the API shows it. */
const KEY_VERSION = 4

/**
 * Numbers of RSA and of the algorithms on elliptic curves (RFC 9580 section 9.1). The others are refused before any
 * computation: the library does DSA and ElGamal in JavaScript, with numbers as long as the key says.
 */
const ALGORITHMS: ReadonlySet<number> = new Set([1, 2, 3, 18, 19, 22, 25, 26, 27, 28])
const MAX_RSA_BITS = 8192
/** Most signatures of a key by itself; each takes up to 20 ms. Certifications by others are not checked. */
const MAX_SIGNATURES = 64
/** Length of the message of a trial encryption. */
const TRIAL_BYTES = 32

type Reading = { readonly key: Uint8Array; readonly nowMs: number }

/** Reads and checks a key. Returns its fingerprint, or why it cannot be encrypted to. */
export const READ_PGP_KEY: Job<Reading, { readonly fingerprint: string } | { readonly refusal: string }> = {
  name: 'pgp-read-key',
  takes: 'long',
  run: async ({ key: bytes, nowMs }) => {
    try {
      const key = await onlyKey(bytes)
      requireModest(key)
      const now = new Date(nowMs)
      await requireUsable(key, now)
      await tryEncrypting(key, now)
      return { fingerprint: key.getFingerprint() }
    } catch (cause) {
      if (cause instanceof PgpKeyError) return { refusal: cause.message }
      throw cause
    }
  },
}

/** Encrypts to a key that READ_PGP_KEY took. Wipes `content`. */
export const ENCRYPT_TO_PGP: Job<Reading & { readonly content: Uint8Array }, Uint8Array> = {
  name: 'pgp-encrypt',
  takes: 'long',
  run: async ({ key: bytes, nowMs, content }) => {
    try {
      return await encryptTo(await onlyKey(bytes), content, new Date(nowMs))
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
  // One time for reading and encrypting: a key that expires while shares are given was good when it was taken.
  const nowMs = clock.nowMs()
  const read = await slow.run(READ_PGP_KEY, { key, nowMs })
  if ('refusal' in read) throw new PgpKeyError(read.refusal)
  return {
    fingerprint: read.fingerprint,
    encrypt: async (text) => {
      const memory = new ArrayBuffer(Buffer.byteLength(text))
      const content = new Uint8Array(memory)
      new TextEncoder().encodeInto(text, content)
      return Buffer.from(await slow.run(ENCRYPT_TO_PGP, { key, nowMs, content }, [memory]))
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

/** Refuses a key that costs too much. Must run before anything is computed with it. @throws PgpKeyError */
function requireModest(key: Key): void {
  for (const part of key.getKeys()) {
    if (!ALGORITHMS.has(part.keyPacket.algorithm))
      throw new PgpKeyError('only keys of RSA and of elliptic curves are offered, in all their parts')
    if ((part.getAlgorithmInfo().bits ?? 0) > MAX_RSA_BITS)
      throw new PgpKeyError(`RSA keys are offered up to ${MAX_RSA_BITS} bits`)
  }
  if (ownSignatures(key) > MAX_SIGNATURES)
    throw new PgpKeyError(`it has more than ${MAX_SIGNATURES} signatures by itself: export it in its least form`)
}

/** Signatures directly over the key, which the library's type declarations leave out. */
type WithDirect = { readonly directSignatures?: readonly unknown[] }

function ownSignatures(key: Key & WithDirect): number {
  const { users, subkeys, directSignatures = [], revocationSignatures } = key
  const lists: (readonly unknown[])[] = [
    directSignatures,
    revocationSignatures,
    ...users.flatMap((user) => [user.selfCertifications, user.revocationSignatures]),
    ...subkeys.flatMap((subkey) => [subkey.bindingSignatures, subkey.revocationSignatures]),
  ]
  return lists.reduce((sum, list) => sum + list.length, 0)
}

async function encryptTo(key: Key, content: Uint8Array, date: Date): Promise<Uint8Array> {
  const { createMessage, encrypt } = await import('openpgp')
  return encrypt({ message: await createMessage({ binary: content }), encryptionKeys: key, format: 'binary', date })
}

/**
 * Encrypts a trial message: signatures can be right over numbers that are no key. Later would be too late, since what
 * is encrypted then exists only once.
 * @throws PgpKeyError
 */
async function tryEncrypting(key: Key, now: Date): Promise<void> {
  try {
    await encryptTo(key, new Uint8Array(TRIAL_BYTES), now)
  } catch (cause) {
    throw new PgpKeyError('nothing can be encrypted to it: its part for that is damaged', { cause })
  }
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
