// verify/:name(/:hash_algorithm) (Interface 4.3): checks signatures, HMACs and CMACs, one or a batch.
import { parseDecimal } from '../../../api/coercion.ts'
import { endpoint } from '../../../api/endpoint.ts'
import { fail } from '../../../api/errors.ts'
import { type Args, batch, type Item, int, string } from '../../../api/fields.ts'
import type { Answer } from '../../../api/request.ts'
import { flag } from '../../../api/shape.ts'
import type { SlowWork } from '../../../lib/slow-work.ts'
import { whenDone } from '../../../lib/when-done.ts'
import { requireSome } from '../batch.ts'
import { keyNameField, keyNotFound, singleOrBatch } from '../crypt-fields.ts'
import { checkingCmacOf, hmacWith, isMacOf } from '../mac.ts'
import { withPaddingOf } from '../managed/managed-signing.ts'
import { runPatiently } from '../patient-batch.ts'
import type { WithKeys } from '../ring/keys.ts'
import { type LoadedRing, requireUsable } from '../ring/loaded-ring.ts'
import { SignatureCheck } from '../signature-check.ts'
import {
  hashNameOf,
  readSignatureOptions,
  requireHashOrRaw,
  requireMessages,
  SIGNATURE_HASH_NAMES,
  signatureFields,
} from '../signature-options.ts'
import { requireSigning } from '../signing.ts'
import type { Timed } from '../time-slice.ts'

/** The parts of the mount that this endpoint uses. */
type Parts = WithKeys<'find'> & Timed & { readonly slow: SlowWork }

const VALID = { valid: flag('Whether the signature, HMAC or CMAC is valid for the input') }

const fields = {
  ...keyNameField,
  ...signatureFields,
  input: string('Data that was signed or authenticated, base64; empty if unset', { secret: true, default: '' }),
  signature: string('Signature, as returned by sign', { secret: true }),
  hmac: string('HMAC, as returned by hmac; ignored if signature is given', { secret: true }),
  cmac: string('CMAC, as returned by cmac; ignored if signature or hmac is given', { secret: true }),
  mac_length: int(
    'Length of the CMAC in bytes, as when it was computed: at least min_mac_length of the key; 0 is all 16',
    { default: 0 },
  ),
  batch_input: batch(
    'Items to verify in place of input, signature, hmac, cmac and context: all with signature, all with hmac or all ' +
      'with cmac',
    {
      fields: {
        input: 'string',
        signature: 'string',
        hmac: 'string',
        cmac: 'string',
        mac_length: 'int',
        context: 'string',
        reference: 'string',
      },
      required: 'input',
      lenient: true,
      nulls: 'empty',
    },
    { secret: true },
  ),
}
type VerifyArgs = Args<typeof fields>
type VerifyResult = { readonly valid: boolean; readonly reference: string; readonly error?: string }

/** The first that an item has is the one that is checked. */
const PROOFS = ['signature', 'hmac', 'cmac'] as const
type Proof = (typeof PROOFS)[number]

/** Verifies. An invalid signature is an answer; only a text that cannot be read as one is refused. */
export const verifyEndpoint = endpoint({
  id: 'transit-verify',
  operation: 'update',
  path: 'verify/:name(/:hash_algorithm)',
  capability: 'update',
  runsOn: 'any-node',
  summary: 'Verifies a signature, HMAC or CMAC made with a named key',
  describe:
    'Answers 200 with `valid` true or false, or 400 if the signature or MAC is malformed. A signature that would be ' +
    'valid only with the other signature_algorithm or marshaling_algorithm counts as invalid, and a warning says so. ' +
    'A batch answers 200 even if items fail; the result of a failed item has an error.',
  fields,
  response: singleOrBatch(VALID, VALID),
  handler: (transit: Parts, args) => {
    const proof = args.batch_input === undefined ? requireProof(args) : requireSameProof(args.batch_input)
    const options = proof === 'signature' ? readSignatureOptions(args) : undefined
    return whenDone(transit.keys.find(args.name), (ring) => {
      if (ring === undefined) {
        throw keyNotFound(args.name, proof === 'signature' ? 'signature verification key' : 'encryption key')
      }
      requireUsable(ring)
      if (options === undefined) return answer(transit, args, macCheck(ring, args, proof))
      requireSigning(ring.type, 'verification')
      const padded = withPaddingOf(ring, options, args.signature_algorithm)
      requireHashOrRaw(padded)
      requireMessages(ring.type, padded)
      const check = new SignatureCheck(ring, transit.slow, padded)
      return whenDone(
        answer(transit, args, (item) => check.isValid(item)),
        (plain) => check.withHints(plain),
      )
    })
  },
})

