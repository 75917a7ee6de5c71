// Cryptography as a run needs it: the real one, made even and light. Imported before everything else of a run.
//
// Even: Node draws a number for each signature by ECDSA, and in DER it has one of three lengths. So would a
// certificate, the messages and records that it is in, and the time that they take. Here all that are made by keys on
// P-256 are as long as half of them would be, so that a run repeats from its seed.
//
// Light: a run loads the same few keys and reads the same few certificates thousands of times. What depends on nothing
// but its arguments is worked out once and remembered, with the same result. Memory that was freed is not
// overwritten, and nothing is collected out of turn.
import crypto, { type KeyObject } from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'

const USUAL_BYTES = 71
/** A run has far fewer keys and signatures; those of former runs are forgotten. */
const REMEMBERED = 4_000

type Work<R> = (...asked: unknown[]) => R

/** Results by what they are of. */
class Remembered<R> {
  readonly #results = new Map<string, R>()

  of(what: string, work: () => R): R {
    const known = this.#results.get(what)
    if (known !== undefined) return known
    if (this.#results.size >= REMEMBERED) this.#results.clear()
    const made = work()
    this.#results.set(what, made)
    return made
  }
}

/** The same for what is of a key, for as long as that is used. */
class RememberedOfKeys<R> {
  readonly #ofKeys = new WeakMap<object, Remembered<R>>()

  of(key: object, what: string, work: () => R): R {
    let ofKey = this.#ofKeys.get(key)
    if (ofKey === undefined) {
      ofKey = new Remembered()
      this.#ofKeys.set(key, ofKey)
    }
    return ofKey.of(what, work)
  }
}

const isKey = (key: unknown): key is KeyObject => key instanceof crypto.KeyObject
const text = (bytes: unknown): string => (bytes as Buffer).toString('latin1')

const namedCurves = new RememberedOfKeys<string>()
const isOnP256 = (key: KeyObject): boolean =>
  namedCurves.of(key, '', () => key.asymmetricKeyDetails?.namedCurve ?? 'none') === 'prime256v1'

const signed = crypto.sign as Work<Buffer>
const signatures = new RememberedOfKeys<Buffer>()
const evenly: Work<Buffer> = (...asked) => {
  const [algorithm, data, key] = asked
  if (!isKey(key) || !isOnP256(key)) return signed(...asked)
  const even = signatures.of(key, `${algorithm} ${text(data)}`, () => {
    for (;;) {
      const signature = signed(...asked)
      if (signature.length === USUAL_BYTES) return signature
    }
  })
  return Buffer.from(even)
}

const verified = crypto.verify as Work<boolean>
const judged = new RememberedOfKeys<boolean>()
const verifiedOnce: Work<boolean> = (...asked) => {
  const [algorithm, data, key, signature] = asked
  if (!isKey(key)) return verified(...asked)
  return judged.of(key, `${algorithm} ${text(signature)} ${text(data)}`, () => verified(...asked))
}

const exports = new RememberedOfKeys<unknown>()

/** Its forms are made once, and given as copies. */
function exportingOnce(key: KeyObject): KeyObject {
  const exported = key.export.bind(key) as Work<unknown>
  const exportOnce: Work<unknown> = (...asked) => {
    const { format, type } = (asked[0] ?? {}) as { format?: string; type?: string }
    const form = exports.of(key, `${format} ${type}`, () => exported(...asked))
    if (Buffer.isBuffer(form)) return Buffer.from(form)
    return typeof form === 'object' ? { ...form } : form
  }
  return Object.assign(key, { export: exportOnce })
}

const keys = new Remembered<KeyObject>()
const publicHalves = new WeakMap<KeyObject, KeyObject>()

/** A key that is loaded again is the same one. */
function loadedOnce(load: Work<KeyObject>, half: 'private' | 'public'): Work<KeyObject> {
  return (...asked) => {
    const [given] = asked
    if (isKey(given)) {
      const known = publicHalves.get(given) ?? exportingOnce(load(given))
      publicHalves.set(given, known)
      return known
    }
    const { key, ...form } = (given ?? {}) as { readonly key?: unknown }
    if (!Buffer.isBuffer(key)) return load(...asked)
    return keys.of(`${half} ${Object.values(form).join()} ${text(key)}`, () => exportingOnce(load(...asked)))
  }
}

const agreed = crypto.diffieHellman as unknown as Work<Buffer>
const agreements = new RememberedOfKeys<RememberedOfKeys<Buffer>>()
const agreedOnce: Work<Buffer> = (...asked) => {
  const { privateKey, publicKey } = asked[0] as { readonly privateKey: KeyObject; readonly publicKey: KeyObject }
  const ofKey = agreements.of(privateKey, '', () => new RememberedOfKeys())
  return Buffer.from(ofKey.of(publicKey, '', () => agreed(...asked)))
}

/** Parts of a message as one text. */
const textOf = (parts: readonly Buffer[]): string => parts.map((part) => `${part.length} ${text(part)}`).join()

const begunHmac = crypto.createHmac as unknown as Work<crypto.Hmac>
const digests = new RememberedOfKeys<Buffer>()

/** An HMAC, worked out when it is asked for. */
class HmacOnce {
  readonly #asked: readonly [unknown, KeyObject]
  readonly #parts: Buffer[] = []

