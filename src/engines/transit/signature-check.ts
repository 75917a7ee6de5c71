// Verifying the signatures of one request, and why one did not verify, where that is an option that is easily got
// wrong: tried only after it failed, so that what is valid pays nothing for it.
import { Refusal, refusalWith } from '../../api/errors.ts'
import type { Item } from '../../api/fields.ts'
import type { Answer } from '../../api/request.ts'
import type { SignatureOptions } from '../../crypto/key-types/key-type.ts'
import type { SlowWork } from '../../lib/slow-work.ts'
import type { LoadedRing } from './ring/loaded-ring.ts'
import { type PreparedSignature, prepareVerification, verify } from './signing.ts'

/** The same options with one of them changed, and the field that changes it. */
type Other = { readonly field: string; readonly value: string; readonly options: SignatureOptions }

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

  /** @throws Refusal for what is no signature, with the hint where there is one */
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

  /** The answer with what was found out about signatures that did not verify. */
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
  // Without a hash there is one padding only.
  if (key.asymmetricKeyType !== 'rsa' || options.hash === 'none') return others
  const padding = options.padding === 'pss' ? 'pkcs1v15' : 'pss'
  return [...others, { field: 'signature_algorithm', value: padding, options: { ...options, padding } }]
}
