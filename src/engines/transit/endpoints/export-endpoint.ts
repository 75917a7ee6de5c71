// export/:type/:name (Interface 4.2): keys in clear, in the form that is usual for their kind. The answer is text,
// which cannot be wiped; audit hashes it like all data of answers.
import { type Endpoint, endpoint } from '../../../api/endpoint.ts'
import { fail } from '../../../api/errors.ts'
import { string } from '../../../api/fields.ts'
import { orNotFound } from '../../../api/named-things.ts'
import { mapOf, type Shapes, text } from '../../../api/shape.ts'
import type { ExportFormat, MaterialForm } from '../../../crypto/forms/material-form.ts'
import { SYMMETRIC_FORM } from '../../../crypto/forms/symmetric-form.ts'
import { keyNameField } from '../crypt-fields.ts'
import { certificateChain } from '../key-description.ts'
import { chosenVersionField, chosenVersions } from '../ring/chosen-versions.ts'
import type { WithKeys } from '../ring/keys.ts'
import { type LoadedRing, type LoadedVersion, requireUsable } from '../ring/loaded-ring.ts'

/** The parts of the mount that this endpoint uses. */
type Parts = WithKeys<'find'>

/** A kind of export, by the `type` in the path. */
type Kind = {
  /** True if it is shown of keys that are not exportable too. */
  readonly isPublic?: true
  /** @throws Refusal if keys of the type have no such thing */
  readonly check: (ring: LoadedRing) => void
  /** Returns the text for one version; undefined if it is not written in this format. */
  readonly write: (ring: LoadedRing, version: LoadedVersion, format: ExportFormat) => string | undefined
}

const KINDS: Readonly<Record<string, Kind>> = {
  'encryption-key': {
    check: ({ type }) => requireThat(type.cipher !== undefined, type.name, 'encrypt'),
    write: writeSecret,
  },
  'signing-key': {
    check: ({ type }) => requireThat(type.signing !== undefined, type.name, 'sign'),
    write: writeSecret,
  },
  'hmac-key': {
    check: () => {},
    write: (_ring, { hmacKey }, format) => SYMMETRIC_FORM.secretText(hmacKey, format),
  },
  'cmac-key': {
    check: ({ type }) => requireThat(type.cmac !== undefined, type.name, 'make CMACs'),
    write: writeSecret,
  },
  'public-key': {
    isPublic: true,
    check: ({ type }) => {
      if (type.publicPart === undefined) throw fail('key_cannot', [`a key of type ${type.name} has no public half`])
    },
    write: (ring, { key }, format) => formOf(ring).publicText?.(key, format),
  },
  'certificate-chain': {
    isPublic: true,
    check: ({ type }) => requireThat(type.signing !== undefined, type.name, 'sign'),
    write: writeCertificates,
  },
}

function requireThat(can: boolean, typeName: string, what: string): void {
  if (!can) throw fail('key_cannot', [`invalid export type: keys of type ${typeName} do not ${what}`])
}

/** Wire rule: '' for a version that has only its public half. */
function writeSecret(ring: LoadedRing, { key, isPublic }: LoadedVersion, format: ExportFormat): string | undefined {
  return isPublic ? '' : formOf(ring).secretText(key, format)
}

function writeCertificates(_ring: LoadedRing, { header, number }: LoadedVersion): string {
  const chain = certificateChain(header)
  if (chain === '')
    throw fail('no_such_entry', [`version ${number} of the key has no certificate chain, set-certificate sets one`])
  return chain
}

/** Returns the form of the key's material. @throws Refusal for types that are never exported */
function formOf({ type: { name, form } }: LoadedRing): MaterialForm {
  if (form === undefined) throw fail('key_not_exportable', [`keys of type ${name} are never exported`])
  return form
}

const FORMATS: Readonly<Record<string, ExportFormat>> = { '': 'usual', raw: 'raw', der: 'der', pem: 'pem' }

const EXPORTED: Shapes = {
  name: text('Name of the key'),
  type: text('Type of the key'),
  keys: mapOf(text('Key material in the requested format'), 'Exported keys, by version number'),
}

const exportKey = endpoint({
  id: 'transit-export',
  operation: 'read',
  path: 'export/:type/:name(/:version...)',
  capability: 'read',
  runsOn: 'any-node',
  summary: 'Returns the material of an exportable key in plaintext, or the public parts of any key pair',
  describe:
    'Unless format says otherwise, encryption-key and signing-key return PEM (PKCS #1, SEC 1) for RSA and ECDSA ' +
    'keys, and base64 for others. They return an empty string for a version that has only its public key.',
  fields: {
    type: string(`What to export: ${Object.keys(KINDS).join(', ')}`, { required: true }),
    ...keyNameField,
    ...chosenVersionField,
    format: string(
      'raw (the bytes, base64), der (PKCS #8 or SubjectPublicKeyInfo, base64), pem (the same structures in PEM), ' +
        'or empty for the usual format of the key type',
      { default: '' },
    ),
  },
  response: EXPORTED,
  handler: async (transit: Parts, args) => {
    const kind = Object.hasOwn(KINDS, args.type) ? KINDS[args.type] : undefined
    if (kind === undefined)
      throw fail('choice_unknown', [`invalid export type, offered are ${Object.keys(KINDS).join(', ')}`])
    const format = Object.hasOwn(FORMATS, args.format) ? FORMATS[args.format] : undefined
    if (format === undefined)
      throw fail('choice_unknown', ['invalid format, offered are raw, der, pem; leave it out for the usual one'])
    const ring = orNotFound(await transit.keys.find(args.name))
    return { data: { name: args.name, type: ring.type.name, keys: written(ring, kind, args.version, format, args) } }
  },
})

function written(
  ring: LoadedRing,
  kind: Kind,
  version: string,
  format: ExportFormat,
  asked: { readonly type: string; readonly format: string },
): Record<string, string> {
  if (kind.isPublic !== true && !ring.header.exportable)
    throw fail('key_not_exportable', ['private key material is not exportable: the key was made without exportable'])
  requireUsable(ring)
  kind.check(ring)
  const keys: Record<string, string> = {}
  for (const one of chosenVersions(ring, version)) {
    const text = kind.write(ring, one, format)
    if (text === undefined)
      throw fail('field_not_applicable', [
        `invalid format: the ${asked.type} of type ${ring.type.name} is not written as ${asked.format}`,
      ])
    keys[one.number] = text
  }
  return keys
}

/** One endpoint, for all kinds of export. */
export const EXPORT_ENDPOINTS: readonly Endpoint<Parts>[] = [exportKey]
