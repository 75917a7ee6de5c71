import assert from 'node:assert/strict'
import { test } from 'node:test'
import { derInPem, FULL_REQUEST, PLAIN_REQUEST, takeApart } from '../../../test/fixtures/certificate-requests.ts'
import { DER, DerError, der, derNatural, derOid } from '../encoding/der.ts'
import { EMPTY_TEMPLATE, readRequestTemplate, requestInfo } from './certificate-request.ts'
import { withSignature } from './x509-signatures.ts'

const sequence = (...parts: Buffer[]): Buffer => der(DER.sequence, ...parts)
const set = (...parts: Buffer[]): Buffer => der(DER.set, ...parts)
const utf8 = (text: string): Buffer => der(0x0c, Buffer.from(text))
const octets = (content: Buffer): Buffer => der(DER.octetString, content)

const ED25519 = sequence(derOid('1.3.101.112'))
const BITS = der(DER.bitString, Buffer.alloc(33))
const SPKI = sequence(ED25519, BITS)
const COMMON_NAME = sequence(derOid('2.5.4.3'), utf8('orders'))
const SUBJECT = sequence(set(COMMON_NAME))
const CHALLENGE = sequence(derOid('1.2.840.113549.1.9.7'), set(utf8('word')))
const SAN = '2.5.29.17'
const extension = (oid: string, ...rest: Buffer[]): Buffer => sequence(derOid(oid), ...rest)
const USAGE = extension('2.5.29.15', der(DER.boolean, Buffer.of(0xff)), octets(Buffer.from('03020780', 'hex')))
const asking = (...values: Buffer[]): Buffer => sequence(derOid('1.2.840.113549.1.9.14'), set(...values))
const named = (...names: Buffer[]): Buffer => asking(sequence(extension(SAN, octets(sequence(...names)))))
const dns = (text: string): Buffer => der(DER.contextPrimitive(2), Buffer.from(text, 'latin1'))

type Parts = { version: Buffer; subject: Buffer; spki: Buffer; attributes: Buffer; end: Buffer }
/** A request that is right but for the given parts. */
function request(changed: Partial<Parts> = {}): Buffer {
  const parts = {
    version: derNatural(0n),
    subject: SUBJECT,
    spki: SPKI,
    attributes: der(DER.context(0)),
    end: Buffer.concat([ED25519, BITS]),
    ...changed,
  }
  return sequence(sequence(parts.version, parts.subject, parts.spki, parts.attributes), parts.end)
}
const withAttributes = (...attributes: Buffer[]): Buffer => request({ attributes: der(DER.context(0), ...attributes) })

test('requests of another program: subject and attributes as they stand there', () => {
  for (const [pem, count] of [
    [FULL_REQUEST, 3],
    [PLAIN_REQUEST, 0],
  ] as const) {
    const { subject, attributes } = readRequestTemplate(derInPem(pem))
    const apart = takeApart(pem)
    assert.deepEqual(subject, apart.subject)
    assert.deepEqual(Buffer.concat(attributes), apart.attributes)
    assert.equal(attributes.length, count)
  }
})

test('a request is written as another program wrote it, from its parts', () => {
  for (const pem of [FULL_REQUEST, PLAIN_REQUEST]) {
    const { spki, algorithm, signature, info } = takeApart(pem)
    const ours = requestInfo(spki, readRequestTemplate(derInPem(pem)))
    assert.deepEqual(ours, info)
    assert.deepEqual(withSignature(ours, algorithm, signature), derInPem(pem))
  }
})

test('without a template the subject is empty, and nothing is asked for', () => {
  const info = requestInfo(SPKI, EMPTY_TEMPLATE)
  assert.equal(
    info.toString('hex'),
    sequence(Buffer.from('0201003000', 'hex'), SPKI, der(DER.context(0))).toString('hex'),
  )
  assert.deepEqual(readRequestTemplate(withSignature(info, ED25519, Buffer.alloc(64))), EMPTY_TEMPLATE)
})

