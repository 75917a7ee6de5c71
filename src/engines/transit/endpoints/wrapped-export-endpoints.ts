// Wrapped keys (Interface 4.2): wrapping_key, for clients that import keys here, and byok-export, for keys of this
// mount that are imported elsewhere.
import { type Endpoint, endpoint } from '../../../api/endpoint.ts'
import { fail } from '../../../api/errors.ts'
import { string } from '../../../api/fields.ts'
import { mapOf, text } from '../../../api/shape.ts'
import { publicHalf, spkiPem } from '../../../crypto/forms/public-keys.ts'
import { OAEP_HASHES, WRAP_FOR_RSA } from '../../../crypto/forms/wrapped-key.ts'
import type { SlowWork } from '../../../lib/slow-work.ts'
import { requireHash } from '../imported-material.ts'
import { chosenVersionField, chosenVersions } from '../ring/chosen-versions.ts'
import type { WithKeys } from '../ring/keys.ts'
import { type LoadedRing, privateKeyOf, requireUsable } from '../ring/loaded-ring.ts'
import type { WrappingKeys } from '../ring/wrapping-key.ts'

/** The parts of the mount that these endpoints use. */
type Parts = WithKeys<'find'> & { readonly wrappingKeys: Pick<WrappingKeys, 'get'>; readonly slow: SlowWork }

const readWrappingKey = endpoint({
  id: 'transit-wrapping-key',
  operation: 'read',
  path: 'wrapping_key',
  capability: 'read',
  runsOn: 'any-node',
  writes: 'mount',
  summary: 'Returns the public wrapping key for imports: RSA with 4096 bits',
  describe: 'The key is generated on first use, which takes seconds, and never changes.',
  fields: {},
  response: { public_key: text('Public key in PEM') },
  handler: async (transit: Parts) => ({ data: { public_key: spkiPem(await transit.wrappingKeys.get()) } }),
})

const exportWrapped = endpoint({
  id: 'transit-byok-export',
  operation: 'read',
  path: 'byok-export/:destination/:source(/:version...)',
  capability: 'read',
  runsOn: 'any-node',
  summary: 'Returns an exportable key wrapped with an RSA key, in the format that import accepts',
  describe:
    'The destination is usually the wrapping key of another mount, imported here with public_key and type rsa-4096: ' +
    'import does not accept keys wrapped with a smaller RSA key.',
  fields: {
    destination: string('Name of the RSA key that wraps, with its latest version', { required: true }),
    source: string('Name of the key to wrap', { required: true }),
    ...chosenVersionField,
    hash: string(`Hash algorithm of RSA-OAEP: ${OAEP_HASHES.join(', ')}`, { default: 'SHA256' }),
  },
  response: {
    name: text('Name of the source key'),
    type: text('Type of the source key'),
    keys: mapOf(text('Wrapped key, base64, as ciphertext of import'), 'Wrapped keys, by version number'),
  },
  handler: async (transit: Parts, args) => {
    const destination = await requireKey(transit, 'destination', args.destination)
    const source = await requireKey(transit, 'source', args.source)
    if (!source.header.exportable)
      throw fail('key_not_exportable', ['key is not exportable: the source was made without exportable'])
    requireUsable(destination)
    requireUsable(source)
    const wrappingKey = requireRsa(destination)
    if (source.type.form === undefined)
      throw fail('key_not_exportable', [`keys of type ${source.type.name} are never exported`])
    const versions = chosenVersions(source, args.version)
    const keys = versions.map(privateKeyOf)
    const blobs = await transit.slow.run(WRAP_FOR_RSA, { wrappingKey, hash: requireHash(args.hash), keys })
    const wrapped = versions.map(({ number }, index) => [number, base64Of(blobs[index])])
    return { data: { name: args.source, type: source.type.name, keys: Object.fromEntries(wrapped) } }
  },
})

/** Returns the key that the field names. @throws Refusal */
async function requireKey(transit: Parts, field: string, name: string): Promise<LoadedRing> {
  const ring = await transit.keys.find(name)
  if (ring === undefined) throw fail('key_not_found', [`"${field}": key not found: no key has the name "${name}"`])
  return ring
}

/** Returns the public half of the latest version. @throws Refusal unless it is an RSA key */
function requireRsa({ versions, type }: LoadedRing) {
  const latest = versions.at(-1)
  if (latest?.key.asymmetricKeyType !== 'rsa')
    throw fail('key_cannot', [`"destination": only an RSA key wraps others, this one is of type ${type.name}`])
  return publicHalf(latest.key)
}

function base64Of(blob: Uint8Array | undefined): string {
  if (blob === undefined) throw new Error('A key was not wrapped')
  return Buffer.from(blob.buffer, blob.byteOffset, blob.byteLength).toString('base64')
}

/** Both endpoints run on any node. Only a wrapping key that does not exist yet is made by the thread that writes. */
export const WRAPPED_EXPORT_ENDPOINTS: readonly Endpoint<Parts>[] = [readWrappingKey, exportWrapped]
