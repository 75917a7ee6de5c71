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
  summary: 'Shows the public key for which keys are wrapped that are to be imported: RSA with 4096 bits',
  describe: 'It is made when it is first asked for, which takes seconds, and stays the same.',
  fields: {},
  response: { public_key: text('PEM') },
  handler: async (transit: Parts) => ({ data: { public_key: spkiPem(await transit.wrappingKeys.get()) } }),
})

const exportWrapped = endpoint({
  id: 'transit-byok-export',
  operation: 'read',
  path: 'byok-export/:destination/:source(/:version...)',
  capability: 'read',
  runsOn: 'any-node',
  summary: 'Shows an exportable key wrapped for an RSA key, as import takes it',
  describe:
    'The destination is mostly the wrapping key of another mount, imported here with public_key and type rsa-4096: ' +
    'what is wrapped for a smaller key import does not take.',
  fields: {
    destination: string('Name of an RSA key, whose latest version wraps', { required: true }),
    source: string('Name of the key to be wrapped', { required: true }),
    ...chosenVersionField,
    hash: string(`Hash of RSA-OAEP: ${OAEP_HASHES.join(', ')}`, { default: 'SHA256' }),
  },
  response: {
    name: text('Name of the source'),
    type: text('Type of the source'),
    keys: mapOf(text('RSA-OAEP and AES-KWP; base64'), 'By number of the version'),
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