  constructor(asked: readonly [unknown, KeyObject]) {
    this.#asked = asked
  }

  update(part: Buffer | string, encoding?: BufferEncoding): this {
    this.#parts.push(typeof part === 'string' ? Buffer.from(part, encoding) : part)
    return this
  }

  digest(encoding?: BufferEncoding): Buffer | string {
    const [algorithm, key] = this.#asked
    const digest = digests.of(key, `${algorithm} ${textOf(this.#parts)}`, () => {
      const hmac = begunHmac(...this.#asked)
      for (const part of this.#parts) hmac.update(part)
      return hmac.digest()
    })
    return encoding === undefined ? Buffer.from(digest) : digest.toString(encoding)
  }
}

const begunHmacOnce: Work<unknown> = (...asked) =>
  isKey(asked[1]) ? new HmacOnce([asked[0], asked[1]]) : begunHmac(...asked)

const begunOpening = crypto.createDecipheriv as unknown as Work<crypto.DecipherGCM>
const opened = new RememberedOfKeys<Buffer>()

/** Opens what was sealed. Its pieces are opened really where one of them is not remembered. */
class OpeningOnce {
  readonly #asked: readonly unknown[]
  readonly #key: KeyObject
  readonly #pieces: Buffer[] = []
  #associated: Buffer = Buffer.alloc(0)
  #tag: Buffer = Buffer.alloc(0)

  constructor(key: KeyObject, asked: readonly unknown[]) {
    this.#asked = asked
    this.#key = key
  }

  setAAD(associated: Buffer): void {
    this.#associated = associated
  }

  setAuthTag(tag: Buffer): void {
    this.#tag = tag
  }

  update(piece: Buffer): Buffer {
    this.#pieces.push(piece)
    return Buffer.from(opened.of(this.#key, this.#what, () => this.#really().last))
  }

  final(): Buffer {
    return opened.of(this.#key, `${this.#what} to its end`, () => this.#really().decipher.final())
  }

  get #what(): string {
    const [algorithm, , nonce] = this.#asked
    return `${algorithm} ${textOf([nonce as Buffer, this.#associated, this.#tag, ...this.#pieces])}`
  }

  #really(): { readonly decipher: crypto.DecipherGCM; readonly last: Buffer } {
    const decipher = begunOpening(...this.#asked)
    if (this.#associated.length > 0) decipher.setAAD(this.#associated)
    decipher.setAuthTag(this.#tag)
    let last = Buffer.alloc(0)
    for (const piece of this.#pieces) last = decipher.update(piece)
    return { decipher, last }
  }
}

const begunOpeningOnce: Work<unknown> = (...asked) =>
  isKey(asked[1]) ? new OpeningOnce(asked[1], asked) : begunOpening(...asked)

const RealCertificate = crypto.X509Certificate
const certificates = new Remembered<crypto.X509Certificate>()
const verifications = new RememberedOfKeys<boolean>()

function readOnce(bytes: Buffer): crypto.X509Certificate {
  return certificates.of(text(bytes), () => {
    const certificate = new RealCertificate(bytes)
    const { publicKey } = certificate
    const verifiedReally = certificate.verify.bind(certificate)
    Object.defineProperty(certificate, 'publicKey', { value: publicKey })
    const verify = (key: KeyObject): boolean => verifications.of(key, text(bytes), () => verifiedReally(key))
    return Object.assign(certificate, { verify })
  })
}

/** Memory that stays as it is, however often it is taken. */
const pieces = new Map<number, Buffer>()
function sameMemory(bytes: number): Buffer {
  const known = pieces.get(bytes)
  if (known !== undefined) return known
  const made = Buffer.from(new ArrayBuffer(bytes))
  Object.assign(made.buffer, { transfer: () => made.buffer })
  Object.assign(made, { fill: () => made })
  pieces.set(bytes, made)
  return made
}

Object.assign(crypto, {
  sign: evenly,
  verify: verifiedOnce,
  createPublicKey: loadedOnce(crypto.createPublicKey as Work<KeyObject>, 'public'),
  createPrivateKey: loadedOnce(crypto.createPrivateKey as Work<KeyObject>, 'private'),
  diffieHellman: agreedOnce,
  createHmac: begunHmacOnce,
  createDecipheriv: begunOpeningOnce,
  X509Certificate: new Proxy(RealCertificate, { construct: (_, [bytes]) => readOnce(bytes as Buffer) }),
})
syncBuiltinESMExports()
Buffer.allocUnsafeSlow = sameMemory as typeof Buffer.allocUnsafeSlow
// A server that is sealed collects its keys at once, which takes longer than all else of a run.
globalThis.gc = undefined
