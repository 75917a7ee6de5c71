import assert from 'node:assert/strict'
import { createPublicKey, X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { SeededRandom } from '../../../test/conformance/seeded-random.ts'
import { DER, DerError, DerReader, der, derNatural, derOid } from '../encoding/der.ts'
import { P256, P384 } from '../forms/ec-curves.ts'
import { drawScalar, loadScalar } from '../forms/ec-private-key.ts'
import { spkiDer } from '../forms/public-keys.ts'
import {
  type CertificateFacts,
  certificateFingerprint,
  isIssuedBy,
  MAX_CERTIFICATE_BYTES,
  readCertificate,
  signCertificate,
  writeCertificate,
} from './certificate.ts'
import { CERTIFICATE_KINDS } from './certificate-extensions.ts'
import { derTime, readTime } from './certificate-time.ts'
import { withSignature, x509Signature } from './x509-signatures.ts'

const random = new SeededRandom(19)
const pair = (curve = P256) => {
  const key = loadScalar(
    curve,
    drawScalar(curve, (count) => random.bytes(count)),
  )
  return { key, spki: spkiDer(key) }
}
const AUTHORITY = pair()
const HOLDER = pair()
const SERIAL = Buffer.from('5a0102030405060708090a0b0c0d0e0f', 'hex')
const NAMES = {
  authority: { dnsNames: [], uris: [] },
  server: { dnsNames: ['a.b'], uris: ['rep://a/b'] },
  client: { dnsNames: [], uris: ['rep://a/c'] },
}

function facts(kind: CertificateFacts['kind'], changed: Partial<CertificateFacts> = {}): CertificateFacts {
  return {
    kind,
    serial: SERIAL,
    issuer: 'ca.a.b',
    notBeforeMs: Date.UTC(2026, 10, 24, 1, 2, 3),
    notAfterMs: Date.UTC(2051, 0, 2, 3, 4, 5),
    spki: kind === 'authority' ? AUTHORITY.spki : HOLDER.spki,
    ...NAMES[kind],
    ...changed,
  }
}
const written = (kind: CertificateFacts['kind'], changed: Partial<CertificateFacts> = {}, authority = AUTHORITY) =>
  writeCertificate(facts(kind, changed), authority.key, authority.spki)

for (const kind of CERTIFICATE_KINDS) {
  test(`X.509: what is written of the kind ${kind} is read again, by us and by the runtime`, () => {
    const bytes = written(kind)
    const { info, signature, authorityKeyId, ...read } = readCertificate(bytes)
    assert.deepEqual(read, facts(kind))
    assert.deepEqual([authorityKeyId.length, info.length > 0, signature.length > 0], [20, true, true])
    const other = new X509Certificate(bytes)
    assert.equal(other.serialNumber.toLowerCase(), SERIAL.toString('hex'))
    assert.equal(other.validFromDate.getTime(), facts(kind).notBeforeMs)
    assert.equal(other.validToDate.getTime(), facts(kind).notAfterMs)
    assert.equal(other.ca, kind === 'authority')
    assert.equal(other.issuer, 'CN=ca.a.b')
    assert.equal(other.fingerprint256.replaceAll(':', '').toLowerCase(), certificateFingerprint(bytes).toString('hex'))
    assert.ok(other.verify(createPublicKey(AUTHORITY.key)))
    assert.deepEqual(spkiDer(other.publicKey), facts(kind).spki)
    const names = { authority: undefined, server: 'DNS:a.b, URI:rep://a/b', client: 'URI:rep://a/c' }
    assert.equal(other.subjectAltName, names[kind])
    assert.ok(other.checkIssued(new X509Certificate(written('authority'))))
  })

  test(`X.509: a ${kind} is issued by the authority whose name, key and signature it bears, and no other`, () => {
    const authority = readCertificate(written('authority'))
    const bytes = written(kind)
    assert.equal(isIssuedBy(readCertificate(bytes), authority), true)
    const otherKey = pair()
    const other = written('authority', { spki: otherKey.spki }, otherKey)
    assert.equal(isIssuedBy(readCertificate(bytes), readCertificate(other)), false)
    const renamed = readCertificate(written('authority', { issuer: 'ca.x.y' }))
    assert.equal(isIssuedBy(readCertificate(bytes), renamed), false)
    const leaf = readCertificate(written('server'))
    assert.equal(isIssuedBy(readCertificate(bytes), leaf), false)
    // It names the right key, and was signed by another.
    const forged = writeCertificate(facts(kind), otherKey.key, AUTHORITY.spki)
    assert.equal(isIssuedBy(readCertificate(forged), authority), false)
  })

  test(`X.509: a ${kind} cut anywhere, or with a byte behind it, is refused`, () => {
    const bytes = written(kind)
    for (let length = 0; length < bytes.length; length++)
      assert.throws(() => readCertificate(bytes.subarray(0, length)), DerError, String(length))
    assert.throws(() => readCertificate(Buffer.concat([bytes, Buffer.alloc(1)])), DerError)
  })

  test(`X.509: each changed bit of a ${kind} is noticed, by form or by signature`, () => {
    const authority = readCertificate(written('authority'))
    const bytes = written(kind)
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes)
      changed.writeUInt8(bytes.readUInt8(at) ^ 0x04, at)
      let isTaken = false
      try {
        isTaken = isIssuedBy(readCertificate(changed), authority)
      } catch (cause) {
        assert.ok(cause instanceof DerError, String(cause))
      }
      assert.equal(isTaken, false, `byte ${at}`)
    }
  })
}

