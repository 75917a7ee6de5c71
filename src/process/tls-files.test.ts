import assert from 'node:assert/strict'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { LOOPBACK_CERTIFICATE, LOOPBACK_KEY } from '../../test/fixtures/loopback-certificate.ts'
import { CLIENT_AUTHORITY, SECOND_CERTIFICATE, SECOND_KEY } from '../../test/fixtures/more-certificates.ts'
import { temporaryDirectory } from '../../test/fixtures/server-process.ts'
import type { TlsRules } from '../http/tls.ts'
import { realWorld } from '../lib/world.ts'
import { materialOf, readTlsFiles, TlsFileError } from './tls-files.ts'

const directory = temporaryDirectory()
after(() => directory.cleanUp())
const NOW_MS = Date.UTC(2026, 0, 1)

function rules(cert: string, key: string, clientCa?: string): TlsRules {
  const written = (name: string, text: string): string => {
    const path = join(directory.path, name)
    writeFileSync(path, text, { mode: 0o600 })
    return path
  }
  return {
    certFile: written('cert.pem', cert),
    keyFile: written('key.pem', key),
    clientCaFile: clientCa === undefined ? undefined : written('ca.pem', clientCa),
    minVersion: 'tls12',
    maxVersion: 'tls13',
    cipherSuites: [],
  }
}

test('certificate, chain, key and authorities are read', () => {
  const chain = LOOPBACK_CERTIFICATE + SECOND_CERTIFICATE
  const files = readTlsFiles(rules(chain, LOOPBACK_KEY, CLIENT_AUTHORITY), NOW_MS)
  assert.deepEqual(files, { cert: chain, key: LOOPBACK_KEY, clientCa: CLIENT_AUTHORITY, warnings: [] })
  const [one, other] = [materialOf(files, realWorld()), materialOf(files, realWorld())]
  assert.equal(one.ticketKey.length, 48)
  assert.notDeepEqual(one.ticketKey, other.ticketKey)
})

const PEM = (text: string) => `-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----\n`
const REFUSED = [
  { name: 'no certificate', cert: 'nothing', says: /tls_cert_file \S+cert\.pem holds no certificate/ },
  { name: 'a certificate that is none', cert: PEM('AAAA'), says: /cert\.pem holds a certificate that cannot/ },
  { name: 'half a chain', cert: LOOPBACK_CERTIFICATE + PEM('AAAA'), says: /cert\.pem holds a certificate that/ },
  { name: 'a cut certificate', cert: LOOPBACK_CERTIFICATE.slice(0, 200), says: /holds a certificate that cannot/ },
  { name: 'no key', key: 'nothing', says: /tls_key_file \S+key\.pem holds no private key/ },
  { name: 'a key with a passphrase', key: 'ENCRYPTED', says: /key\.pem has a passphrase/ },
  { name: 'the key of another', key: SECOND_KEY, says: /key\.pem does not belong to the certificate in/ },
  { name: 'no authority', ca: '', says: /tls_client_ca_file \S+ca\.pem holds no/ },
]

for (const { name, cert = LOOPBACK_CERTIFICATE, key = LOOPBACK_KEY, ca, says } of REFUSED) {
  test(`TLS files with ${name} are refused, and what they hold is not told`, () => {
    assert.throws(
      () => readTlsFiles(rules(cert, key, ca), NOW_MS),
      (cause) => cause instanceof TlsFileError && says.test(cause.message) && !/BEGIN|AAAA|MII/.test(cause.message),
    )
  })
}

test('what others can read, has expired or will soon, is said', () => {
  const good = rules(SECOND_CERTIFICATE, SECOND_KEY)
  chmodSync(good.keyFile, 0o644)
  assert.match(readTlsFiles(good, NOW_MS).warnings.join(), /Others than its owner can read the key \S+key\.pem/)
  chmodSync(good.keyFile, 0o600)
  const at = (year: number, month: number) => readTlsFiles(good, Date.UTC(year, month, 5)).warnings.join()
  assert.equal(at(2119, 9), '')
  assert.match(
    at(2119, 11) + at(2120, 0) + at(2019, 0),
    /expires on 2119-12-31.*expired, on 2119.*not valid before 2020/s,
  )
})

test('files that are missing are refused by name', () => {
  const good = rules(LOOPBACK_CERTIFICATE, LOOPBACK_KEY)
  for (const [key, setting] of [
    ['certFile', 'tls_cert_file'],
    ['keyFile', 'tls_key_file'],
    ['clientCaFile', 'tls_client_ca_file'],
  ] as const) {
    assert.throws(
      () => readTlsFiles({ ...good, [key]: join(directory.path, 'none') }, NOW_MS),
      (cause) =>
        cause instanceof TlsFileError &&
        new RegExp(`^${setting} \\S+none cannot be read \\(ENOENT\\)$`).test(cause.message),
    )
  }
})
