import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import { peerAuthority, peerIdentity } from '../../test/fixtures/peer-certificates.ts'
import { certificateFacts, judgeCertificate, type Shown, spanText } from './peer-certificate.ts'

const NAME = 's1.dr.rep'
const authority = peerAuthority('set 1')
const NOW = Date.parse('2026-06-01')
const ACCEPTOR: Shown = { by: 'acceptor', serverName: NAME }
const DIALER: Shown = { by: 'dialer' }

function judged(to: Parameters<typeof peerIdentity>[1], shown: Shown = DIALER, nowMs = NOW, trusted = [authority]) {
  const facts = certificateFacts(
    peerIdentity(authority, to).certificate,
    trusted.map(({ certificate }) => certificate),
  )
  return judgeCertificate(facts, shown, nowMs)
}

test('a certificate of the authority, for the name, in its time, proves either end', () => {
  assert.equal(judged({ uris: ['rep://s1/dr/secondary/b'] }), undefined)
  assert.equal(judged({ dns: ['other', NAME], usages: ['server', 'client'] }, ACCEPTOR), undefined)
})

test('the facts of a certificate are its names and the time in which it and its authority are valid', () => {
  const short = peerAuthority('short', { from: '2026-01-01', to: '2026-12-31' })
  const uris = ['rep://s1/dr/primary/a', 'rep://s1/dr/primary/b']
  const { certificate } = peerIdentity(short, { dns: [NAME], uris, from: '2025-01-01', to: '2026-05-01' })
  assert.deepEqual(certificateFacts(certificate, [short.certificate]), {
    isOurs: true,
    fromMs: Date.parse('2026-01-01'),
    toMs: Date.parse('2026-05-01'),
    dnsNames: [NAME],
    uris,
    usages: undefined,
  })
})

test('no other certificate proves anything', () => {
  const other = peerAuthority('set 1')
  assert.equal(judged({}, DIALER, NOW, [other])?.reason, 'untrusted')
  assert.equal(judged({}, DIALER, NOW, [])?.reason, 'untrusted')
  assert.equal(judged({}, DIALER, NOW, [other, authority]), undefined)
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  assert.equal(judged({ signedBy: privateKey })?.reason, 'untrusted')
  assert.equal(judged({ isAuthority: true })?.reason, 'untrusted')
  assert.equal(judged({ dns: ['s2.dr.rep'] }, ACCEPTOR)?.reason, 'untrusted')
  assert.equal(judged({ dns: ['*.dr.rep'] }, ACCEPTOR)?.reason, 'untrusted')
  assert.equal(judged({ dns: [NAME], usages: ['client'] }, ACCEPTOR)?.reason, 'untrusted')
  assert.equal(judged({ usages: ['server'] })?.reason, 'untrusted')
  const itself = authority.certificate
  assert.equal(judgeCertificate(certificateFacts(itself, [itself]), DIALER, NOW)?.reason, 'untrusted')
})

test('a certificate of a node issues no others', () => {
  const node = peerIdentity(authority)
  const pretender = { name: 'node', key: node.key, certificate: node.certificate }
  const { certificate } = peerIdentity(pretender)
  for (const trusted of [[authority.certificate], [node.certificate], [authority.certificate, node.certificate]])
    assert.equal(certificateFacts(certificate, trusted).isOurs, false)
})

test('a name that looks like several makes a certificate worthless', () => {
  assert.equal(judged({ uris: ['rep://s1/dr/secondary/b, DNS:s1.dr.rep'] })?.reason, 'untrusted')
})

test('bytes that are no certificate prove nothing', () => {
  const { certificate } = peerIdentity(authority)
  for (const bytes of [Buffer.alloc(0), Buffer.from('no'), certificate.subarray(0, -1)])
    assert.equal(certificateFacts(bytes, [authority.certificate]).isOurs, false)
})

test('the first and the last moment of a certificate are valid, and the refusal says by how much it is not', () => {
  const to = { from: '2026-01-01', to: '2026-02-01' }
  const [fromMs, toMs] = [Date.parse(to.from), Date.parse(to.to)]
  assert.deepEqual(judged(to, DIALER, fromMs - 1), { reason: 'clock', what: 'is valid only in 1 second' })
  assert.equal(judged(to, DIALER, fromMs), undefined)
  assert.equal(judged(to, DIALER, toMs), undefined)
  assert.deepEqual(judged(to, DIALER, toMs + 1), { reason: 'clock', what: 'expired 1 second ago' })
  assert.deepEqual(judged(to, DIALER, toMs + 3 * 86_400_000), { reason: 'clock', what: 'expired 3 days ago' })
})

test('what a certificate is for is judged before its time', () => {
  assert.equal(judged({ to: '2026-02-01', usages: ['server'] })?.reason, 'untrusted')
})

test('a span is told in its largest unit', () => {
  const spans = [0, 999, 59_999, 60_000, 7_200_000, 86_400_000]
  assert.deepEqual(spans.map(spanText), ['1 second', '1 second', '59 seconds', '1 minute', '2 hours', '1 day'])
})