test('X.509: a certificate above the limit is not looked at', () => {
  const uris = ['u'.repeat(MAX_CERTIFICATE_BYTES)]
  assert.throws(() => readCertificate(written('client', { uris })), /more than 2048 bytes/)
})

test('X.509: a signer that is handed in makes the same certificate each time', () => {
  const signer = () => Buffer.from('3006020101020101', 'hex')
  const once = writeCertificate(facts('client'), AUTHORITY.key, AUTHORITY.spki, signer)
  assert.deepEqual(writeCertificate(facts('client'), AUTHORITY.key, AUTHORITY.spki, signer), once)
  assert.deepEqual(readCertificate(once).signature, signer())
})

test('X.509: facts that no certificate of a set has are refused when they are read', () => {
  const bad: readonly (readonly [RegExp, Buffer])[] = [
    [/on P-256/, written('client', { spki: pair(P384).spki })],
    [/on P-256/, written('client', { spki: der(DER.sequence, derOid('1.2.3'), der(DER.bitString, Buffer.of(0, 1))) })],
    [/serial/, written('client', { serial: SERIAL.subarray(1) })],
    [/serial/, written('client', { serial: Buffer.alloc(16, 0x90) })],
    [/serial/, written('client', { serial: Buffer.concat([Buffer.alloc(1), Buffer.alloc(15, 1)]) })],
    [/ends before/, written('client', { notAfterMs: facts('client').notBeforeMs - 1_000 })],
    [/name is none/, written('client', { issuer: 'with blank' })],
    [/name is none/, written('client', { issuer: 'x'.repeat(65) })],
    [/issuer has no name|name is none/, written('client', { issuer: '' })],
    [/name is none/, written('client', { uris: ['rep://a\0b'] })],
    [/name is none/, written('client', { uris: [''] })],
    // Its key is not the one that it names and is signed by.
    [/another key/, written('authority', { spki: HOLDER.spki })],
  ]
  for (const [sentence, bytes] of bad) assert.throws(() => readCertificate(bytes), sentence, String(sentence))
})

/** A leaf whose extensions are given, signed in order. */
function withExtensions(...extensions: Buffer[]): Buffer {
  const { info } = readCertificate(written('client'))
  const reader = new DerReader(new DerReader(info).next(DER.sequence))
  const parts: Buffer[] = []
  while (!reader.atEnd) parts.push(reader.value().whole)
  const made = der(DER.sequence, ...parts.slice(0, -1), der(DER.context(3), der(DER.sequence, ...extensions)))
  const { algorithm } = x509Signature('1.2.840.10045.4.3.2')
  return withSignature(made, algorithm, signCertificate(AUTHORITY.key, made))
}
const extension = (oid: string, value: Buffer, ...critical: Buffer[]) =>
  der(DER.sequence, derOid(oid), ...critical, der(DER.octetString, value))
