// derive-key/:name: makes a key that is agreed on with another party. It follows from the private half of an ECDSA key
// here, and the public key of that party.
import type { KeyObject } from 'node:crypto'
import { endpoint } from '../../../api/endpoint.ts'
import { fail } from '../../../api/errors.ts'
import { int, string } from '../../../api/fields.ts'
import { DONE } from '../../../api/request.ts'
import { PemError, readPem } from '../../../crypto/encoding/pem.ts'
import { canonicalSpki } from '../../../crypto/forms/canonical-spki.ts'
import { InvalidKeyMaterial, type KeyType } from '../../../crypto/key-types/key-type.ts'
import { KEY_TYPES } from '../../../crypto/key-types/key-types.ts'
import { keyNameField } from '../crypt-fields.ts'
import { pairVersion } from '../pair-version.ts'
import { wipeRing } from '../ring/key-ring.ts'
import type { WithKeys } from '../ring/keys.ts'
import { type LoadedRing, privateKeyOf, requireUsable } from '../ring/loaded-ring.ts'
import { type CountingMaker, proveMaterial } from '../ring/new-key.ts'
import { importedRing } from './import-endpoints.ts'

/** The parts of the mount that this endpoint uses. */
type Parts = WithKeys<'find' | 'place'> & CountingMaker

type Derived = { readonly type: KeyType; readonly keyBytes: number }

/** Types whose keys two parties can agree on, by name: any bytes of the right number are such a key. */
const DERIVED: ReadonlyMap<string, Derived> = new Map(
  [...KEY_TYPES].flatMap(([name, type]): [string, Derived][] =>
    type.cipher?.takesAssociatedData === true ? [[name, { type, keyBytes: type.cipher.keyBytes }]] : [],
  ),
)
const OFFERED = [...DERIVED.keys()].join(', ')

const lowerCased = (text: string): string => text.toLowerCase()

/** Makes a key; it never adds a version to one that exists. */
export const deriveKeyEndpoint = endpoint({
  id: 'transit-derive-key',
  operation: 'update',
  path: 'derive-key/:name',
  capability: 'update',
  runsOn: 'writer',
  writes: 'mount',
  summary: 'Creates a key by ECDH, from a named ECDSA key and the public key of another party',
  describe:
    'The key is derived by HKDF-SHA-256, without salt or info, from the x coordinate that ECDH gives, so the other ' +
    'party can derive it too. It counts as imported and cannot be rotated. The same two key pairs always give the ' +
    'same key: use a new pair for each key.',
  fields: {
    ...keyNameField,
    base_key_name: string('Name of the ECDSA key whose private key is used', { required: true }),
    base_key_version: int('Version of the base key; 0 is the latest', { default: 0 }),
    peer_public_key: string('Public key of the other party, on the same curve, in PEM (SubjectPublicKeyInfo)', {
      required: true,
    }),
    key_derivation_algorithm: string('Key agreement algorithm: ecdh', { default: 'ecdh', canonical: lowerCased }),
    derived_key_type: string(`Type of the new key: ${OFFERED}`, {
      default: 'aes256-gcm96',
      canonical: lowerCased,
    }),
  },
  handler: async (transit: Parts, args) => {
    if (lowerCased(args.key_derivation_algorithm) !== 'ecdh')
      throw fail('choice_unknown', ['"key_derivation_algorithm": not known, ecdh is the only one'])
    const { type, keyBytes } = requireDerivedType(args.derived_key_type)
    const base = await transit.keys.find(args.base_key_name)
    if (base === undefined)
      throw fail('key_not_found', [`"base_key_name": key not found: no key has the name "${args.base_key_name}"`])
    const agree = requireAgreement(base)
    const privateKey = privateKeyOf(pairVersion(base, args.base_key_version, 'base_key_version'))
    const peer = readPeer(base.type, args.peer_public_key)
    const material = agree(privateKey, peer, keyBytes)
    try {
      return await placeDerived(transit, args.name, type, material)
    } finally {
      material.fill(0)
    }
  },
})

async function placeDerived(transit: Parts, name: string, type: KeyType, material: Buffer) {
  await proveMaterial(type, material, transit)
  const since = await transit.messageCounts.since()
  const ring = importedRing(transit, type, { material, isPublic: false }, NO_FLAGS, since)
  try {
    // Differs: docs/differences.md#transit. A key of this name is never replaced, and gets no version.
    await transit.keys.place(name, ring, false)
    return DONE
  } finally {
    wipeRing(ring)
  }
}

const NO_FLAGS = {
  derived: false,
  exportable: false,
  allow_plaintext_backup: false,
  auto_rotate_period: 0,
  allow_rotation: false,
}

/** Returns the type of the new key. @throws Refusal for types whose keys have parts that are not agreed on */
function requireDerivedType(text: string): Derived {
  const derived = DERIVED.get(lowerCased(text))
  if (derived === undefined)
    throw fail('choice_unknown', [`"derived_key_type": no key of such a type is derived, offered are ${OFFERED}`])
  return derived
}

/** Returns the key agreement of the base key's type. @throws Refusal unless it is an ECDSA key */
function requireAgreement(base: LoadedRing): NonNullable<KeyType['agree']> {
  requireUsable(base)
  const { agree, name } = base.type
  if (agree === undefined)
    throw fail('key_cannot', [`"base_key_name": it has to be an ECDSA key, this one is of type ${name}`])
  return agree
}

/** Reads the other party's public key. @throws Refusal, also for a point that is not on the base key's curve */
function readPeer({ name, publicPart }: KeyType, pem: string): KeyObject {
  if (publicPart === undefined) throw new Error(`A key of type ${name} has no public half`)
  try {
    return publicPart.load(canonicalSpki(publicPart.load(readPem(pem))))
  } catch (cause) {
    if (cause instanceof PemError)
      throw fail('key_material_invalid', [`"peer_public_key": it is no public key in PEM: ${cause.message}`], cause)
    if (cause instanceof InvalidKeyMaterial)
      throw fail(
        'key_material_invalid',
        [`"peer_public_key": it has to be on the curve of the base key. ${cause.message}`],
        cause,
      )
    throw cause
  }
}
