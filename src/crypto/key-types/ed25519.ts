// Ed25519 (RFC 8032, pure): the algorithm hashes by itself, and the caller's choice of a hash is ignored. The material
// is PKCS #8 with the seed alone (RFC 8410 section 7).
import { createPrivateKey, createSecretKey, type KeyObject, sign, verify } from 'node:crypto'
import { ED25519_FORM } from '../forms/ed25519-form.ts'
import { loadPkcs8 } from '../forms/private-keys.ts'
import { loadSpki, publicHalf } from '../forms/public-keys.ts'
import { hkdfSha256 } from '../primitives/derivation.ts'
import { freshBytes } from '../primitives/random-bytes.ts'
import { x509Signature } from '../signatures/x509-signatures.ts'
import { InvalidKeyMaterial, type ListedKeyType, UnusableInput } from './key-type.ts'

const NAME = 'ed25519'
const SEED_BYTES = 32
/** RFC 8410 section 3. */
const X509 = x509Signature('1.3.101.112')
/** PKCS #8 up to the seed: version 0, OID 1.3.101.112, the lengths. */
const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex')

/** The only type that signs and derives: each context has a key pair of its own. */
export const ed25519: ListedKeyType = {
  name: NAME,
  backupId: 2,
  form: ED25519_FORM,
  generate: (random) => {
    const seed = freshBytes(random, SEED_BYTES)
    const material = Buffer.alloc(PKCS8_HEAD.length + SEED_BYTES)
    PKCS8_HEAD.copy(material)
    seed.copy(material, PKCS8_HEAD.length)
    seed.fill(0)
    return material
  },
  load: (material) => requireEd25519(loadPkcs8(NAME, material)),
  signing: {
    sign: (key, input) => sign(null, input, key),
    verify: (key, input, signature) => verify(null, input, key, signature),
    x509: () => X509,
  },
  derivation: { derive },
  publicPart: {
    name: NAME,
    text: (key) => rawPublic(key).toString('base64'),
    load: (spki) => requireEd25519(loadSpki(NAME, spki)),
  },
}

/** The 32 bytes of the public point; `key` is either half. */
function rawPublic(key: KeyObject): Buffer {
  return publicHalf(key).export({ format: 'raw-public' })
}

function requireEd25519(key: KeyObject): KeyObject {
  if (key.asymmetricKeyType !== NAME) throw new InvalidKeyMaterial(`A key of type ${NAME} is one for Ed25519`)
  return key
}

// Seed ‖ public of each loaded key that derives, kept as long as the key is.
const stems = new WeakMap<KeyObject, KeyObject>()

/** Wire format: keys are derived from seed ‖ public, the form in which other programs of this API store a key. */
function stemOf(key: KeyObject): KeyObject {
  const known = stems.get(key)
  if (known !== undefined) return known
  const seed = key.export({ format: 'raw-private' })
  const bytes = Buffer.alloc(2 * SEED_BYTES)
  seed.copy(bytes)
  rawPublic(key).copy(bytes, SEED_BYTES)
  const stem = createSecretKey(bytes)
  seed.fill(0)
  bytes.fill(0)
  stems.set(key, stem)
  return stem
}

/** The private key of one context. @throws UnusableInput for a public key, from which none can be derived */
function derive(key: KeyObject, context: Buffer): KeyObject {
  if (key.type !== 'private') throw new UnusableInput('keys are derived from the private half, which is not here')
  const seed = hkdfSha256(stemOf(key), context, SEED_BYTES)
  try {
    return createPrivateKey({ key: seed, format: 'raw-private', asymmetricKeyType: NAME })
  } finally {
    seed.fill(0)
  }
}