/** True if the item's signature or MAC is valid. @throws Refusal if it cannot be read */
type Check = (item: Item) => boolean | Promise<boolean>

function answer(transit: Parts, args: VerifyArgs, check: Check): Answer | Promise<Answer> {
  const { batch_input: items, input, signature, hmac, cmac, context } = args
  if (items === undefined) {
    return whenDone(check({ input, signature, hmac, cmac, context }), (valid) => ({ data: { valid } }))
  }
  const run = runPatiently<VerifyResult>(
    items,
    (item, reference) => {
      if (item.input === undefined) throw fail('field_missing', ['input', 'missing input'])
      return whenDone(check(item), (valid) => ({ valid, reference }))
    },
    (error, reference) => ({ valid: false, error, reference }),
    transit.world,
  )
  return whenDone(run, ({ results }) => ({ data: { batch_results: results } }))
}

/** Returns the check of HMACs or CMACs. @throws Refusal for an unknown hash, and for keys that make no CMAC */
function macCheck(ring: LoadedRing, args: VerifyArgs, proof: Proof): Check {
  if (proof === 'hmac') {
    const compute = hmacWith(hashNameOf(args), 'hash_algorithm')
    return ({ input, hmac }) => isMacOf(compute, ring, String(input), String(hmac), 'HMAC')
  }
  const usual = checkingCmacOf(ring, macLengthOf(args))
  return ({ input, cmac, mac_length: bytes }) => {
    const compute = bytes === undefined ? usual : checkingCmacOf(ring, Number(bytes))
    return isMacOf(compute, ring, String(input), String(cmac), 'CMAC')
  }
}

/**
 * Returns the length of the CMACs. It may stand in the path, as in `verify/NAME/8`: where a hash would stand otherwise.
 * @throws Refusal for a text that is neither
 */
function macLengthOf({ mac_length: bytes, hash_algorithm: inPath = '' }: VerifyArgs): number {
  if (inPath === '' || SIGNATURE_HASH_NAMES.includes(inPath)) return bytes
  const length = parseDecimal(inPath)
  if (length === undefined || length < 0) throw fail('field_invalid', ['hash_algorithm', 'is no hash, and no length'])
  return length
}

/** Returns the kind of proof that was given; undefined if none was. An empty text counts as given. */
function proofOf(item: { readonly [proof in Proof]?: unknown }): Proof | undefined {
  return PROOFS.find((name) => item[name] !== undefined)
}

function requireProof(args: VerifyArgs): Proof {
  const proof = proofOf(args)
  if (proof === undefined) {
    throw fail('field_missing', [
      'signature',
      "neither a 'signature' nor an 'hmac' were given to verify: provide one of 'signature', 'hmac' and 'cmac'",
    ])
  }
  return proof
}

/** Returns the kind of proof of a batch, which all items must share (Interface 7.5). @throws Refusal */
function requireSameProof(items: readonly Item[]): Proof {
  requireSome(items)
  const found = new Set(items.map(proofOf))
  const [proof] = found
  if (found.size > 1) {
    throw fail('batch_invalid', [
      found.has(undefined)
        ? "some elements of batch_input are missing a 'signature', 'hmac' or 'cmac'"
        : "elements of batch_input must all provide 'signature', all provide 'hmac' or all provide 'cmac'",
    ])
  }
  if (proof === undefined) {
    throw fail('field_missing', [
      'signature',
      "no batch_input elements have 'signature', 'hmac' or 'cmac': provide one of them",
    ])
  }
  return proof
}
