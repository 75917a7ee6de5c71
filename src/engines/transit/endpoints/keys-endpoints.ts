// keys/:name and the paths below it: make, read, list, delete, configure, rotate (Interface 4.2).
import { type Endpoint, endpoint } from '../../../api/endpoint.ts'
import { fail } from '../../../api/errors.ts'
import { type Args, bool, bytes, duration, int, string } from '../../../api/fields.ts'
import { LIST_OF_NAMES, namesAnswer, orNotFound } from '../../../api/named-things.ts'
import { DONE } from '../../../api/request.ts'
import type { KeyType } from '../../../crypto/key-types/key-type.ts'
import { CMAC_BYTES } from '../../../crypto/primitives/cmac.ts'
import type { CountReader } from '../budget/encryption-counts.ts'
import { keyNameField } from '../crypt-fields.ts'
import { describedKey, KEY_DESCRIPTION } from '../key-description.ts'
import { requireKeyType } from '../key-type-field.ts'
import { keyTypeName, parameterSetField } from '../parameter-set.ts'
import { wipeRing } from '../ring/key-ring.ts'
import { changeSettings, requireRotatePeriod } from '../ring/key-settings.ts'
import type { WithKeys } from '../ring/keys.ts'
import { isCounted } from '../ring/loaded-ring.ts'
import { isManaged } from '../ring/managed-type.ts'
import { managedKeyFields, newManagedVersion, requestedKey, requireManagedSettings } from '../ring/managed-version.ts'
import { type NewKey, newRing, ringOf } from '../ring/new-key.ts'
import { rotate, type VersionMaker } from '../ring/rotation.ts'

/** The parts of the mount that these endpoints use. */
type Parts = WithKeys & VersionMaker & { readonly counts: Pick<CountReader, 'read'> }

const createFields = {
  ...keyNameField,
  type: string('Type of the key', { default: 'aes256-gcm96' }),
  ...parameterSetField,
  derived: bool('Derives a separate key for each context; encryption and signing require one', { default: false }),
  convergent_encryption: bool('Equal plaintexts with the same context give equal ciphertexts; requires derived', {
    default: false,
  }),
  exportable: bool('Allows export; cannot be disabled later', { default: false }),
  allow_plaintext_backup: bool('Allows plaintext backup; cannot be disabled later', { default: false }),
  auto_rotate_period: duration('Rotation interval, at least one hour; 0 disables automatic rotation', {
    default: 0,
  }),
  key_size: int('Key size in bytes; only for key types with a variable size', { default: 0 }),
  context: string('Accepted and ignored', { secret: true }),
  ...managedKeyFields,
}

const createKey = endpoint({
  id: 'transit-key-create',
  operation: 'update',
  path: 'keys/:name',
  capability: 'update',
  runsOn: 'writer',
  writes: 'mount',
  summary: 'Creates a named key',
  describe: 'If the key exists, nothing changes, whatever the request asks for, and the answer describes that key.',
  fields: createFields,
  response: KEY_DESCRIPTION,
  handler: async (transit: Parts, args) => {
    const wanted = wantedKey(args)
    const managed = await requestedKey(transit, wanted.type.name, args)
    if (managed !== undefined) requireManagedSettings(wanted)
    const existing = await transit.keys.find(args.name)
    if (existing !== undefined) return describedKey(args.name, existing)
    const made = managed
      ? ringOf(wanted, await newManagedVersion(managed, transit), transit.world, await transit.messageCounts.since())
      : await newRing(wanted, transit)
    try {
      return describedKey(args.name, await transit.keys.add(args.name, made))
    } finally {
      wipeRing(made)
    }
  },
})

function wantedKey(args: Args<typeof createFields>): NewKey {
  requireRotatePeriod(args.auto_rotate_period)
  const { derived, convergent_encryption: convergent } = args
  const type = requireKeyType(keyTypeName(args.type, args.parameter_set), { derived, convergent })
  requireKeySize(type, args.key_size)
  return {
    type,
    derived,
    convergent,
    exportable: args.exportable,
    allowPlaintextBackup: args.allow_plaintext_backup,
    autoRotatePeriodSeconds: args.auto_rotate_period,
    keySizeBytes: args.key_size,
  }
}

/** Checks `key_size`: 0, or within the bounds of a type that has several sizes (Interface 4.2). @throws Refusal */
function requireKeySize({ name, sizes }: KeyType, bytes: number): void {
  if (bytes === 0) return
  if (sizes === undefined)
    throw fail('field_not_applicable', [
      `"key_size": key_size is not valid for algorithm ${name}, whose keys have one size`,
    ])
  if (bytes < sizes.min || bytes > sizes.max)
    throw fail('out_of_range', [
      `"key_size": invalid key_size, a key of type ${name} has ${sizes.min} to ${sizes.max} bytes`,
    ])
}

