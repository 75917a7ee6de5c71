// certificate requests signed with transit keys, verified and certified by the `openssl` program (which is not
// the library that the runtime was built with).
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { writePem } from '../../src/crypto/encoding/pem.ts'
import { FULL_REQUEST } from '../fixtures/certificate-requests.ts'
import { without } from '../fixtures/debian-packages.ts'
import { mountTransit } from '../fixtures/mounted-transit.ts'
import { temporaryDirectory } from '../fixtures/server-process.ts'
import { signers } from '../fixtures/transit-signers.ts'

const folder = temporaryDirectory()
after(() => folder.cleanUp())

const file = (name: string, content: string): string => {
  const path = join(folder.path, name)
  writeFileSync(path, content)
  return path
}

/** What it says on both outputs, and whether it succeeded. */
function openssl(...args: string[]): { readonly ok: boolean; readonly said: string; readonly output: string } {
  const { status, stdout, stderr } = spawnSync('openssl', args, { timeout: 120_000, encoding: 'utf8' })
  return { ok: status === 0, said: `${stdout}${stderr}`, output: stdout }
}

const WITHOUT_OPENSSL = without('openssl')

/** Those of the template but two, which not every version of the program prints alike. */
const NAMES = [
  'DNS:orders.example.org',
  'DNS:*.orders.example.org',
  'IP Address:192.0.2.7',
  'IP Address:2001:DB8:0:0:0:0:0:7',
  'URI:spiffe://example.org/orders',
  'email:orders@example.org',
]

// Its version 3.0 does not know ML-DSA.
const known = signers().filter(({ type }) => !type.startsWith('ml-dsa-'))

for (const { type, plant } of known) {
  test(`Q-04 ${type}: the openssl program verifies the request and finds what was asked for`, {
    skip: WITHOUT_OPENSSL,
  }, async () => {
    const { client, view } = mountTransit()
    await plant(view, 'k')
    const { data } = await client.write('keys/k/csr', { csr: FULL_REQUEST })
    const path = file('request', data.csr)
    const verified = openssl('req', '-verify', '-in', path, '-noout', '-text', '-nameopt', 'RFC2253')
    assert.ok(verified.ok, verified.said)
    assert.match(verified.said, /self-signature verify OK|verify OK/i)
    for (const name of [...NAMES, 'CN=orders.example.org,OU=Keys', 'Digital Signature', 'a challenge of the tests'])
      assert.ok(verified.said.includes(name), name)
    const subject = openssl('req', '-in', file('template', FULL_REQUEST), '-noout', '-subject')
    assert.equal(openssl('req', '-in', path, '-noout', '-subject').output, subject.output)
  })
}

test('Q-04 a request that was changed is not verified by the openssl program', { skip: WITHOUT_OPENSSL }, async () => {
  const { client } = mountTransit()
  await client.write('keys/k', { type: 'ecdsa-p256' })
  const { csr } = (await client.write('keys/k/csr', { csr: FULL_REQUEST })).data
  const changed = Buffer.from(csr.replace(/-----.*-----/g, ''), 'base64')
  const at = changed.indexOf('orders.example.org')
  changed.write('others', at)
  const pem = writePem('CERTIFICATE REQUEST', changed)
  assert.ok(openssl('req', '-in', file('changed', pem), '-noout', '-subject').output.includes('others.example.org'))
  assert.doesNotMatch(openssl('req', '-verify', '-in', join(folder.path, 'changed'), '-noout').said, /verify OK/i)
})

for (const type of ['ed25519', 'ecdsa-p256', 'ecdsa-p521', 'rsa-2048']) {
  test(`Q-04 ${type}: an authority certifies the request, and set-certificate takes the certificate`, {
    skip: WITHOUT_OPENSSL,
  }, async () => {
    const { client, view } = mountTransit()
    await known.find((signer) => signer.type === type)?.plant(view, 'k')
    const csr = file('request', (await client.write('keys/k/csr', { csr: FULL_REQUEST })).data.csr)
    const [key, authority] = [join(folder.path, 'ca.key'), join(folder.path, 'ca.pem')]
    const config = file(
      'config',
      '[req]\ndistinguished_name = dn\nx509_extensions = ca\n[dn]\n[ca]\nbasicConstraints = critical, CA:TRUE\n',
    )
    const made = openssl(
      ...['req', '-x509', '-newkey', 'ed25519', '-nodes', '-keyout', key, '-out', authority],
      ...['-subj', '/CN=authority', '-config', config],
    )
    assert.ok(made.ok, made.said)
    const certified = openssl(
      ...['x509', '-req', '-in', csr, '-CA', authority, '-CAkey', key, '-CAcreateserial', '-copy_extensions', 'copy'],
    )
    assert.ok(certified.ok, certified.said)
    const certificate = new X509Certificate(certified.output)
    assert.match(certificate.subjectAltName ?? '', /DNS:orders\.example\.org, DNS:\*\.orders\.example\.org/)
    const { status, errors } = await client.write('keys/k/set-certificate', { certificate_chain: certified.output })
    assert.deepEqual([status, errors], [200, []])
  })
}