test('attributes of a set are written in their order, whatever it was', () => {
  const sorted = [CHALLENGE, asking(sequence(USAGE))].sort(Buffer.compare)
  const { attributes } = readRequestTemplate(withAttributes(...sorted.toReversed()))
  assert.deepEqual(attributes, sorted.toReversed())
  const whole = withSignature(requestInfo(SPKI, { subject: SUBJECT, attributes }), ED25519, Buffer.alloc(64))
  assert.deepEqual(readRequestTemplate(whole).attributes, sorted)
})

const TAKEN = [
  { name: 'no attributes at all', bytes: request({ attributes: Buffer.alloc(0) }) },
  { name: 'an empty subject', bytes: request({ subject: sequence() }) },
  { name: 'a name of two parts', bytes: request({ subject: sequence(set(COMMON_NAME, COMMON_NAME)) }) },
  { name: 'a key of a kind that nobody knows', bytes: request({ spki: sequence(sequence(derOid('2.999.1')), BITS) }) },
  {
    name: 'an attribute with several values',
    bytes: withAttributes(sequence(derOid('2.999.2'), set(utf8('a'), utf8('b')))),
  },
  {
    name: 'false, sent',
    bytes: withAttributes(asking(sequence(extension('2.5.29.15', der(1, Buffer.of(0)), octets(BITS))))),
  },
  {
    name: 'an extension that is no DER',
    bytes: withAttributes(asking(sequence(extension('2.999.3', octets(Buffer.of(1)))))),
  },
  { name: 'no extensions to ask for', bytes: withAttributes(asking(sequence())) },
  {
    name: 'an address of each length',
    bytes: withAttributes(named(...[4, 16].map((n) => der(0x87, Buffer.alloc(n))))),
  },
]
for (const { name, bytes } of TAKEN) {
  test(`a template is taken with ${name}`, () => {
    const { subject, attributes } = readRequestTemplate(bytes)
    assert.ok(bytes.includes(Buffer.concat([subject])))
    assert.ok(bytes.includes(Buffer.concat(attributes)))
  })
}

const text = (tag: number, ...bytes: number[]) =>
  request({ subject: sequence(set(sequence(derOid('2.5.4.3'), der(tag, Buffer.from(bytes))))) })
/** The name that an authority of Microsoft has for the same attribute. */
const askingElsewhere = (extensions: Buffer) => sequence(derOid('1.3.6.1.4.1.311.2.1.14'), set(extensions))

for (const [tag, ...bytes] of [
  [0x0c, 0xc3, 0xa4],
  [0x13, 0x2a],
  [0x14, 0xe4],
  [0x16, 0x40],
  [0x1e, 0x00, 0xe4],
  [0x05],
] as const) {
  test(`a subject with a value of kind ${tag} is taken`, () => {
    assert.ok(readRequestTemplate(text(tag, ...bytes)).subject.includes(der(tag, Buffer.from(bytes))))
  })
}

test('extensions that are asked for by the older name are taken', () => {
  assert.equal(readRequestTemplate(withAttributes(askingElsewhere(sequence(USAGE)))).attributes.length, 1)
})

