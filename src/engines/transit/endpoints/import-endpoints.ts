// keys/:name/import and keys/:name/import_version (Interface 4.2): keys that were made elsewhere become keys here.

import { type Endpoint, endpoint } from '../../../api/endpoint.ts'
import { fail } from '../../../api/errors.ts'
import { type Args, bool, bytes, duration, int, string } from '../../../api/fields.ts'
import { DecisionOutdated, DONE } from '../../../api/request.ts'
import type { KeyType } from '../../../crypto/key-types/key-type.ts'
import type { World } from '../../../lib/world.ts'
import type { CountedSince } from '../budget/message-ledger.ts'
import { keyNameField } from '../crypt-fields.ts'
import { importedSecrets, importedVersion, requireImportable, withImported } from '../import-version.ts'
import { type ImportedMaterial, type Importer, importFields, importMaterial } from '../imported-material.ts'
import { requireKeyType } from '../key-type-field.ts'
import { keyTypeName, parameterSetField } from '../parameter-set.ts'
import { type StoredRing, wipeRing } from '../ring/key-ring.ts'
import { requireRotatePeriod } from '../ring/key-settings.ts'
import type { WithKeys } from '../ring/keys.ts'
import type { CountingMaker } from '../ring/new-key.ts'
import { MADE_HERE } from '../ring/ring-header.ts'
import { FIRST_BOUNDS } from '../ring/versions.ts'

/** The parts of the mount that these endpoints use. */
type Parts = WithKeys<'find' | 'place' | 'update'> & Importer & CountingMaker

const lowerCased = (text: string): string => text.toLowerCase()

const newFields = {
  ...keyNameField,
  type: string('Type of the key', { default: 'aes256-gcm96', canonical: lowerCased }),
  ...parameterSetField,
  ...importFields,
  allow_rotation: bool('Allows rotation here; once rotated, the key accepts no imported versions', { default: false }),
  derived: bool('Derives a separate key for each context; encryption and signing require one', { default: false }),
  context: bytes('Accepted and ignored', { secret: true }),
  exportable: bool('Allows export; cannot be disabled later', { default: false }),
  allow_plaintext_backup: bool('Allows plaintext backup; cannot be disabled later', { default: false }),
  auto_rotate_period: duration('Rotation interval, at least one hour; needs allow_rotation; 0: none', {
    default: 0,
  }),
  convergent_encryption: bool('Refused if true: an imported key cannot be convergent'),
}
type NewArgs = Args<typeof newFields>

const importKey = endpoint({
  id: 'transit-key-import',
  operation: 'update',
  path: 'keys/:name/import',
  capability: 'update',
  runsOn: 'writer',
  writes: 'mount',
  summary: 'Imports key material as a new named key',
  describe:
    'ciphertext holds a secret or private key, wrapped with the public key that wrapping_key returns: raw bytes, or ' +
    'PKCS #8 in DER for a key pair. With public_key instead, the key can only encrypt or verify until import_version ' +
    'adds the private key.',
  fields: newFields,
  handler: async (transit: Parts, args) => {
    const type = requireNewKey(args)
    if ((await transit.keys.find(args.name)) !== undefined) {
      throw fail('already_exists', [
        `import cannot be used with an existing key: "${args.name}" exists, import_version adds to it`,
      ])
    }
    const imported = await importMaterial(transit, type, args)
    const since = await transit.messageCounts.since()
    const ring = importedRing(transit, type, imported, args, since)
    try {
      await transit.keys.place(args.name, ring, false)
      return DONE
    } finally {
      wipeRing(ring)
      imported.material.fill(0)
    }
  },
})

/** Checks the settings of an imported key, and returns its type. @throws Refusal */
function requireNewKey(args: NewArgs): KeyType {
  if (args.convergent_encryption !== undefined)
    throw fail('field_not_applicable', [
      'import cannot be used on keys with convergent encryption enabled, leave convergent_encryption out',
    ])
  requireRotatePeriod(args.auto_rotate_period)
  if (args.auto_rotate_period > 0 && !args.allow_rotation)
    throw fail('fields_conflict', ['allow_rotation must be set to true if auto-rotation is enabled'])
  // Wire rule: unlike at creation, capitals are accepted.
  const type = requireKeyType(keyTypeName(lowerCased(args.type), args.parameter_set), {
    derived: args.derived,
    convergent: false,
  })
  if (args.derived && args.ciphertext === undefined && (args.public_key ?? '') !== '')
    throw fail('fields_conflict', [
      '"public_key": keys are derived from the private half, so with derived it has to be there',
    ])
  return type
}

type NewFlags = Pick<
  NewArgs,
  'derived' | 'exportable' | 'allow_plaintext_backup' | 'auto_rotate_period' | 'allow_rotation'
>

/** Returns a ring with a copy of the material; the caller wipes both. `since` comes from the mount's counts. */
export function importedRing(
  { world }: { readonly world: World },
  type: KeyType,
  imported: ImportedMaterial,
  args: NewFlags,
  since: CountedSince,
): StoredRing {
  return {
    header: {
      ...FIRST_BOUNDS,
      ...MADE_HERE,
      type: type.name,
      derived: args.derived,
      convergent: false,
      exportable: args.exportable,
      allowPlaintextBackup: args.allow_plaintext_backup,
      deletionAllowed: false,
      autoRotatePeriodSeconds: args.auto_rotate_period,
      keySizeBytes: type.sizes === undefined ? 0 : imported.material.length,
      // Other servers of this API derive from imported keys in counter mode. What they encrypted with such a key has
      // to open here, and what they signed has to verify.
      kdf: type.derivation?.deriveByCounter === undefined || !args.derived ? 'hkdf' : 'counter',
      imported: true,
      allowImportedRotation: args.allow_rotation,
      versions: [importedVersion(imported, world, since)],
    },
    secrets: [importedSecrets(imported.material, world)],
  }
}

const importKeyVersion = endpoint({
  id: 'transit-key-import-version',
  operation: 'update',
  path: 'keys/:name/import_version',
  capability: 'update',
  runsOn: 'writer',
  writes: 'mount',
  summary: 'Imports key material into an imported key, as a new version or as the private key of an existing one',
  describe:
    'If version is unset, a private key completes the latest version if that has only the matching public key; ' +
    'otherwise the given key becomes a new version.',
  fields: {
    ...keyNameField,
    ...importFields,
    version: int('Version that has only its public key, to be completed with the private key'),
  },
  handler: async (transit: Parts, args) => {
    const ring = await transit.keys.find(args.name)
    if (ring === undefined) throw notFound(args.name)
    requireImportable(ring)
    const { type } = ring
    const imported = await importMaterial(transit, type, args)
    try {
      if (ring.header.derived && imported.isPublic)
        throw fail('field_not_applicable', [
          '"public_key": keys are derived from the private half, so for a derived key it has to be there',
        ])
      const since = await transit.messageCounts.since()
      const changed = await transit.keys.update(args.name, (stored) => {
        if (stored.header.type !== type.name) throw new DecisionOutdated('another key has the name meanwhile')
        return withImported(stored, type, imported, { version: args.version, world: transit.world, since })
      })
      if (changed === undefined) throw notFound(args.name)
      return DONE
    } finally {
      imported.material.fill(0)
    }
  },
})

const notFound = (name: string) =>
  fail('key_not_found', [`key not found: no key has the name "${name}", import makes one`])

/** Both endpoints run on the thread that writes, and unwrap in the pool. */
export const IMPORT_ENDPOINTS: readonly Endpoint<Parts>[] = [importKey, importKeyVersion]
