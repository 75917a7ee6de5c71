import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SeededRandom } from '../../../test/conformance/seeded-random.ts'
import { P256 } from '../../crypto/forms/ec-curves.ts'
import { loadScalar } from '../../crypto/forms/ec-private-key.ts'
import { readCertificate, writeCertificate } from '../../crypto/signatures/certificate.ts'
import {
  AUTHORITY_EARLY_MS,
  AUTHORITY_LIFE_MS,
  CertificateRefused,
  CLIENT_LIFE_MS,
  EARLY_MS,
  holdsAt,
  newAuthority,
  newLeaf,
  newLeafKey,
  publicKeyOf,
  readAuthority,
  readLeaf,
  renewalDueMs,
  SERVER_LIFE_MS,
} from './certificates.ts'
import { MAX_PEER_ID_BYTES, type PeerName, type SetName, uriOfPeer } from './peer-name.ts'

const random = new SeededRandom(19)
const NOW = Date.UTC(2026, 10, 24, 12)
const DAY_MS = 86_400_000
const making = { random, nowMs: NOW }
const SET: SetName = { setId: random.uuid(), family: 'dr' }
const authority = newAuthority(SET, making)
const spki = publicKeyOf(newLeafKey(random))
const secondary: PeerName = { ...SET, role: 'secondary', id: 'site/b' }
const node: PeerName = { ...SET, role: 'primary', id: 'node 1' }
const read = () => readAuthority(SET, authority.certificate)

test('the authority of a set holds ten years, and from a month ago, signs leaves only, and is its own issuer', () => {
  const { kind, notBeforeMs, notAfterMs, spki: own } = read()
  assert.deepEqual([kind, notBeforeMs, notAfterMs], ['authority', NOW - AUTHORITY_EARLY_MS, NOW + AUTHORITY_LIFE_MS])
  assert.deepEqual(own, publicKeyOf(authority.key))
  for (const other of [
    { ...SET, family: 'performance' as const },
    { ...SET, setId: random.uuid() },
  ])
    assert.throws(() => readAuthority(other, authority.certificate), CertificateRefused)
  const leaf = newLeaf(authority, node, spki, making)
  assert.throws(() => readAuthority(SET, leaf), /not that of the authority/)
  assert.throws(() => readAuthority(SET, Buffer.from('no')), /not that of an authority/)
})

test('a leaf says who its peer is: a node of the primary for 30 days, a secondary for 90', () => {
  const lives = [
    [node, 'server', [`${SET.setId}.dr.rep`], SERVER_LIFE_MS, 30],
    [secondary, 'client', [], CLIENT_LIFE_MS, 90],
  ] as const
  for (const [peer, kind, dnsNames, lifeMs, days] of lives) {
    assert.equal(lifeMs, days * DAY_MS)
    const shown = readLeaf(read(), newLeaf(authority, peer, spki, making))
    assert.deepEqual(shown.peer, peer)
    assert.deepEqual([shown.leaf.kind, shown.leaf.dnsNames, shown.leaf.uris], [kind, dnsNames, [uriOfPeer(peer)]])
    assert.deepEqual([shown.leaf.notBeforeMs, shown.leaf.notAfterMs], [NOW - EARLY_MS, NOW + lifeMs])
  }
})

test('serial numbers and keys come from the randomness that is handed in', () => {
  const made = () => {
    const again = { random: new SeededRandom(7), nowMs: NOW }
    const signer = () => Buffer.from('3006020101020101', 'hex')
    const ca = newAuthority(SET, { ...again, signer })
    return [ca, newLeaf(ca, secondary, publicKeyOf(newLeafKey(again.random)), { ...again, signer })]
  }
  assert.deepEqual(made(), made())
  const serials = Array.from({ length: 100 }, () => readCertificate(newLeaf(authority, node, spki, making)).serial)
  assert.equal(new Set(serials.map(String)).size, 100)
})

test('the longest id fits into a certificate that is read', () => {
  for (const role of ['primary', 'secondary'] as const) {
    const peer: PeerName = { ...SET, family: 'performance', role, id: '.'.repeat(MAX_PEER_ID_BYTES) }
    const ca = newAuthority(peer, making)
    const leaf = newLeaf(ca, peer, spki, making)
    assert.deepEqual(readLeaf(readAuthority(peer, ca.certificate), leaf).peer, peer)
  }
})

test('a leaf of another set, of another authority or for another use is refused', () => {
  const other = newAuthority(SET, making)
  const otherSet = newAuthority({ ...SET, family: 'performance' }, making)
  const key = loadScalar(P256, authority.key)
  const forged = (changed: object) => {
    const { info: _info, signature: _signature, ...facts } = readCertificate(newLeaf(authority, node, spki, making))
    return writeCertificate({ ...facts, ...changed }, key, read().spki)
  }
  const bad: readonly (readonly [RegExp, Buffer])[] = [
    [/not made by/, newLeaf(other, secondary, spki, making)],
    [/not made by/, newLeaf(otherSet, secondary, spki, making)],
    [/not made by/, newLeaf(otherSet, { ...secondary, family: 'performance' }, spki, making)],
    // The authority of one set signed a leaf for another: its name decides.
    [/not made by/, newLeaf(authority, { ...secondary, family: 'performance' }, spki, making)],
    [/another use/, forged({ uris: [uriOfPeer(secondary)] })],
    [/another use/, forged({ kind: 'client', dnsNames: [] })],
    [/another use/, forged({ dnsNames: [] })],
    [/another use/, forged({ dnsNames: ['localhost'] })],
    [/another use/, forged({ dnsNames: [`${SET.setId}.dr.rep`, 'localhost'] })],
    [/not name a member/, forged({ uris: [] })],
    [/not name a member/, forged({ uris: [uriOfPeer(node), uriOfPeer(node)] })],
    [/not name a member/, forged({ uris: ['rep://elsewhere'] })],
    [/not that of a leaf/, Buffer.alloc(9)],
  ]
  for (const [sentence, leaf] of bad)
    assert.throws(() => readLeaf(read(), leaf), { name: 'CertificateRefused', message: sentence })
})

test('a leaf does not begin before its authority, where the clock went back', () => {
  const early = newLeaf(authority, secondary, spki, { random, nowMs: NOW - AUTHORITY_EARLY_MS })
  assert.equal(readCertificate(early).notBeforeMs, NOW - AUTHORITY_EARLY_MS)
  const dayBefore = newLeaf(authority, secondary, spki, { random, nowMs: NOW - DAY_MS })
  assert.equal(readCertificate(dayBefore).notBeforeMs, NOW - DAY_MS - EARLY_MS)
})

test('a leaf ends with its authority, and an authority that has ended makes none', () => {
  const end = read().notAfterMs
  const late = newLeaf(authority, secondary, spki, { random, nowMs: end - DAY_MS })
  assert.equal(readCertificate(late).notAfterMs, end)
  assert.throws(() => newLeaf(authority, secondary, spki, { random, nowMs: end }), CertificateRefused)
})

test('a certificate holds from its first second to its last, and is due for renewal at two thirds of its life', () => {
  const { leaf } = readLeaf(read(), newLeaf(authority, secondary, spki, making))
  const [first, last] = [NOW - EARLY_MS, NOW + CLIENT_LIFE_MS]
  const at = [first - 1, first, NOW, last + 999, last + 1_000].map((ms) => holdsAt(leaf, ms))
  assert.deepEqual(at, ['early', 'now', 'now', 'now', 'ended'])
  assert.equal(renewalDueMs(leaf), first + ((last - first) / 3) * 2)
})
