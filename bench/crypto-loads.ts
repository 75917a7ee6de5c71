// The work that bench/crypto.ts measures for each key type: our way through the table of key types, and the one call of
// the runtime that does the same.
import {
  constants,
  createCipheriv,
  createDecipheriv,
  createPublicKey,
  hash,
  type KeyObject,
  randomBytes,
  sign,
  verify,
} from 'node:crypto'
import { type Cipher, type KeyType, PROOF_OPTIONS, type Signing } from '../src/crypto/key-types/key-type.ts'

/** Bytes that are sealed or signed, as in the loads of bench/operations.ts. */
export const INPUT_BYTES = 128

/** One kind of work with one key type, in both ways. */
export type Load = {
  readonly type: string
  readonly work: string
  readonly ours: () => unknown
  readonly raw?: () => unknown
  /** Arguments of `openssl speed`, and which of its two figures is that of this work. */
  readonly speed?: { readonly args: readonly string[]; readonly which: 'first' | 'second' }
}

const RUNTIME_CIPHERS: Readonly<Record<string, 'aes-128-gcm' | 'aes-256-gcm' | 'chacha20-poly1305'>> = {
  'aes128-gcm96': 'aes-128-gcm',
  'aes256-gcm96': 'aes-256-gcm',
  'chacha20-poly1305': 'chacha20-poly1305',
}

/** Types that `openssl speed` knows, by its names. */
const SPEED_NAMES: Readonly<Record<string, string>> = {
  ed25519: 'ed25519',
  'ecdsa-p256': 'ecdsap256',
  'ecdsa-p384': 'ecdsap384',
  'ecdsa-p521': 'ecdsap521',
  'rsa-2048': 'rsa2048',
  'rsa-3072': 'rsa3072',
  'rsa-4096': 'rsa4096',
}

/** Returns the loads of a key type: sealing and opening, or signing and verifying; none if it has neither. */
export function loadsOf(type: KeyType, key: KeyObject): Load[] {
  const cipher =
    RUNTIME_CIPHERS[type.name] === undefined || type.cipher === undefined ? [] : sealing(type, type.cipher, key)
  return type.signing === undefined ? cipher : [...cipher, ...signing(type, type.signing, key)]
}

function sealing({ name }: KeyType, cipher: Cipher, key: KeyObject): Load[] {
  const algorithm = RUNTIME_CIPHERS[name] ?? 'aes-256-gcm'
  const plaintext = randomBytes(INPUT_BYTES)
  const nonce = randomBytes(cipher.nonceBytes)
  const sealed = cipher.sealWithNonce(key, nonce, plaintext)
  const tag = { authTagLength: 16 } as const
  const rawSeal = () => {
    const sealing = createCipheriv(algorithm as 'chacha20-poly1305', key, nonce, tag)
    return Buffer.concat([nonce, sealing.update(plaintext), sealing.final(), sealing.getAuthTag()])
  }
  const rawOpen = () => {
    const opening = createDecipheriv(algorithm as 'chacha20-poly1305', key, nonce, tag)
    opening.setAuthTag(sealed.subarray(-16))
    return Buffer.concat([opening.update(sealed.subarray(nonce.length, -16)), opening.final()])
  }
  const speed = { args: ['-bytes', String(INPUT_BYTES), '-evp', algorithm], which: 'first' } as const
  return [
    { type: name, work: 'seal', ours: () => cipher.sealWithNonce(key, nonce, plaintext), raw: rawSeal, speed },
    { type: name, work: 'open', ours: () => cipher.openWithNonce(key, sealed), raw: rawOpen },
  ]
}

function signing({ name }: KeyType, { sign: ourSign, verify: ourVerify }: Signing, key: KeyObject): Load[] {
  const half = createPublicKey(key)
  const input = randomBytes(INPUT_BYTES)
  const signature = ourSign(key, input, PROOF_OPTIONS)
  const isRsa = name.startsWith('rsa-')
  const algorithm = isRsa || name.startsWith('ecdsa-') ? 'sha256' : null
  const padding = isRsa ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 } : {}
  const speed = (which: 'first' | 'second') => {
    const known = SPEED_NAMES[name]
    return known === undefined ? {} : { speed: { args: [known], which } }
  }
  const loads: Load[] = [
    {
      type: name,
      work: 'sign',
      ours: () => ourSign(key, input, PROOF_OPTIONS),
      raw: () => sign(algorithm, input, { key, ...padding }),
      ...speed('first'),
    },
    {
      type: name,
      work: 'verify',
      ours: () => ourVerify(half, input, signature, PROOF_OPTIONS),
      raw: () => verify(algorithm, input, { key: half, ...padding }, signature),
      ...speed('second'),
    },
  ]
  if (algorithm === null) return loads
  const digest = hash(algorithm, input, 'buffer')
  const overDigest = { ...PROOF_OPTIONS, prehashed: true }
  return [
    ...loads,
    { type: name, work: 'sign a digest', ours: () => ourSign(key, digest, overDigest) },
    { type: name, work: 'verify a digest', ours: () => ourVerify(half, digest, signature, overDigest) },
  ]
}
