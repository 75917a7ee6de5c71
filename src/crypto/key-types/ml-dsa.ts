// ML-DSA (FIPS 204, pure, with an empty context): the algorithm hashes by itself, and the caller's choice of a hash is
// ignored. The material is PKCS #8 with the seed alone (RFC 9881 section 6).
import { type KeyObject, sign, verify } from 'node:crypto'
import { mlDsaForm } from '../forms/ml-dsa-form.ts'
import { loadPkcs8 } from '../forms/private-keys.ts'
import { loadSpki, publicHalf } from '../forms/public-keys.ts'
import { freshBytes } from '../primitives/random-bytes.ts'
import { x509Signature } from '../signatures/x509-signatures.ts'
import { InvalidKeyMaterial, type ListedKeyType } from './key-type.ts'

const FAMILY = 'ml-dsa'
const SEED_BYTES = 32

/** PKCS #8 up to the seed: version 0, OID 2.16.840.1.101.3.4.3.n, the lengths. */
const pkcs8Head = (n: number): Buffer =>
  Buffer.from(`3034020100300b06096086480165030403${n.toString(16)}04228020`, 'hex')

/** The type of a parameter set; `n` is the last number of its OID. */
export function mlDsaKeyType(set: '44' | '65' | '87', backupId: number, n: number): ListedKeyType {
  const name = `${FAMILY}-${set}` as const
  const head = pkcs8Head(n)
  // RFC 9881 section 2.
  const x509 = x509Signature(`2.16.840.1.101.3.4.3.${n}`)
  return {
    name,
    backupId,
    form: mlDsaForm(name),
    parameterSet: { family: FAMILY, set },
    generate: (random) => {
      const seed = freshBytes(random, SEED_BYTES)
      const material = Buffer.alloc(head.length + SEED_BYTES)
      head.copy(material)
      seed.copy(material, head.length)
      seed.fill(0)
      return material
    },
    load: (material) => requireMlDsa(name, loadPkcs8(name, material)),
    signing: {
      sign: (key, input) => sign(null, input, key),
      verify: (key, input, signature) => verify(null, input, key, signature),
      x509: () => x509,
      // Signing takes 0.5 to 1 ms, and by chance sometimes a multiple; verifying takes 0.1 to 0.25 ms.
      signsSlowly: true,
      hashesItself: true,
    },
    publicPart: {
      name,
      text: (key) => publicHalf(key).export({ format: 'raw-public' }).toString('base64'),
      load: (spki) => requireMlDsa(name, loadSpki(name, spki)),
    },
  }
}

function requireMlDsa(name: string, key: KeyObject): KeyObject {
  if (key.asymmetricKeyType !== name)
    throw new InvalidKeyMaterial(`A key of type ${name} is one for ML-DSA with this parameter set`)
  return key
}

/** ML-DSA-44, security category 2. */
export const mlDsa44 = mlDsaKeyType('44', 20_044, 17)
/** ML-DSA-65, security category 3. */
export const mlDsa65 = mlDsaKeyType('65', 20_065, 18)
/** ML-DSA-87, security category 5. */
export const mlDsa87 = mlDsaKeyType('87', 20_087, 19)