const TRUE = der(DER.boolean, Buffer.of(0xff))
const LEAF = extension('2.5.29.19', der(DER.sequence), TRUE)
const USAGE = extension('2.5.29.15', Buffer.from('03020780', 'hex'), TRUE)
const CLIENT = extension('2.5.29.37', der(DER.sequence, derOid('1.3.6.1.5.5.7.3.2')))
const ALT = extension('2.5.29.17', der(DER.sequence, der(DER.contextPrimitive(6), Buffer.from('rep://a/c'))), TRUE)
const KEY = extension('2.5.29.35', der(DER.sequence, der(DER.contextPrimitive(0), Buffer.alloc(20, 1))))
const NOTE = der(DER.utf8String, Buffer.from('note'))

test('X.509: an extension that is not known is passed over, unless it is critical', () => {
  assert.equal(readCertificate(withExtensions(LEAF, USAGE, CLIENT, ALT, KEY)).kind, 'client')
  const note = extension('1.2.3.4', NOTE)
  assert.equal(readCertificate(withExtensions(LEAF, USAGE, CLIENT, ALT, KEY, note)).kind, 'client')
  const critical = extension('1.2.3.4', NOTE, TRUE)
  assert.throws(() => readCertificate(withExtensions(LEAF, USAGE, CLIENT, ALT, KEY, critical)), /not known/)
})

test('X.509: extensions that contradict each other, lack something or are for another use are refused', () => {
  const authority = extension('2.5.29.19', der(DER.sequence, TRUE, derNatural(0n)), TRUE)
  const anyUse = extension('2.5.29.37', der(DER.sequence, derOid('2.5.29.37.0')))
  const bad: readonly (readonly [RegExp, Buffer[]])[] = [
    [/another use/, [authority, USAGE, CLIENT, ALT, KEY]],
    [/another use/, [USAGE, CLIENT, ALT, KEY]],
    [/another use/, [LEAF, CLIENT, ALT, KEY]],
    [/another use/, [LEAF, USAGE, ALT, KEY]],
    [/another use/, [LEAF, USAGE, anyUse, ALT, KEY]],
    [/names are none/, [LEAF, USAGE, CLIENT, KEY]],
    [/does not name the key/, [LEAF, USAGE, CLIENT, ALT]],
    [/twice/, [LEAF, USAGE, CLIENT, ALT, ALT, KEY]],
    [/not critical/, [extension('2.5.29.19', der(DER.sequence)), USAGE, CLIENT, ALT, KEY]],
    [/one form/, [extension('2.5.29.19', der(DER.sequence), der(DER.boolean, Buffer.of(1))), USAGE, CLIENT, ALT, KEY]],
    [/more than/, [LEAF, USAGE, CLIENT, ALT, extension('2.5.29.35', Buffer.concat([der(DER.sequence), NOTE]))]],
    [
      /name is none/,
      [LEAF, USAGE, CLIENT, extension('2.5.29.17', der(DER.sequence, der(0x87, Buffer.alloc(4))), TRUE), KEY],
    ],
  ]
  for (const [sentence, extensions] of bad)
    assert.throws(() => readCertificate(withExtensions(...extensions)), { name: 'DerError', message: sentence })
})

test('X.509: times have one form each, before 2050 the short one', () => {
  const points = ['1950-01-01T00:00:00Z', '1999-12-31T23:59:59Z', '2049-12-31T23:59:59Z', '2050-01-01T00:00:00Z']
  for (const text of [...points, '9999-12-31T23:59:59Z']) {
    const bytes = derTime(Date.parse(text))
    assert.equal(bytes[0], text >= '2050' ? DER.generalizedTime : DER.utcTime)
    assert.equal(readTime(new DerReader(bytes)), Date.parse(text))
  }
  for (const ms of [Date.UTC(1949, 11, 31), Date.UTC(10_000, 0, 1)]) assert.throws(() => derTime(ms), RangeError)
  const bad: readonly (readonly [number, string])[] = [
    [DER.utcTime, '260230000000Z'],
    [DER.utcTime, '2611240102Z'],
    [DER.utcTime, '261124010203+0000'],
    [DER.utcTime, '261324010203Z'],
    [DER.generalizedTime, '20261124010203Z'],
    [DER.generalizedTime, '00000101000000Z'],
    [DER.generalizedTime, '20510124010203.5Z'],
    [DER.octetString, '261124010203Z'],
  ]
  for (const [tag, text] of bad) assert.throws(() => readTime(new DerReader(der(tag, Buffer.from(text)))), DerError)
})