const readKey = endpoint({
  id: 'transit-key-read',
  operation: 'read',
  path: 'keys/:name',
  capability: 'read',
  runsOn: 'any-node',
  summary: 'Describes a key, without secret material',
  describe:
    'A derived signing key has a separate key pair for each context: its public keys are shown for the given ' +
    'context, and are empty without one.',
  fields: {
    ...keyNameField,
    context: bytes('Context of a derived signing key; ignored for other keys', { secret: true }),
  },
  response: KEY_DESCRIPTION,
  handler: async (transit: Parts, { name, context }) => {
    const ring = orNotFound(await transit.keys.find(name))
    const { data } = describedKey(name, ring, context)
    return { data: { ...data, ...(isCounted(ring.type) ? await transit.counts.read(ring.versions) : {}) } }
  },
})

const listKeys = endpoint({
  ...LIST_OF_NAMES,
  id: 'transit-key-list',
  path: 'keys',
  summary: 'Lists the names of all keys',
  fields: {
    after: string('Returns only names that sort after this one, which need not exist', { default: '' }),
    limit: int('Maximum number of names to return; 0 or less: all', { default: 0 }),
  },
  handler: async (transit: Parts, { after, limit }) =>
    namesAnswer(await transit.keys.list({ ...(after === '' ? {} : { after }), ...(limit > 0 ? { limit } : {}) })),
})

const deleteKey = endpoint({
  id: 'transit-key-delete',
  operation: 'delete',
  path: 'keys/:name',
  capability: 'delete',
  runsOn: 'writer',
  writes: 'mount',
  summary: 'Deletes a key with all its versions; requires deletion_allowed',
  describe: 'Data encrypted with the key can no longer be decrypted.',
  fields: keyNameField,
  handler: async (transit: Parts, { name }) => {
    const isDeleted = await transit.keys.delete(name, ({ deletionAllowed }) => {
      // Interface 7.3: a key is deleted only if its settings allow it.
      if (!deletionAllowed) {
        throw fail('deletion_not_allowed', [
          `error deleting key "${name}": deletion is not allowed for this key, set deletion_allowed`,
        ])
      }
    })
    if (!isDeleted) throw fail('key_not_found', [`error deleting key "${name}": could not delete key; not found`])
    return DONE
  },
})

const MINIMUM_FORCED = 'key versions are numbered from 1: forcing minimum to 1 for min_decryption_version'

const configureKey = endpoint({
  id: 'transit-key-configure',
  operation: 'update',
  path: 'keys/:name/config',
  capability: 'update',
  runsOn: 'writer',
  writes: 'mount',
  summary: 'Updates the given settings of a key, either all of them or none',
  fields: {
    ...keyNameField,
    min_decryption_version: int('Lowest version that can decrypt and verify; 0 means 1'),
    min_encryption_version: int(
      'Lowest version that can encrypt, sign and make MACs, at least min_decryption_version; 0: no minimum',
    ),
    deletion_allowed: bool('Whether the key can be deleted'),
    exportable: bool('Allows export; cannot be disabled later'),
    allow_plaintext_backup: bool('Allows plaintext backup; cannot be disabled later'),
    auto_rotate_period: duration('Rotation interval, at least one hour; 0 disables automatic rotation'),
    min_mac_length: int('CMAC keys only: length in bytes of the shortest CMAC that verify accepts; 8 if never set', {
      min: 1,
      max: CMAC_BYTES,
    }),
  },
  response: KEY_DESCRIPTION,
  handler: async (transit: Parts, args) => {
    const wanted = {
      minDecryptionVersion: args.min_decryption_version,
      minEncryptionVersion: args.min_encryption_version,
      deletionAllowed: args.deletion_allowed,
      exportable: args.exportable,
      allowPlaintextBackup: args.allow_plaintext_backup,
      autoRotatePeriodSeconds: args.auto_rotate_period,
      minMacBytes: args.min_mac_length,
    }
    const configured = await transit.keys.update(args.name, (ring) => {
      const changed = changeSettings(ring.header, wanted)
      if (isManaged(ring)) requireManagedSettings(changed)
      return changed === ring.header ? ring : { ...ring, header: changed }
    })
    if (configured === undefined) throw fail('key_not_found', [`no existing key named ${args.name} could be found`])
    const answer = describedKey(args.name, configured)
    return args.min_decryption_version === 0 ? { ...answer, warnings: [MINIMUM_FORCED] } : answer
  },
})

const rotateKey = endpoint({
  id: 'transit-key-rotate',
  operation: 'update',
  path: 'keys/:name/rotate',
  capability: 'update',
  runsOn: 'writer',
  writes: 'mount',
  summary: 'Rotates a key: adds a version, which encrypts and signs by default from then on',
  fields: { ...keyNameField, ...managedKeyFields },
  response: KEY_DESCRIPTION,
  handler: async (transit: Parts, args) => {
    const rotated = await rotate(transit, args.name, undefined, args)
    if (rotated === undefined) throw notFound(args.name)
    return describedKey(args.name, rotated)
  },
})

const notFound = (name: string) => fail('key_not_found', [`key not found: no key has the name "${name}"`])

/** All endpoints but reads and lists run on the thread that writes. */
export const KEYS_ENDPOINTS: readonly Endpoint<Parts>[] = [
  createKey,
  readKey,
  listKeys,
  deleteKey,
  configureKey,
  rotateKey,
]
