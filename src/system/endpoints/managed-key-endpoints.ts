// sys/managed-keys: keys that stay in a device, for engines that may use them (docs/decisions/0010-pkcs11.md). Only the
// type pkcs11 is offered; the others belong to clouds.
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { fail } from '../../api/errors.ts'
import { bool, int, string, strings } from '../../api/fields.ts'
import { DEVICE_HASHES } from '../../api/managed-keys.ts'
import { namedThings, orNotFound, pageOf } from '../../api/named-things.ts'
import { DONE } from '../../api/request.ts'
import { flag, integer, listOf, optional, text } from '../../api/shape.ts'
import {
  changedManagedKey,
  type GivenManagedKey,
  MANAGED_CURVES,
  MOST_PARALLEL,
} from '../../managed-keys/managed-key-fields.ts'
import { type ManagedKeyRecord, USAGES } from '../../managed-keys/managed-key-record.ts'
import type { ManagedKeyService } from '../../managed-keys/managed-key-service.ts'
import { MECHANISMS, mechanismOf, mechanismText } from '../../managed-keys/mechanisms.ts'
import { testSign } from '../../managed-keys/test-sign.ts'
import type { WithServices } from '../services.ts'
import type { System as Whole } from '../system.ts'

/** The parts of the system that these endpoints use. */
type System = Pick<Whole, 'slow' | 'world'> & WithServices<'managedKeys'>

const PATH = 'managed-keys/pkcs11'
const nameField = { name: string('Name of the managed key', { required: true }) }
/** All mechanisms by number and name, for the help of the field. */
const mechanisms = MECHANISMS.map((one) => `${mechanismText(one)} (${one.name})`).join(', ')

/** @throws Refusal if the edition has no managed keys */
function managedKeysOf({ services: { managedKeys } }: System): ManagedKeyService {
  managedKeys.requireOffered()
  return managedKeys
}

const keys = namedThings({
  id: 'managed-key',
  listId: 'managed-keys-list',
  path: PATH,
  name: nameField,
  summaries: {
    list: 'Names of the managed keys',
    read: 'A managed key, without its PIN',
    write: 'Makes or changes a managed key: what is sent',
    delete: 'Forgets a managed key; the key in the device stays',
  },
  descriptions: {
    write:
      'Says where a key is, in a device that the configuration names (kms_library), and how it is used. The device ' +
      'is not asked yet: test/sign does, and whatever uses the key. The mechanism stays as it was first written. A ' +
      'PIN that the token refused is tried once more after it was written.',
    delete: 'Whatever was made with it cannot be used any more: another one of the same name is another key.',
  },
  response: {
    UUID: text('What uses the key knows it by this'),
    name: text('Name'),
    type: text('pkcs11'),
    library: text('Name of the kms_library in the configuration'),
    slot: optional(text('Number of the slot')),
    token_label: optional(text('Label of the token')),
    key_label: optional(text('Label of the key')),
    key_id: optional(text('Id of the key, in hexadecimal')),
    mechanism: text('Number of the mechanism'),
    key_bits: optional(integer('Bits of a key that is made')),
    curve: optional(text('Curve of a key that is made')),
    rsa_oaep_hash: optional(text('Hash of RSA-OAEP')),
    allow_generate_key: flag('The key is made where there is none'),
    allow_replace_key: flag('Kept and not used: nothing here replaces a key in a device'),
    allow_store_key: flag('Kept and not used: nothing here brings a key into a device'),
    any_mount: flag('Every mount may use it'),
    usages: listOf(text('Use'), 'What it may be used for'),
    max_parallel: integer('At most so many operations at once'),
  },
  fields: {
    library: string('Name of a kms_library in the configuration'),
    slot: string('Number of the slot, in decimal; or token_label'),
    token_label: string('Label of the token; or slot'),
    pin: string('PIN of the token; it is never shown', { secret: true }),
    key_label: string('Label of the key'),
    key_id: string('Id of the key, in hexadecimal with 0x; with key_label, both must fit'),
    mechanism: string(`What the key does: ${mechanisms}; needed`),
    key_bits: int('Of a key that is made: 128 or 256 of AES, 2048, 3072 or 4096 of RSA', { min: 0, max: 4096 }),
    curve: string(`Of a key that is made: ${MANAGED_CURVES.join(', ')}`),
    rsa_oaep_hash: string(`Of RSA-OAEP: ${DEVICE_HASHES.join(', ')}; sha256 where nothing was said`),
    allow_generate_key: bool('Makes the key in the device where there is none'),
    allow_replace_key: bool('Kept and not used: nothing here replaces a key in a device'),
    allow_store_key: bool('Kept and not used: nothing here brings a key into a device'),
    any_mount: bool('Every mount may use it; else those whose allowed_managed_keys have its name'),
    usages: strings(`What it may be used for: ${USAGES.join(', ')}; all that its mechanism can`),
    max_parallel: int('At most so many operations at once; a device does one after the other', {
      min: 1,
      max: MOST_PARALLEL,
    }),
  },
  names: async (system: System, page) => pageOf(await managedKeysOf(system).store.names(), page),
  find: async (system: System, name) => managedKeysOf(system).store.findByName(name),
  body: shown,
  write: async (system: System, name, given) => {
    const { store, devices } = managedKeysOf(system)
    requireLibrary(devices.libraries, given)
    // A new key gets a new UUID even under an old name: nothing made with the old key is ever tried with it.
    await store.write(name, (before) => changedManagedKey(name, given, before, () => system.world.random.uuid()))
    // A refused PIN is not tried again, because tokens lock themselves; a PIN that was written is a reason to try.
    // Differs: docs/differences.md#managed-keys.
    if (given.pin !== undefined) devices.forgive()
    return DONE
  },
  remove: async (system: System, name) => managedKeysOf(system).store.delete(name),
})

