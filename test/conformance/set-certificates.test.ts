// The certificates of a set as others judge them: the `openssl` program, and TLS 1.3 whose ends both show one.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { connect, createSecureContext, createServer, type Server, type TLSSocket } from 'node:tls'
import { writePem } from '../../src/crypto/encoding/pem.ts'
import { P256 } from '../../src/crypto/forms/ec-curves.ts'
import { loadScalar } from '../../src/crypto/forms/ec-private-key.ts'
import { realWorld } from '../../src/lib/world.ts'
import {
  type KeyedCertificate,
  newAuthority,
  newLeaf,
  newLeafKey,
  publicKeyOf,
  readAuthority,
  readLeaf,
} from '../../src/replication/set/certificates.ts'
import { type PeerName, type SetName, serverNameOf, setOfServerName } from '../../src/replication/set/peer-name.ts'
import { without } from '../fixtures/debian-packages.ts'
import { temporaryDirectory } from '../fixtures/server-process.ts'

const world = realWorld()
const { random } = world
const making = { random, nowMs: world.clock.nowMs() }
const DR: SetName = { setId: random.uuid(), family: 'dr' }
const PERFORMANCE: SetName = { setId: random.uuid(), family: 'performance' }

const keyed = (authority: KeyedCertificate, peer: PeerName): KeyedCertificate => {
  const key = newLeafKey(random)
  return { certificate: newLeaf(authority, peer, publicKeyOf(key), making), key }
}
const pem = (certificate: Buffer): string => writePem('CERTIFICATE', certificate)

/** A set with a node of its primary and a secondary. */
function setOf(name: SetName) {
  const authority = newAuthority(name, making)
  return {
    name,
    authority,
    node: keyed(authority, { ...name, role: 'primary', id: 'node/1' }),
    secondary: keyed(authority, { ...name, role: 'secondary', id: 'site b' }),
  }
}
type MadeSet = ReturnType<typeof setOf>
const [dr, performance] = [setOf(DR), setOf(PERFORMANCE)]

const folder = temporaryDirectory()
after(() => folder.cleanUp())

function openssl(...args: string[]): { readonly ok: boolean; readonly said: string } {
  const { status, stdout, stderr } = spawnSync('openssl', args, { timeout: 120_000, encoding: 'utf8' })
  return { ok: status === 0, said: `${stdout}${stderr}` }
}
const file = (name: string, certificate: Buffer): string => {
  const path = join(folder.path, name)
  writeFileSync(path, pem(certificate))
  return path
}

test('the openssl program verifies leaves strictly, each for its purpose, and shows what they say', {
  skip: without('openssl'),
}, () => {
  for (const { name, authority, node, secondary } of [dr, performance]) {
    const ca = file('ca', authority.certificate)
    const verified = (purpose: string, leaf: Buffer) =>
      openssl('verify', '-x509_strict', '-check_ss_sig', '-purpose', purpose, '-CAfile', ca, file('leaf', leaf))
    for (const [purpose, leaf, wrong] of [
      ['sslserver', node.certificate, 'sslclient'],
      ['sslclient', secondary.certificate, 'sslserver'],
    ] as const) {
      const { ok, said } = verified(purpose, leaf)
      assert.ok(ok, said)
      assert.match(verified(wrong, leaf).said, /unsupported certificate purpose|unsuitable certificate purpose/)
      assert.ok(
        !openssl('verify', '-CAfile', file('other', newAuthority(name, making).certificate), file('x', leaf)).ok,
      )
    }
    const shown = openssl('x509', '-noout', '-text', '-in', file('leaf', node.certificate)).said
    const names = `DNS:${serverNameOf(name)}, URI:rep://${name.setId}/${name.family}/primary/node%2F1`
    for (const text of [names, 'ecdsa-with-SHA256', 'NIST CURVE: P-256', 'CA:FALSE', 'Digital Signature'])
      assert.ok(shown.includes(text), `${text}\n${shown}`)
    const root = openssl('x509', '-noout', '-text', '-in', ca).said
    for (const text of ['CA:TRUE, pathlen:0', 'Certificate Sign']) assert.ok(root.includes(text), root)
  }
})

test('a leaf signs no further leaf: the openssl program refuses a chain with one in the middle', {
  skip: without('openssl'),
}, () => {
  const below = keyed(dr.secondary, { ...DR, role: 'secondary', id: 'below' })
  const chain = ['-CAfile', file('ca', dr.authority.certificate), '-untrusted', file('mid', dr.secondary.certificate)]
  assert.ok(!openssl('verify', ...chain, file('leaf', below.certificate)).ok)
})

