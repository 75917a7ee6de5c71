// Passwords of people, as they are stored: hashed with argon2id (RFC 9106), which costs memory as well as time. The
// stored text names its parameters: $argon2id$v=19$m=KIBIBYTES,t=PASSES,p=LANES$SALT$HASH
import { argon2Sync } from 'node:crypto'
import type { Job, SlowWork } from '../lib/slow-work.ts'
import { constantTimeEqual } from './primitives/constant-time.ts'
import { freshBytes, type RandomBytes } from './primitives/random-bytes.ts'

type Cost = { readonly memoryKib: number; readonly passes: number; readonly lanes: number }

/** The lowest cost that OWASP recommends: some 20 ms of one core. Stored passwords keep the cost of their day. */
const COST: Cost = { memoryKib: 19_456, passes: 2, lanes: 1 }
const SALT_BYTES = 16
const HASH_BYTES = 32
const VERSION = 'v=19'

type Stored = { readonly cost: Cost; readonly salt: Buffer; readonly hash: Buffer }

/** Hashes a password on the pool. Returns the text to store. */
export async function hashPassword(password: string, random: RandomBytes, slow: SlowWork): Promise<string> {
  const salt = freshBytes(random, SALT_BYTES)
  return encode({ cost: COST, salt, hash: await derive(slow, { password, salt, cost: COST }) })
}

/**
 * True if the password is the one that was stored. Without a stored one it does the same work and returns false, so the
 * time does not tell whether the user exists (threats M-01).
 */
export async function verifyPassword(password: string, stored: string | undefined, slow: SlowWork): Promise<boolean> {
  const known = stored === undefined ? NOBODY : decode(stored)
  const hash = await derive(slow, { password, salt: known.salt, cost: known.cost })
  return constantTimeEqual(hash, known.hash) && stored !== undefined
}

const NOBODY: Stored = { cost: COST, salt: Buffer.alloc(SALT_BYTES), hash: Buffer.alloc(HASH_BYTES) }

type Derivation = { readonly password: string; readonly salt: Uint8Array; readonly cost: Cost }

/** Computes the hash, 32 bytes. */
export const DERIVE_PASSWORD: Job<Derivation, Uint8Array> = {
  name: 'password-derive',
  takes: 'short',
  run: ({ password, salt, cost }) =>
    argon2Sync('argon2id', {
      message: password,
      nonce: salt,
      parallelism: cost.lanes,
      tagLength: HASH_BYTES,
      memory: cost.memoryKib,
      passes: cost.passes,
    }),
}

/** Derives on the pool, which bounds how many run at once: each takes 20 MB while it runs. */
async function derive(slow: SlowWork, derivation: Derivation): Promise<Buffer> {
  const hash = await slow.run(DERIVE_PASSWORD, derivation)
  return Buffer.from(hash.buffer, hash.byteOffset, hash.byteLength)
}

const unpadded = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '')

function encode({ cost, salt, hash }: Stored): string {
  const parameters = `m=${cost.memoryKib},t=${cost.passes},p=${cost.lanes}`
  return `$argon2id$${VERSION}$${parameters}$${unpadded(salt)}$${unpadded(hash)}`
}

function decode(text: string): Stored {
  const [, name, version, parameters = '', salt = '', hash = ''] = text.split('$')
  const [memoryKib = 0, passes = 0, lanes = 0] = parameters.split(',').map((one) => Number(one.slice(2)))
  if (name !== 'argon2id' || version !== VERSION || !(memoryKib > 0 && passes > 0 && lanes > 0))
    throw new Error('A stored password has an unknown form')
  return {
    cost: { memoryKib, passes, lanes },
    salt: Buffer.from(salt, 'base64'),
    hash: Buffer.from(hash, 'base64'),
  }
}