/** A managed key as a read shows it. The PIN is never part of it. */
function shown(record: ManagedKeyRecord): object {
  const mechanism = mechanismOf(record.mechanism)
  return {
    UUID: record.uuid,
    name: record.name,
    type: 'pkcs11',
    library: record.library,
    ...(record.slot === '' ? {} : { slot: record.slot }),
    ...(record.tokenLabel === '' ? {} : { token_label: record.tokenLabel }),
    ...(record.keyLabel === '' ? {} : { key_label: record.keyLabel }),
    ...(record.keyId === '' ? {} : { key_id: `0x${record.keyId}` }),
    mechanism: mechanismText(mechanism),
    ...(record.keyBits === 0 ? {} : { key_bits: record.keyBits }),
    ...(record.curve === '' ? {} : { curve: record.curve }),
    ...(mechanism.scheme === 'rsa-oaep' ? { rsa_oaep_hash: record.oaepHash } : {}),
    allow_generate_key: record.allowGenerateKey,
    allow_replace_key: record.allowReplaceKey,
    allow_store_key: record.allowStoreKey,
    any_mount: record.anyMount,
    usages: record.usages,
    max_parallel: record.maxParallel,
  }
}

/** A caller must not choose what code is loaded. @throws Refusal for a library that the configuration does not name */
function requireLibrary(known: readonly string[], { library }: GivenManagedKey): void {
  if (library === undefined || known.includes(library)) return
  const which = known.length === 0 ? 'it has none' : `it has ${known.join(', ')}`
  throw fail('field_invalid', ['library', `must be the name of a kms_library in the configuration: ${which}`])
}

// The one way to learn that device, PIN and key fit together before an engine depends on them.
const test = endpoint({
  id: 'managed-key-test-sign',
  operation: 'update',
  path: `${PATH}/:name/test/sign`,
  capability: 'update',
  runsOn: 'any-node',
  summary: 'Signs random bytes with a managed key, and verifies them',
  describe: 'Makes the key in the device where there is none and allow_generate_key is set.',
  fields: {
    ...nameField,
    hash_algorithm: string('Hash of what is signed', { default: 'sha2-256' }),
  },
  handler: async (system: System, { name, hash_algorithm: hash }) => {
    const managedKeys = managedKeysOf(system)
    const record = orNotFound(await managedKeys.store.findByName(name))
    await testSign(managedKeys.keyOf(record), hash, system.world.random.bytes, system.slow)
    return DONE
  },
})

/** List, read, write and delete, and the trial of a key in its device. */
export const MANAGED_KEY_ENDPOINTS: readonly Endpoint<System>[] = [...keys, test]
