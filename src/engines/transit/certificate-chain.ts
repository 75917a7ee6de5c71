// Certificate chains for the public key of a version: the leaf first, each issued by the one behind it. Form, kind and
// public key are checked; signatures, dates and names are not, as the client that relies on a chain does that.
import { type KeyObject, X509Certificate } from 'node:crypto'
import { fail } from '../../api/errors.ts'
import { PemError, readPem } from '../../crypto/encoding/pem.ts'
import { canonicalSpki } from '../../crypto/forms/canonical-spki.ts'

/** Most certificates in the chain of one version. */
export const MAX_CERTIFICATES = 10
/** Characters of one chain. Certificates are stored in the header of the key, which is read as a whole. */
export const MAX_CHAIN_CHARACTERS = 65_536

const BEGIN = '-----BEGIN '
const LABEL = /^(X509 )?CERTIFICATE-----/

/**
 * Reads a chain in PEM; blocks of other kinds are skipped.
 * @throws Refusal for a chain that is empty, too long or malformed, or whose first certificate is an authority's
 */
export function readCertificates(text: string): readonly X509Certificate[] {
  if (text.length > MAX_CHAIN_CHARACTERS)
    throw fail('certificate_chain_invalid', [`it has more than ${MAX_CHAIN_CHARACTERS} characters`])
  const blocks = text.split(BEGIN).slice(1)
  const certificates = blocks.filter((block) => LABEL.test(block)).map((block) => readCertificate(BEGIN + block))
  if (certificates.length === 0)
    throw fail('certificate_chain_invalid', ['it holds no certificate in PEM, give the one of the key and its chain'])
  if (certificates.length > MAX_CERTIFICATES)
    throw fail('certificate_chain_invalid', [`it has more than ${MAX_CERTIFICATES} certificates`])
  requireOrder(certificates)
  return certificates
}

function readCertificate(pem: string): X509Certificate {
  const content = readContent(pem)
  const certificate = parse(content)
  // X509Certificate ignores bytes behind the certificate, and they would be stored with it.
  if (!certificate.raw.equals(content))
    throw fail('certificate_chain_invalid', ['there is more in a block than a certificate in DER'])
  return certificate
}

/** True if the bytes are one certificate in DER. X509Certificate alone also accepts PEM, and ignores bytes behind. */
export function isCertificate(bytes: Buffer): boolean {
  try {
    return new X509Certificate(bytes).raw.equals(bytes)
  } catch {
    return false
  }
}

function readContent(pem: string): Buffer {
  try {
    return readPem(pem)
  } catch (cause) {
    if (!(cause instanceof PemError)) throw cause
    throw fail('certificate_chain_invalid', [`a block is no PEM: ${cause.message}`], cause)
  }
}

function parse(content: Buffer): X509Certificate {
  try {
    return new X509Certificate(content)
  } catch (cause) {
    throw fail('certificate_chain_invalid', ['a block is no certificate (X.509 in DER)'], cause)
  }
}

function requireOrder([leaf, ...authorities]: readonly X509Certificate[]): void {
  if (leaf?.ca === true)
    throw fail('certificate_chain_invalid', [
      'the first certificate is one of an authority, it has to be the one of the key',
    ])
  if (authorities.some(({ ca }) => !ca))
    throw fail('certificate_chain_invalid', [
      'all certificates behind the first have to be ones of authorities (CA in basic constraints)',
    ])
}

/** Checks that the first certificate is for `key`, which is either half of the pair. @throws Refusal */
export function requireCertificateOf(key: KeyObject, [leaf]: readonly X509Certificate[]): void {
  if (leaf === undefined || !publicKeyIs(leaf, key))
    throw fail('certificate_chain_invalid', [
      'the first certificate is for another public key than that of this version of the key',
    ])
}

function publicKeyIs(certificate: X509Certificate, key: KeyObject): boolean {
  try {
    // Not `equals` of the keys: for keys of two kinds it leaves an error behind, and the next key that is loaded is
    // refused for it.
    return canonicalSpki(certificate.publicKey).equals(canonicalSpki(key))
  } catch {
    // The certificate has a key of a kind that the runtime does not know, so it is no key of this service.
    return false
  }
}
