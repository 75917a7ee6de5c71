// Signing and verifying for another thread, where the type of the key takes long for it.
import type { KeyObject } from 'node:crypto'
import { type Job, magnitude, type SlowWork } from '../lib/slow-work.ts'
import { type KeyType, type SignatureOptions, type Signing, UnusableInput } from './key-types/key-type.ts'
import { KEY_TYPES } from './key-types/key-types.ts'

export type SignJobInput = {
  /** Name of a key type that signs. */
  readonly type: string
  readonly key: KeyObject
  readonly input: Uint8Array
  readonly options: SignatureOptions
}
export type VerifyJobInput = SignJobInput & { readonly signature: Uint8Array }

/** In bytes: a copy of as many takes some microseconds. */
const MOST_COPIED = 16_384
/** To hash what is longer takes long besides the signature. */
const LONG = 65_536

/** What `UnusableInput` said, where it was thrown: errors keep no class on their way between threads. */
export type Unusable = { readonly unusable: string }

export const SIGN: Job<SignJobInput, Uint8Array<ArrayBuffer> | Unusable> = {
  name: 'sign',
  takes: 'short',
  kind: kindOf,
  run: ({ type, key, input, options }) =>
    orUnusable(() => new Uint8Array(signingOf(type).sign(key, asBuffer(input), options))),
}

export const VERIFY: Job<VerifyJobInput, boolean | Unusable> = {
  name: 'verify',
  takes: 'short',
  kind: kindOf,
  run: ({ type, key, input, signature, options }) =>
    orUnusable(() => signingOf(type).verify(key, asBuffer(input), asBuffer(signature), options)),
}

/**
 * At once, or by the pool where that is slow for such a key and such options.
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

/** The same for verifying. */
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
 * Long ones are copied once, instead of once here and once on the way. Short ones are not handed over: this thread
 * still has them where the worker dies, and the work goes on elsewhere.
 */
function handOver(input: Buffer): { readonly bytes: Uint8Array; readonly moved: ArrayBuffer[] } {
  const memory = new ArrayBuffer(input.length)
  const bytes = new Uint8Array(memory)
  bytes.set(input)
  return { bytes, moved: input.length > MOST_COPIED ? [memory] : [] }
}

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
