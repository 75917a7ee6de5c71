// Key material from a caller: unwrapped, parsed, and tried once before any of it is stored (threats P-15).
import { fail } from '../../api/errors.ts'
import { string } from '../../api/fields.ts'
import { PemError, readPem } from '../../crypto/encoding/pem.ts'
import { canonicalSpki } from '../../crypto/forms/canonical-spki.ts'
import type { MaterialForm } from '../../crypto/forms/material-form.ts'
import { CHECK_PRIMES } from '../../crypto/forms/rsa-parts.ts'
import { headBytes, OAEP_HASHES, type OaepHash, oaepHash, UNWRAP_FROM_RSA } from '../../crypto/forms/wrapped-key.ts'
import { InvalidKeyMaterial, type KeyType } from '../../crypto/key-types/key-type.ts'
import { AuthenticationFailed } from '../../crypto/primitives/aead.ts'
import { decodeField } from './crypt.ts'
import { KeyNotProven, type Prover, proveMaterial } from './ring/new-key.ts'
import type { WrappingKeys } from './ring/wrapping-key.ts'

/** Fields that import and import_version share. */
export const importFields = {
  ciphertext: string(
    'Wrapped key, base64: an AES key under the wrapping key (RSA-OAEP, 512 bytes), then the key under that AES key ' +
      '(AES-KWP)',
    { secret: true },
  ),
  hash_function: string(`Hash algorithm of RSA-OAEP: ${OAEP_HASHES.join(', ')}`, { default: 'SHA256' }),
  public_key: string('Public key in PEM, in place of ciphertext'),
}
type ImportArgs = {
  readonly ciphertext: string | undefined
  readonly hash_function: string
  readonly public_key: string | undefined
}

/** Material in the form that a key ring stores; the caller wipes it. `isPublic`: it is a public half alone. */
export type ImportedMaterial = { readonly material: Buffer; readonly isPublic: boolean }

/** The parts of a mount that unwrap a key and try it. */
export type Importer = Prover & { readonly wrappingKeys: Pick<WrappingKeys, 'get'> }

/** Limit for the second part of a blob. The longest key, ML-DSA-87 with its expanded form, has 5 KB. */
const MAX_WRAPPED_BYTES = 8_192

/**
 * Returns the material that a request brings, unwrapped and tried. A refusal says which layer failed, with one
 * exception: RSA-OAEP and AES-KWP fail with the same sentence, after the same work. A client that sends changed copies
 * of another client's blob thus learns nothing of the AES key in it.
 * @throws Refusal
 */
export function importMaterial(importer: Importer, type: KeyType, args: ImportArgs): Promise<ImportedMaterial> {
  const { form } = type
  if (form === undefined) throw fail('key_cannot', [`keys of type ${type.name} cannot be imported`])
  const { ciphertext, public_key: publicKey = '' } = args
  // Wire rule: `ciphertext` counts if it is sent, even if it is empty.
  if (ciphertext !== undefined) return importWrapped(importer, type, form, ciphertext, requireHash(args.hash_function))
  if (publicKey !== '') return Promise.resolve(importPublic(type, publicKey))
  throw fail('field_missing', [
    'ciphertext',
    `neither "ciphertext" nor "public_key" is given, one of them holds the key`,
  ])
}

/** Returns the hash of RSA-OAEP by its name in requests. @throws Refusal for a hash that is not offered */
export function requireHash(name: string): OaepHash {
  const hash = oaepHash(name)
  if (hash === undefined) throw fail('choice_unknown', [`unknown hash function, offered are ${OAEP_HASHES.join(', ')}`])
  return hash
}

async function importWrapped(
  importer: Importer,
  type: KeyType,
  form: MaterialForm,
  ciphertext: string,
  hash: OaepHash,
): Promise<ImportedMaterial> {
  const blob = decodeField('ciphertext', ciphertext) ?? Buffer.alloc(0)
  const wrappingKey = await importer.wrappingKeys.get()
  const head = headBytes(wrappingKey)
  if (blob.length <= head) {
    throw fail('key_material_invalid', [
      `"ciphertext": provided ciphertext is too short, the wrapped AES key alone has ${head} bytes`,
    ])
  }
  if (blob.length > head + MAX_WRAPPED_BYTES)
    throw fail('key_material_invalid', [
      `"ciphertext": no key is so long, at most ${head + MAX_WRAPPED_BYTES} bytes are taken`,
    ])
  const unwrapped = await importer.slow.run(UNWRAP_FROM_RSA, { wrappingKey, hash, blob: new Uint8Array(blob) })
  if (unwrapped === undefined) throw notUnwrapped(hash)
  const bytes = Buffer.from(unwrapped)
  try {
    return { material: await readMaterial(importer, type, form, bytes), isPublic: false }
  } catch (cause) {
    if (!(cause instanceof InvalidKeyMaterial)) throw cause
    throw fail(
      'key_material_invalid',
      [`"ciphertext": was unwrapped, but is no key of type ${type.name}. ${cause.message}`],
      cause,
    )
  } finally {
    bytes.fill(0)
  }
}

function notUnwrapped(hash: OaepHash) {
  return fail('key_material_invalid', [
    '"ciphertext": cannot be unwrapped. Its first 512 bytes must be an AES key of 32 bytes under the wrapping key of ' +
      `this mount (GET wrapping_key), by RSA-OAEP with ${hash} for hash and mask ("hash_function") and no label; ` +
      'the rest the key under that AES key, by AES-KWP (RFC 5649)',
  ])
}

async function readMaterial(prover: Prover, type: KeyType, form: MaterialForm, bytes: Buffer): Promise<Buffer> {
  const material = form.fromImport(bytes)
  try {
    type.load(material)
    await proveOrRefuse(prover, type, material)
    return material
  } catch (cause) {
    material.fill(0)
    throw cause
  }
}

/**
 * Tries material from outside: the primes of an RSA key are tested, and the key does once what it is for.
 * @throws InvalidKeyMaterial for a key that does not
 */
export async function proveOrRefuse(prover: Prover, type: KeyType, material: Buffer): Promise<void> {
  const primes = type.form?.primesOf?.(material)
  if (primes !== undefined && !(await prover.slow.run(CHECK_PRIMES, primes)))
    throw new InvalidKeyMaterial('The primes of the RSA key are no primes')
  try {
    await proveMaterial(type, material, prover)
  } catch (cause) {
    if (!(cause instanceof AuthenticationFailed || cause instanceof KeyNotProven)) throw cause
    throw new InvalidKeyMaterial('Its two halves do not belong together')
  }
}

/** Reads a public half in PEM; no proof is possible without the private half. @throws Refusal */
function importPublic({ name, publicPart }: KeyType, pem: string): ImportedMaterial {
  if (publicPart === undefined) throw fail('key_cannot', [`"public_key": a key of type ${name} has no public half`])
  try {
    return { material: canonicalSpki(publicPart.load(readPem(pem))), isPublic: true }
  } catch (cause) {
    if (cause instanceof PemError)
      throw fail('key_material_invalid', [`"public_key": it is no public key in PEM: ${cause.message}`], cause)
    if (cause instanceof InvalidKeyMaterial)
      throw fail('key_material_invalid', [`"public_key": ${cause.message}`], cause)
    throw cause
  }
}
