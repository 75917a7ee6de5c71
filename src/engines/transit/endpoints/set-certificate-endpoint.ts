// keys/:name/set-certificate: stores certificates with the version of a key that they are for.
import type { X509Certificate } from 'node:crypto'
import { endpoint } from '../../../api/endpoint.ts'
import { keyVersion, string } from '../../../api/fields.ts'
import { text } from '../../../api/shape.ts'
import { readCertificates, requireCertificateOf } from '../certificate-chain.ts'
import { keyNameField, keyNotFound } from '../crypt-fields.ts'
import { pairVersion } from '../pair-version.ts'
import type { StoredRing } from '../ring/key-ring.ts'
import type { WithKeys } from '../ring/keys.ts'
import { LoadedRing, requireUsable } from '../ring/loaded-ring.ts'
import { firstStoredVersion } from '../ring/ring-header.ts'

/** The parts of the mount that this endpoint uses. */
type Parts = WithKeys<'update'>

/** Exports of `certificate-chain`, and reads of the key, show the chain. */
export const setCertificateEndpoint = endpoint({
  id: 'transit-key-set-certificate',
  operation: 'update',
  path: 'keys/:name/set-certificate',
  capability: 'update',
  runsOn: 'writer',
  writes: 'mount',
  summary: 'Sets the certificate chain of a version of a signing key, in place of any earlier one',
  describe:
    'The first certificate must be for the public key of the version and not be a CA certificate; all that follow ' +
    'must be CA certificates. Signatures, dates and names are not checked: that is left to the relying party.',
  fields: {
    ...keyNameField,
    version: keyVersion('Key version that the first certificate is for; 0 is the latest'),
    certificate_chain: string('Certificates in PEM, starting with the certificate of the key', { required: true }),
  },
  response: {
    name: text('Name of the key'),
    type: text('Type of the key'),
    certificate_chain: text('Certificate chain, as given'),
  },
  handler: async (transit: Parts, { name, version: requested, certificate_chain: chain }) => {
    const certificates = readCertificates(chain)
    const changed = await transit.keys.update(name, (ring) => withCertificates(ring, requested, certificates))
    if (changed === undefined) throw keyNotFound(name, 'signing key')
    return { data: { name, type: changed.type.name, certificate_chain: chain } }
  },
})

/** Returns the ring with this chain at the version, in place of any other. @throws Refusal */
function withCertificates(ring: StoredRing, requested: number, chain: readonly X509Certificate[]): StoredRing {
  const { header } = ring
  const loaded = new LoadedRing(ring)
  requireUsable(loaded)
  const certified = pairVersion(loaded, requested)
  requireCertificateOf(certified.key, chain)
  const certificates = chain.map(({ raw }) => raw.toString('base64'))
  const index = certified.number - firstStoredVersion(header)
  const versions = header.versions.map((one, at) => (at === index ? { ...one, certificates } : one))
  return { ...ring, header: { ...header, versions } }
}