const REFUSED = [
  { name: 'extensions under two names', bytes: withAttributes(asking(sequence()), askingElsewhere(sequence(USAGE))) },
  { name: 'extensions twice by the older name', bytes: withAttributes(...Array(2).fill(askingElsewhere(sequence()))) },
  { name: 'one extension twice by the older name', bytes: withAttributes(askingElsewhere(sequence(USAGE, USAGE))) },
  { name: 'a subject that is no UTF-8', bytes: text(0x0c, 0xff, 0xfe) },
  { name: 'a zero in the subject', bytes: text(0x0c, 0x61, 0x00, 0x62) },
  { name: 'a line break in the subject', bytes: text(0x13, 0x0a) },
  { name: 'a subject beyond ASCII in an ASCII text', bytes: text(0x16, 0xe4) },
  { name: 'a zero in a wide text', bytes: text(0x1e, 0x00, 0x61, 0x00, 0x00) },
  { name: 'half a character in a wide text', bytes: text(0x1e, 0x00, 0x61, 0x00) },
  { name: 'nothing', bytes: Buffer.alloc(0) },
  { name: 'something behind it', bytes: Buffer.concat([request(), utf8('')]) },
  { name: 'no signature', bytes: request({ end: ED25519 }) },
  { name: 'two signatures', bytes: request({ end: Buffer.concat([ED25519, BITS, BITS]) }) },
  { name: 'a signature without bits', bytes: request({ end: Buffer.concat([ED25519, der(DER.bitString)]) }) },
  { name: 'a signature of no whole bytes', bytes: request({ end: Buffer.concat([ED25519, der(3, Buffer.of(1, 2))]) }) },
  { name: 'another version', bytes: request({ version: derNatural(2n) }) },
  { name: 'no version', bytes: request({ version: Buffer.alloc(0) }) },
  { name: 'a key without bits', bytes: request({ spki: sequence(ED25519) }) },
  { name: 'a key that is none', bytes: request({ spki: utf8('key') }) },
  { name: 'a subject that is a text', bytes: request({ subject: utf8('orders') }) },
  { name: 'a subject of a sequence', bytes: request({ subject: sequence(COMMON_NAME) }) },
  { name: 'a subject with an empty part', bytes: request({ subject: sequence(set()) }) },
  { name: 'a part without a value', bytes: request({ subject: sequence(set(sequence(derOid('2.5.4.3')))) }) },
  {
    name: 'a part with two values',
    bytes: request({ subject: sequence(set(sequence(derOid('2.5.4.3'), utf8('a'), utf8('b')))) }),
  },
  { name: 'attributes twice', bytes: request({ attributes: Buffer.concat([der(0xa0), der(0xa0)]) }) },
  { name: 'attributes in a set', bytes: request({ attributes: set() }) },
  { name: 'an attribute that is a text', bytes: withAttributes(utf8('a')) },
  { name: 'an attribute without values', bytes: withAttributes(sequence(derOid('2.999.2'), set())) },
  { name: 'an attribute without a set', bytes: withAttributes(sequence(derOid('2.999.2'), utf8('a'))) },
  { name: 'extensions twice', bytes: withAttributes(asking(sequence(USAGE)), named(dns('a.example'))) },
  { name: 'extensions in two values', bytes: withAttributes(asking(sequence(USAGE), sequence(USAGE))) },
  { name: 'extensions that are none', bytes: withAttributes(asking(set())) },
  { name: 'one extension twice', bytes: withAttributes(asking(sequence(USAGE, USAGE))) },
  { name: 'an extension without a value', bytes: withAttributes(asking(sequence(extension('2.5.29.15')))) },
  {
    name: 'a truth value of 1',
    bytes: withAttributes(asking(sequence(extension('2.5.29.15', der(1, Buffer.of(1)), octets(BITS))))),
  },
  { name: 'no alternative names', bytes: withAttributes(named()) },
  { name: 'an alternative name that is a text', bytes: withAttributes(named(utf8('a.example'))) },
  { name: 'an alternative name of kind 9', bytes: withAttributes(named(der(DER.contextPrimitive(9), Buffer.of(1)))) },
  { name: 'a constructed name of a host', bytes: withAttributes(named(der(DER.context(2), utf8('a')))) },
  { name: 'an empty name of a host', bytes: withAttributes(named(dns(''))) },
  { name: 'a zero in the name of a host', bytes: withAttributes(named(dns('bank.example\0.evil.example'))) },
  { name: 'a name of a host beyond ASCII', bytes: withAttributes(named(dns('b\u00e4nk.example'))) },
  { name: 'an address of 5 bytes', bytes: withAttributes(named(der(DER.contextPrimitive(7), Buffer.alloc(5)))) },
  {
    name: 'something behind the alternative names',
    bytes: withAttributes(asking(sequence(extension(SAN, octets(Buffer.concat([sequence(dns('a')), utf8('')])))))),
  },
  {
    name: 'alternative names that are no DER inside',
    bytes: withAttributes(named(der(DER.context(4), Buffer.from('3005', 'hex')))),
  },
]
for (const { name, bytes } of REFUSED) {
  test(`a template is refused with ${name}`, () => {
    assert.throws(() => readRequestTemplate(bytes), DerError)
  })
}
