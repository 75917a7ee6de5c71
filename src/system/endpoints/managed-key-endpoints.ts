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
  writes: 'set',
  offeredIn: 'root',
  listId: 'managed-keys-list',
  path: PATH,
  name: nameField,
  summaries: {
    list: 'Lists the managed keys',
    read: 'Shows a managed key, without its PIN',
    write: 'Creates a managed key, or changes the fields that are sent',
    delete: 'Deletes a managed key; the key in the device stays',
  },
  descriptions: {
    write:
      'Defines where a key is, in a device that the configuration names (kms_library), and how it is used. ' +
      'This does not contact the device: test/sign and each use of the key do. The mechanism cannot be ' +
      'changed later. A PIN that the token refused is tried once more after a write that sends a PIN.',
    delete: 'Keys and data that depend on it become unusable: a new managed key of the same name is a different key.',
  },
  response: {
    UUID: text('UUID, by which engines refer to the key'),
    name: text('Name of the managed key'),
    type: text('pkcs11'),
    library: text('Name of the kms_library in the configuration'),
    slot: optional(text('Slot number')),
    token_label: optional(text('Token label')),
    key_label: optional(text('Key label')),
    key_id: optional(text('Key ID, in hexadecimal')),
    mechanism: text('Mechanism number'),
    key_bits: optional(integer('Size of a generated key, in bits')),
    curve: optional(text('Curve of a generated key')),
    rsa_oaep_hash: optional(text('Hash function for RSA-OAEP')),
    allow_generate_key: flag('The key is generated in the device if it does not exist'),
    allow_replace_key: flag('Stored but has no effect: the server never replaces a key in a device'),
    allow_store_key: flag('Stored but has no effect: the server never imports a key into a device'),
    any_mount: flag('Every mount can use the key'),
    usages: listOf(text('Use'), 'Allowed uses of the key'),
    max_parallel: integer('Maximum number of concurrent operations'),
  },
  fields: {
    library: string('Name of a kms_library in the configuration'),
    slot: string('Slot number, in decimal; alternative to token_label'),
    token_label: string('Token label; alternative to slot'),
    pin: string('PIN of the token; never shown', { secret: true }),
    key_label: string('Key label'),
    key_id: string('Key ID, in hexadecimal with 0x; if key_label is also set, both must match'),
    mechanism: string(`Mechanism of the key, required for a new key: ${mechanisms}`),
    key_bits: int('Size of a generated key, in bits: 128 or 256 for AES; 2048, 3072 or 4096 for RSA', {
      min: 0,
      max: 4096,
    }),
    curve: string(`Curve of a generated key: ${MANAGED_CURVES.join(', ')}`),
    rsa_oaep_hash: string(`Hash function for RSA-OAEP: ${DEVICE_HASHES.join(', ')}; sha256 if unset`),
    allow_generate_key: bool('Generates the key in the device if it does not exist'),
    allow_replace_key: bool('Stored but has no effect: the server never replaces a key in a device'),
    allow_store_key: bool('Stored but has no effect: the server never imports a key into a device'),
    any_mount: bool('Lets every mount use the key; otherwise only mounts that list it in allowed_managed_keys'),
    usages: strings(`Allowed uses: ${USAGES.join(', ')}; if unset, all that the mechanism supports`),
    max_parallel: int('Maximum number of concurrent operations; a device performs them one at a time', {
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
  offeredIn: 'root',
  runsOn: 'any-node',
  summary: 'Signs random bytes with a managed key, and verifies the signature',
  describe: 'Generates the key in the device if it does not exist and allow_generate_key is set.',
  fields: {
    ...nameField,
    hash_algorithm: string('Hash function for the signature', { default: 'sha2-256' }),
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
