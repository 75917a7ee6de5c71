// Verifies the signatures of one request, and says why one is not valid if the reason is an option that is easily got
// wrong. Other options are tried only after a failure, so that a valid signature pays nothing for it.
import { Refusal, refusalWith } from '../../api/errors.ts'
import type { Item } from '../../api/fields.ts'
import type { Answer } from '../../api/request.ts'
import type { SignatureOptions } from '../../crypto/key-types/key-type.ts'
import type { SlowWork } from '../../lib/slow-work.ts'
import type { LoadedRing } from './ring/loaded-ring.ts'
import { type PreparedSignature, prepareVerification, verify } from './signing.ts'

/** Options with one member changed, and the field that would change it. */
type Other = { readonly field: string; readonly value: string; readonly options: SignatureOptions }

/** The check for one request: one key, one set of options, any number of signatures. */
export class SignatureCheck {
  readonly #ring: LoadedRing
  readonly #slow: SlowWork
  readonly #options: SignatureOptions
  readonly #hints = new Set<string>()

  constructor(ring: LoadedRing, slow: SlowWork, options: SignatureOptions) {
    this.#ring = ring
    this.#slow = slow
    this.#options = options
  }

  /** True if the signature is one of the input. @throws Refusal for a malformed signature, with a hint if one fits */
  isValid({ input, context, signature }: Item): boolean | Promise<boolean> {
    const prepared = prepareVerification(this.#ring, {
      input: String(input ?? ''),
      context: context === undefined ? undefined : String(context),
      signature: String(signature),
    })
    try {
      const valid = verify(this.#ring, this.#slow, prepared, this.#options)
      if (valid === true) return true
      return valid === false ? this.#invalid(prepared) : this.#later(prepared, valid)
    } catch (cause) {
      return this.#unread(prepared, cause)
    }
  }

  /** Adds warnings that say under which other options signatures of this request are valid. */
  withHints(answer: Answer): Answer {
    return this.#hints.size === 0 ? answer : { ...answer, warnings: [...(answer.warnings ?? []), ...this.#hints] }
  }

  async #later(prepared: PreparedSignature, verified: Promise<boolean>): Promise<boolean> {
    try {
      return (await verified) || (await this.#invalid(prepared))
    } catch (cause) {
      return this.#unread(prepared, cause)
    }
  }

  async #invalid(prepared: PreparedSignature): Promise<false> {
    const hint = await this.#hintFor(prepared)
    if (hint !== undefined) this.#hints.add(hint)
    return false
  }

  async #unread(prepared: PreparedSignature, cause: unknown): Promise<never> {
    const hint = cause instanceof Refusal ? await this.#hintFor(prepared) : undefined
    throw hint === undefined ? cause : refusalWith(cause as Refusal, hint)
  }

  async #hintFor(prepared: PreparedSignature): Promise<string | undefined> {
    for (const { field, value, options } of othersOf(this.#options, prepared)) {
      if (await this.#verifiesWith(prepared, options)) return `The signature is valid with ${field} "${value}"`
    }
    return undefined
  }

  async #verifiesWith(prepared: PreparedSignature, options: SignatureOptions): Promise<boolean> {
    try {
      return await verify(this.#ring, this.#slow, prepared, options)
    } catch (cause) {
      if (cause instanceof Refusal) return false
      throw cause
    }
  }
}

function othersOf(options: SignatureOptions, { key }: PreparedSignature): Other[] {
  const marshaling = options.marshaling === 'asn1' ? 'jws' : 'asn1'
  const others = [{ field: 'marshaling_algorithm', value: marshaling, options: { ...options, marshaling } as const }]
  // A signature without a hash has one padding only (Interface 7.7).
  if (key.asymmetricKeyType !== 'rsa' || options.hash === 'none') return others
  const padding = options.padding === 'pss' ? 'pkcs1v15' : 'pss'
  return [...others, { field: 'signature_algorithm', value: padding, options: { ...options, padding } }]
}
