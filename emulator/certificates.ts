// Certificates for one run (RFC 5280): an authority, and one for the loopback addresses that it signs. Each signing key
// of the directory has one as well: its key set shows it, and its thumbprint is the key's id.
import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import type { Random } from '../src/lib/world.ts'
import {
  bitString,
  boolean,
  integer,
  nothing,
  objectId,
  octetString,
  sequence,
  set,
  tagged,
  time,
  utf8String,
} from './der.ts'

const DAY_MS = 86_400_000
const LIFETIME_MS = 365 * DAY_MS

/** PEM of the certificate and key of a TLS listener, and of the authority that its clients have to trust. */
export type LoopbackCertificate = {
  readonly authority: string
  readonly certificate: string
  readonly privateKey: string
}

/** Makes a certificate for `localhost`, 127.0.0.1 and ::1, valid for a year. The key of its authority is not kept. */
export function makeLoopbackCertificate(nowMs: number, random: Random): LoopbackCertificate {
  const authority = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const leaf = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const issuer = { name: 'Authority of a cloud emulator', privateKey: authority.privateKey, nowMs, random }
  const ofAuthority = certify({
    ...issuer,
    subject: issuer.name,
    publicKey: authority.publicKey,
    extensions: [basicConstraints(true), keyUsage(0x06, 1), subjectKeyId(authority.publicKey)],
  })
  const ofLeaf = certify({
    ...issuer,
    subject: 'localhost',
    publicKey: leaf.publicKey,
    extensions: [
      basicConstraints(false),
      keyUsage(0x80, 7),
      extension('2.5.29.37', false, sequence(objectId('1.3.6.1.5.5.7.3.1'))),
      subjectKeyId(leaf.publicKey),
      extension('2.5.29.35', false, sequence(tagged(0, keyId(authority.publicKey), { primitive: true }))),
      loopbackNames(),
    ],
  })
  return {
    authority: pem(ofAuthority),
    certificate: pem(ofLeaf),
    privateKey: leaf.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  }
}

type KeyPair = { readonly publicKey: KeyObject; readonly privateKey: KeyObject }

/** Returns DER of a self-signed certificate of a signing key. */
export function selfSigned(name: string, { publicKey, privateKey }: KeyPair, nowMs: number, random: Random): Buffer {
  return certify({ name, privateKey, nowMs, random, subject: name, publicKey, extensions: [basicConstraints(false)] })
}

type Certificate = {
  /** Name of the issuer. */
  readonly name: string
  /** Key of the issuer, RSA or P-256. */
  readonly privateKey: KeyObject
  readonly subject: string
  readonly publicKey: KeyObject
  readonly extensions: readonly Buffer[]
  readonly nowMs: number
  readonly random: Random
}

function certify({ name, privateKey, subject, publicKey, extensions, nowMs, random }: Certificate): Buffer {
  const algorithm =
    privateKey.asymmetricKeyType === 'rsa'
      ? sequence(objectId('1.2.840.113549.1.1.11'), nothing())
      : sequence(objectId('1.2.840.10045.4.3.2'))
  const serial = random.bytes(16)
  serial.writeUInt8((serial.readUInt8() & 0x7f) | 0x40)
  const signed = sequence(
    tagged(0, integer(Buffer.from([2]))),
    integer(serial),
    algorithm,
    distinguishedName(name),
    sequence(time(nowMs - DAY_MS), time(nowMs + LIFETIME_MS)),
    distinguishedName(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(3, sequence(...extensions)),
  )
  return sequence(signed, algorithm, bitString(sign('sha256', signed, privateKey)))
}

function distinguishedName(commonName: string): Buffer {
  return sequence(set(sequence(objectId('2.5.4.3'), utf8String(commonName))))
}

function extension(id: string, critical: boolean, value: Buffer): Buffer {
  return sequence(objectId(id), ...(critical ? [boolean(true)] : []), octetString(value))
}

function basicConstraints(authority: boolean): Buffer {
  return extension('2.5.29.19', true, authority ? sequence(boolean(true)) : sequence())
}

function keyUsage(bits: number, unused: number): Buffer {
  return extension('2.5.29.15', true, bitString(Buffer.from([bits]), unused))
}

function subjectKeyId(publicKey: KeyObject): Buffer {
  return extension('2.5.29.14', false, octetString(keyId(publicKey)))
}

function keyId(publicKey: KeyObject): Buffer {
  return createHash('sha1')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest()
}

function loopbackNames(): Buffer {
  const address = (bytes: Buffer): Buffer => tagged(7, bytes, { primitive: true })
  const names = [
    tagged(2, Buffer.from('localhost'), { primitive: true }),
    address(Buffer.from([127, 0, 0, 1])),
    address(Buffer.from([...Array<number>(15).fill(0), 1])),
  ]
  return extension('2.5.29.17', false, sequence(...names))
}

function pem(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`
}
