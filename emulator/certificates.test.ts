import { strict as assert } from 'node:assert'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { after, test } from 'node:test'
import { connect, type TLSSocket } from 'node:tls'
import { realWorld } from '../src/lib/world.ts'
import { makeLoopbackCertificate } from './certificates.ts'
import { startEmulator } from './emulator.ts'

const DAY_MS = 86_400_000
const emulator = await startEmulator()
after(() => emulator.close())

test('the certificate is for loopback, by its authority, for a year', () => {
  for (const year of ['2026', '2049', '2060']) {
    const now = Date.parse(`${year}-06-01T12:00:00Z`)
    const made = makeLoopbackCertificate(now, realWorld().random)
    const [authority, leaf] = [new X509Certificate(made.authority), new X509Certificate(made.certificate)]
    assert.ok(leaf.verify(authority.publicKey))
    assert.ok(leaf.checkIssued(authority))
    assert.ok(authority.ca && !leaf.ca)
    assert.equal(leaf.checkHost('localhost'), 'localhost')
    assert.equal(leaf.checkIP('127.0.0.1'), '127.0.0.1')
    assert.ok(leaf.checkIP('::1'))
    assert.equal(leaf.checkHost('example.com'), undefined)
    assert.equal(leaf.validFromDate.getTime(), now - DAY_MS)
    assert.equal(leaf.validToDate.getTime(), now + 365 * DAY_MS)
    assert.notEqual(leaf.serialNumber, authority.serialNumber)
  }
})

async function handshake(ca: string): Promise<TLSSocket> {
  const { hostname, port } = new URL(emulator.addresses('https').authority)
  const socket = connect({ host: hostname, port: Number(port), ca })
  await once(socket, 'secureConnect')
  return socket
}

test('TLS is trusted by the authority of this run, and by no other', async () => {
  const socket = await handshake(emulator.authorityCertificate)
  assert.ok(socket.authorized)
  socket.destroy()
  const other = makeLoopbackCertificate(Date.parse('2026-06-01T12:00:00Z'), realWorld().random)
  await assert.rejects(handshake(other.authority), { code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' })
})

test('a handshake can end with an alert', async () => {
  emulator.listeners.breakTls('authority', true)
  await assert.rejects(handshake(emulator.authorityCertificate), { code: 'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE' })
  emulator.listeners.breakTls('authority', false)
  const socket = await handshake(emulator.authorityCertificate)
  socket.destroy()
})

test('a signing key shows its certificate, whose thumbprint is its id', () => {
  const { jwk, publicKey, kid } = emulator.keys.current
  const certificate = new X509Certificate(Buffer.from(jwk.x5c?.[0] ?? '', 'base64'))
  assert.ok(certificate.verify(publicKey))
  assert.equal(Buffer.from(certificate.fingerprint.replaceAll(':', ''), 'hex').toString('base64url'), kid)
  assert.equal(jwk.alg, undefined)
})
