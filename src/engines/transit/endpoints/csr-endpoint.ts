// keys/:name/csr: a certificate request for the public key of a version, signed with its private key.
import { endpoint } from '../../../api/endpoint.ts'
import { fail } from '../../../api/errors.ts'
import { keyVersion, string } from '../../../api/fields.ts'
import { text } from '../../../api/shape.ts'
import { DerError } from '../../../crypto/encoding/der.ts'
import { PemError, readOnlyPem, writePem } from '../../../crypto/encoding/pem.ts'
import { spkiDer } from '../../../crypto/forms/public-keys.ts'
import {
  EMPTY_TEMPLATE,
  type RequestTemplate,
  readRequestTemplate,
  requestInfo,
} from '../../../crypto/signatures/certificate-request.ts'
import { withSignature } from '../../../crypto/signatures/x509-signatures.ts'
import { signWith } from '../../../crypto/signing-jobs.ts'
import { whenDone } from '../../../lib/when-done.ts'
import { keyNameField, keyNotFound } from '../crypt-fields.ts'
import { type Signer, signBytesInDevice } from '../managed/managed-signing.ts'
import { pairVersion } from '../pair-version.ts'
import type { WithKeys } from '../ring/keys.ts'
import { type LoadedRing, type LoadedVersion, privateKeyOf, requireUsable } from '../ring/loaded-ring.ts'
import { isManaged } from '../ring/managed-type.ts'

/** The parts of the mount that this endpoint uses. */
type Parts = WithKeys<'find'> & Signer

/** Limit for a template: room for a key and a signature of any kind, and some hundred names. */
const MAX_CHARACTERS = 65_536
/** RFC 7468 section 7 has the first label; the other is an older name of the same. */
const LABELS = ['CERTIFICATE REQUEST', 'NEW CERTIFICATE REQUEST'] as const

/** Signs with the very version that the request is for, whatever min_encryption_version says. */
export const csrEndpoint = endpoint({
  id: 'transit-key-csr',
  operation: 'update',
  path: 'keys/:name/csr',
  capability: 'update',
  runsOn: 'any-node',
  summary: 'Creates a certificate signing request (PKCS #10) for a key version',
  describe:
    'The subject and attributes of a template are copied unchanged, including the extensions that it requests. Its ' +
    'public key and its signature, which is not checked, are replaced. A template can therefore request more than ' +
    'intended, even a CA certificate (CA:TRUE): it is up to the CA to refuse that. Without a template the subject is ' +
    'empty. RSA keys sign with PKCS #1 v1.5 and SHA-256; ECDSA keys sign with SHA-256, or SHA-384 for P-384 and ' +
    'SHA-512 for P-521. Store the issued certificate with set-certificate.',
  fields: {
    ...keyNameField,
    version: keyVersion('Key version that the request is for, and that signs it; 0 is the latest'),
    csr: string('Template: a certificate signing request in PEM', { default: '', max: MAX_CHARACTERS }),
  },
  response: {
    name: text('Name of the key'),
    type: text('Type of the key'),
    csr: text('Certificate signing request in PEM'),
  },
  handler: (transit: Parts, { name, version: requested, csr }) => {
    const template = csr === '' ? EMPTY_TEMPLATE : readTemplate(csr)
    return whenDone(transit.keys.find(name), (ring) => {
      if (ring === undefined) throw keyNotFound(name, 'signing key')
      requireUsable(ring)
      return whenDone(request(transit, ring, pairVersion(ring, requested), template), (signed) => ({
        data: { name, type: ring.type.name, csr: writePem(LABELS[0], signed) },
      }))
    })
  },
})

/** Reads a certificate request; its signature is not checked. @throws Refusal */
function readTemplate(pem: string): RequestTemplate {
  try {
    return readRequestTemplate(readOnlyPem(pem, LABELS, MAX_CHARACTERS))
  } catch (cause) {
    if (cause instanceof PemError)
      throw fail('certificate_request_invalid', [`it is no certificate request in PEM: ${cause.message}`], cause)
    if (cause instanceof DerError)
      throw fail('certificate_request_invalid', [`it is no certificate request (PKCS #10): ${cause.message}`], cause)
    throw cause
  }
}

/** Returns the signed request in DER. @throws Refusal if the version has only its public half */
function request(
  transit: Parts,
  ring: LoadedRing,
  version: LoadedVersion,
  template: RequestTemplate,
): Buffer | Promise<Buffer> {
  const { signing } = ring.type
  if (signing === undefined) throw new Error('A version that a certificate can be for is of a type that signs')
  const { algorithm, options } = signing.x509(version.key)
  const key = isManaged(ring) ? undefined : privateKeyOf(version)
  const info = requestInfo(spkiDer(version.key), template)
  const signature =
    key === undefined
      ? signBytesInDevice(transit, version, info, options)
      : signWith(ring.type, transit.slow, key, info, options)
  return whenDone(signature, (bytes) => withSignature(info, algorithm, bytes))
}
