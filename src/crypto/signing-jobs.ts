// Signs and verifies on this thread, or on the pool if the key's type takes long for it.
import type { KeyObject } from 'node:crypto'
import { type Job, magnitude, type SlowWork } from '../lib/slow-work.ts'
import { type KeyType, type SignatureOptions, type Signing, UnusableInput } from './key-types/key-type.ts'
import { KEY_TYPES } from './key-types/key-types.ts'

/** Input of SIGN. Everything in it can be cloned to another thread. */
export type SignJobInput = {
  /** Name of a key type that signs. */
  readonly type: string
  readonly key: KeyObject
  readonly input: Uint8Array
  readonly options: SignatureOptions
}
/** Input of VERIFY. */
export type VerifyJobInput = SignJobInput & { readonly signature: Uint8Array }

/** Longest input in bytes that is sent as a copy, which takes some microseconds. Longer ones are handed over. */
const MOST_COPIED = 16_384
/** From this length in bytes on, hashing takes long beside the signature. */
const LONG = 65_536

/** The message of a thrown `UnusableInput`: errors lose their class between threads. */
export type Unusable = { readonly unusable: string }

/** Signs on a thread of the pool. */
export const SIGN: Job<SignJobInput, Uint8Array<ArrayBuffer> | Unusable> = {
  name: 'sign',
  takes: 'short',
  kind: kindOf,
  run: ({ type, key, input, options }) =>
    orUnusable(() => new Uint8Array(signingOf(type).sign(key, asBuffer(input), options))),
}

/** Verifies on a thread of the pool. */
export const VERIFY: Job<VerifyJobInput, boolean | Unusable> = {
  name: 'verify',
  takes: 'short',
  kind: kindOf,
  run: ({ type, key, input, signature, options }) =>
    orUnusable(() => signingOf(type).verify(key, asBuffer(input), asBuffer(signature), options)),
}

/**
 * Signs at once, or on the pool if that is slow for this type and these options. The input is not kept.
 * @throws UnusableInput, and what `SlowWork` throws; or the promise is rejected with it
 */
export function signWith(
  type: KeyType,
  slow: SlowWork,
  key: KeyObject,
  input: Buffer,
  options: SignatureOptions,
): Buffer | Promise<Buffer> {
  const signing = requireSigning(type)
  if (!isSlow(signing.signsSlowly, signing, options)) return signing.sign(key, input, options)
  const handed = handOver(input)
  const job = slow.run(SIGN, { type: type.name, key, input: handed.bytes, options }, handed.moved)
  return job.then((signature) => asBuffer(usable(signature)))
}

/** Verifies as `signWith` signs, on the same terms. */
export function verifyWith(
  type: KeyType,
  slow: SlowWork,
  key: KeyObject,
  input: Buffer,
  signature: Buffer,
  options: SignatureOptions,
): boolean | Promise<boolean> {
  const signing = requireSigning(type)
  if (!isSlow(signing.verifiesSlowly, signing, options)) return signing.verify(key, input, signature, options)
  const handed = handOver(input)
  const asked = { type: type.name, key, input: handed.bytes, signature: new Uint8Array(signature), options }
  return slow.run(VERIFY, asked, handed.moved).then(usable)
}

/**
 * A copy for the pool. A long input is then handed over, so it is copied once and not twice. A short one is not: this
 * thread keeps it, and another worker can repeat the job if the first one dies.
 */
function handOver(input: Buffer): { readonly bytes: Uint8Array; readonly moved: ArrayBuffer[] } {
  const memory = new ArrayBuffer(input.length)
  const bytes = new Uint8Array(memory)
  bytes.set(input)
  return { bytes, moved: input.length > MOST_COPIED ? [memory] : [] }
}

/** Jobs of one kind take about as long. */
function kindOf({ type, input: { length }, options: { prehashed } }: SignJobInput): string {
  const kind = prehashed ? `${type} prehashed` : type
  return length < LONG ? kind : `${kind} ${magnitude(length)}`
}

function isSlow(always: true | undefined, { prehashedSlowly }: Signing, { prehashed }: SignatureOptions): boolean {
  return always === true || (prehashed && prehashedSlowly === true)
}

function usable<T extends Uint8Array | boolean>(outcome: T | Unusable): T {
  if (typeof outcome === 'object' && 'unusable' in outcome) throw new UnusableInput(outcome.unusable)
  return outcome
}

function orUnusable<T>(work: () => T): T | Unusable {
  try {
    return work()
  } catch (cause) {
    if (cause instanceof UnusableInput) return { unusable: cause.message }
    throw cause
  }
}

function signingOf(name: string): Signing {
  const type = KEY_TYPES.get(name)
  if (type === undefined) throw new RangeError(`No keys have the type ${name}`)
  return requireSigning(type)
}

function requireSigning({ signing, name }: KeyType): Signing {
  if (signing === undefined) throw new RangeError(`Keys of type ${name} do not sign`)
  return signing
}

const asBuffer = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