const tlsKey = (key: Buffer) => loadScalar(P256, key).export({ type: 'pkcs8', format: 'pem' })
const shows = ({ certificate, key }: KeyedCertificate) => ({ cert: pem(certificate), key: tlsKey(key) })

/** One port for several sets, as 3.7 has it: the server name selects certificate and authority. */
async function listening(t: TestContext, sets: readonly MadeSet[]): Promise<{ port: number; accepted: TLSSocket[] }> {
  const accepted: TLSSocket[] = []
  const server: Server = createServer(
    {
      minVersion: 'TLSv1.3',
      requestCert: true,
      rejectUnauthorized: true,
      SNICallback: (servername, done) => {
        const wanted = setOfServerName(servername)
        const found = sets.find(({ name }) => name.setId === wanted?.setId && name.family === wanted.family)
        if (found === undefined) return done(new Error('no such set'))
        done(null, createSecureContext({ ...shows(found.node), ca: pem(found.authority.certificate) }))
      },
    },
    (socket) => {
      accepted.push(socket)
      socket.on('error', () => {})
      socket.end('hello')
    },
  )
  server.on('tlsClientError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const address = server.address()
  return { port: typeof address === 'object' && address !== null ? address.port : 0, accepted }
}

/** What the server said and showed, or how the handshake failed: with TLS 1.3 that is told by the first read. */
async function answerOf(port: number, servername: string, trusts: Buffer, client: KeyedCertificate | undefined) {
  const own = client === undefined ? {} : shows(client)
  const socket = connect({ host: '127.0.0.1', port, servername, ca: pem(trusts), minVersion: 'TLSv1.3', ...own })
  let said = ''
  let shown: Buffer | undefined
  socket.on('secureConnect', () => {
    shown = socket.getPeerX509Certificate()?.raw
  })
  socket.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  const failed = await new Promise<string>((resolve) => {
    socket.once('error', ({ message }) => resolve(message)).once('close', () => resolve(''))
  })
  socket.destroy()
  return { said, shown, protocol: failed === '' ? 'TLSv1.3' : failed }
}

test('both ends of TLS 1.3 show a leaf of the set, and each reads who the other is', async (t) => {
  const { port, accepted } = await listening(t, [dr, performance])
  for (const { name, authority, node, secondary } of [dr, performance]) {
    const { said, shown } = await answerOf(port, serverNameOf(name), authority.certificate, secondary)
    assert.equal(said, 'hello')
    assert.deepEqual(shown, node.certificate)
    const ca = readAuthority(name, authority.certificate)
    assert.deepEqual(readLeaf(ca, shown ?? assert.fail()).peer, { ...name, role: 'primary', id: 'node/1' })
    const socket = accepted.pop() ?? assert.fail('the server took the connection')
    assert.equal(socket.getProtocol(), 'TLSv1.3')
    const raw = socket.getPeerX509Certificate()?.raw ?? assert.fail('the client showed a certificate')
    assert.deepEqual(readLeaf(ca, raw).peer, { ...name, role: 'secondary', id: 'site b' })
  }
})

test('TLS 1.3 refuses a client without a leaf, with one of another set, and with one for servers', async (t) => {
  const { port, accepted } = await listening(t, [dr, performance])
  const strangers = [
    undefined,
    performance.secondary,
    dr.node,
    keyed(newAuthority(DR, making), { ...DR, role: 'secondary', id: 'site b' }),
  ]
  for (const stranger of strangers) {
    const { said } = await answerOf(port, serverNameOf(DR), dr.authority.certificate, stranger)
    assert.equal(said, '')
  }
  assert.equal(accepted.length, 0)
})

test('a client refuses a server of another set, and one that shows the leaf of a secondary', async (t) => {
  const impostor = { ...dr, node: dr.secondary }
  const stranger = { ...dr, node: keyed(newAuthority(DR, making), { ...DR, role: 'primary', id: 'node/1' }) }
  for (const set of [impostor, stranger, { ...performance, name: DR }]) {
    const { port } = await listening(t, [set])
    const { said, shown, protocol } = await answerOf(port, serverNameOf(DR), dr.authority.certificate, dr.secondary)
    assert.deepEqual([said, shown], ['', undefined], protocol)
  }
})
