// What strangers get at the port of real links, and what real sockets do. test/conformance/links.ts has the rest.
import assert from 'node:assert/strict'
import { constants, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'
import { peerAuthority, peerIdentity } from '../../test/fixtures/peer-certificates.ts'
import { type SteppedTime, steppedTime } from '../../test/fixtures/stepped-time.ts'
import { ends, until } from '../../test/fixtures/until.ts'
import { type Link, type LinkIdentity, type Listening, SERVING_LIMITS, type Serving } from './links.ts'
import { tlsLinks } from './tls-links.ts'
import { secureContextOf, TLS_RULES } from './tls-settings.ts'

const HOST = '127.0.0.1'
const NAME = 's1.dr.rep'
const PROTOCOL = 'rep-dr/1'
const NOW = Date.parse('2026-06-01')
const set = peerAuthority('set 1')
const server = peerIdentity(set, { dns: [NAME] })
const client = peerIdentity(set)
const opened: (() => void)[] = []
after(() => {
  for (const close of opened) close()
})

type Port = { readonly listening: Listening; readonly time: SteppedTime; readonly accepted: Link[] }

async function listening(serving: Partial<Serving> = {}, host = HOST): Promise<Port> {
  const time = steppedTime(NOW)
  const accepted: Link[] = []
  const found = await tlsLinks(time).listen(
    { host, port: 0 },
    {
      identities: (name) => (name === NAME ? server : undefined),
      protocols: [PROTOCOL],
      accept: (link) => {
        accepted.push(link)
        opened.push(() => link.destroy('the test is over'))
      },
      ...serving,
    },
  )
  opened.push(() => found.close())
  return { listening: found, time, accepted }
}

function dialing({ listening: { port }, time }: Port, identity = client): Promise<Link> {
  const dialed = tlsLinks(time).dial({ host: HOST, port }, { identity, serverName: NAME, protocol: PROTOCOL })
  return ends(dialed, 'the dial')
}

function plain({ listening: { port } }: Port): Socket {
  const socket = connect(port, HOST)
  socket.on('error', () => {})
  opened.push(() => socket.destroy())
  return socket
}

/** What a client is sent until the connection closes. */
async function received(socket: Socket): Promise<Buffer> {
  const pieces: Buffer[] = []
  socket.on('data', (piece: Buffer) => pieces.push(piece))
  const closed = new Promise<void>((resolve) => void socket.once('close', () => resolve()))
  if (!socket.closed) await ends(closed, 'the connection is closed')
  return Buffer.concat(pieces)
}

/** A client that trusts all and shows what it is told to. */
async function stranger(port: Port, options: ConnectionOptions) {
  const socket = connectTls({
    ...TLS_RULES,
    host: HOST,
    port: port.listening.port,
    servername: NAME,
    ALPNProtocols: [PROTOCOL],
    rejectUnauthorized: false,
    ...options,
  })
  const alerts: string[] = []
  const sessions: Buffer[] = []
  socket.on('error', (cause) => alerts.push((cause as NodeJS.ErrnoException).code ?? cause.message))
  socket.on('session', (session: Buffer) => sessions.push(session))
  const bytes = await received(socket)
  return { bytes, alerts, sessions }
}

const identityOptions = (identity: LinkIdentity): ConnectionOptions => ({ secureContext: secureContextOf(identity) })

test('D-04: a stranger is sent no byte, whatever it shows or does not show', async () => {
  const port = await listening()
  const other = peerAuthority('set 1')
  const shown: ConnectionOptions[] = [
    {},
    identityOptions(peerIdentity(other)),
    identityOptions(peerIdentity(set, { usages: ['server'] })),
    identityOptions(peerIdentity(set, { signedBy: other.key, to: '2026-05-01' })),
    { ...identityOptions(client), ALPNProtocols: [] },
  ]
  for (const options of shown) assert.equal((await stranger(port, options)).bytes.length, 0)
  assert.equal(port.accepted.length, 0)
})

test('a name that is not served and a protocol that is not served look the same', async () => {
  const port = await listening()
  const alerts: string[][] = []
  for (const options of [{ servername: 's2.dr.rep' }, { ALPNProtocols: ['h2'] }, { servername: '' }])
    alerts.push((await stranger(port, { ...identityOptions(client), ...options })).alerts)
  const same = ['ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL']
  assert.deepEqual(alerts, [same, same, same])
  const { alerts: neither } = await stranger(port, { servername: 's2.dr.rep', ALPNProtocols: [] })
  assert.deepEqual(neither, ['ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE'])
})

test('a peer whose certificate has expired is told the time, and no more', async () => {
  const port = await listening()
  const { bytes } = await stranger(port, identityOptions(peerIdentity(set, { to: '2026-05-01' })))
  const time = Buffer.alloc(8)
  time.writeBigUInt64BE(BigInt(NOW))
  assert.deepEqual(bytes, Buffer.concat([Buffer.of(2), time]))
})

test('an older TLS is refused', async () => {
  const port = await listening()
  const { alerts } = await stranger(port, { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2', ciphers: 'DEFAULT' })
  assert.deepEqual(alerts, ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION'])
})

test('no session is resumed: a certificate is shown each time', async () => {
  const port = await listening({
    accept: (link) => {
      port.accepted.push(link)
      link.end()
    },
  })
  const { sessions } = await stranger(port, identityOptions(client))
  assert.equal(port.accepted.length, 1)
  for (const secureOptions of [0, constants.SSL_OP_NO_TICKET]) {
    for (const session of sessions) {
      const { bytes } = await stranger(port, { session, secureOptions })
      assert.equal(bytes.length, 0)
    }
  }
  assert.equal(port.accepted.length, 1)
})

test('HTTP is not answered', async () => {
  const port = await listening()
  for (const request of ['GET / HTTP/1.1\r\nHost: x\r\n\r\n', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', '\0\0\0']) {
    const socket = plain(port)
    socket.end(request)
    const bytes = await received(socket)
    // An alert of TLS at most.
    assert.ok(bytes.length === 0 || (bytes[0] === 21 && bytes.length === 7), bytes.toString('latin1'))
  }
})

test('who says nothing is dropped at the deadline, and not before', async () => {
  const port = await listening()
  const silent = plain(port)
  await once(silent, 'connect')
  await until(() => port.time.waiting().length === 1, 'the connection has arrived')
  assert.deepEqual(port.time.waiting(), [SERVING_LIMITS.handshakeMs])
  await port.time.advance(SERVING_LIMITS.handshakeMs - 1)
  assert.equal(silent.closed, false)
  await port.time.advance(1)
  assert.equal((await received(silent)).length, 0)
})

test('two connections of one port of a peer, to two addresses here, have a deadline each', async () => {
  const port = await listening({}, '0.0.0.0')
  const first = connect({ host: HOST, port: port.listening.port, localAddress: HOST })
  opened.push(() => first.destroy())
  await until(() => port.time.waiting().length === 1, 'the first has arrived')
  const from = { localAddress: HOST, localPort: first.localPort ?? 0 }
  const second = connect({ host: '127.0.0.2', port: port.listening.port, ...from })
  opened.push(() => second.destroy())
  await once(second, 'connect')
  await until(() => port.time.waiting().length === 2, 'both have arrived')
  first.destroy()
  await until(() => port.time.waiting().length === 1, 'one has left')
  await port.time.advance(SERVING_LIMITS.handshakeMs)
  assert.equal((await received(second)).length, 0)
})

test('a proven peer has no deadline, nor a part of the share', async () => {
  const port = await listening({ limits: { halfOpenOfOne: 1 } })
  const links = [await dialing(port), await dialing(port), await dialing(port)]
  await until(() => port.time.waiting().length === 0, 'no deadline is left')
  await port.time.advance(10 * SERVING_LIMITS.handshakeMs)
  for (const link of links) await link.send(Buffer.from('here'))
  assert.equal(port.accepted.length, 3)
})

test('one more handshake than an address may have is turned away at once, until one ends', async () => {
  const port = await listening({ limits: { halfOpenOfOne: 3 } })
  const silent = [plain(port), plain(port), plain(port)]
  await until(() => port.time.waiting().length === 3, 'all have arrived')
  assert.equal((await received(plain(port))).length, 0)
  await assert.rejects(dialing(port), { name: 'LinkFailed', reason: 'broken' })
  silent[0]?.destroy()
  await until(() => port.time.waiting().length === 2, 'one has left')
  await dialing(port)
})

test('R-08: one more handshake than may be under way ends the oldest', async () => {
  const port = await listening({ limits: { halfOpen: 2 } })
  const oldest = plain(port)
  await until(() => port.time.waiting().length === 1, 'one has arrived')
  const newer = plain(port)
  await until(() => port.time.waiting().length === 2, 'both have arrived')
  const gone = received(oldest)
  await dialing(port)
  assert.equal((await gone).length, 0)
  assert.equal(newer.closed, false)
})

test('a dial that is given up ends at once, and closes its connection', async () => {
  const taken: Socket[] = []
  const silent = createServer((socket) => taken.push(socket))
  silent.listen(0, HOST)
  await once(silent, 'listening')
  opened.push(() => silent.close())
  const { port } = silent.address() as { readonly port: number }
  const giving = new AbortController()
  const dial = () =>
    tlsLinks(steppedTime(NOW)).dial(
      { host: HOST, port },
      { identity: client, serverName: NAME, protocol: PROTOCOL },
      { signal: giving.signal },
    )
  const failed = assert.rejects(dial(), { name: 'LinkFailed', reason: 'broken' })
  await until(() => taken.length === 1, 'the connection was taken')
  giving.abort()
  await ends(failed, 'the dial')
  const socket = taken[0] ?? assert.fail()
  socket.resume()
  await ends(once(socket, 'close'), 'the connection')
  await assert.rejects(dial(), { reason: 'broken' })
  assert.equal(taken.length, 1)
})

test('closing the port breaks handshakes off', async () => {
  const port = await listening()
  const silent = plain(port)
  await until(() => port.time.waiting().length === 1, 'it has arrived')
  port.listening.close()
  assert.equal((await received(silent)).length, 0)
  await until(() => port.time.waiting().length === 0, 'its deadline is gone')
})

test('an identity that cannot be used closes the connection, and ends nothing else', async () => {
  let identity: LinkIdentity = { ...server, key: client.key }
  const port = await listening({ identities: () => identity })
  await assert.rejects(dialing(port), { name: 'LinkFailed' })
  identity = server
  await dialing(port)
})

/** Passes bytes on, both ways, as long as it is told nothing else. */
async function through(port: Port, change: (bytes: Buffer) => Buffer): Promise<Port> {
  const between = createServer((from) => {
    const to = plain(port)
    from.on('error', () => {})
    from.on('data', (bytes: Buffer) => to.write(change(bytes)))
    to.on('data', (bytes: Buffer) => from.write(bytes))
    from.on('close', () => to.destroy())
    to.on('close', () => from.destroy())
  })
  await new Promise<void>((resolve) => between.listen(0, HOST, resolve))
  opened.push(() => between.close())
  const bound = between.address()
  return { ...port, listening: { port: typeof bound === 'object' && bound !== null ? bound.port : 0, close: () => {} } }
}

test('a bit that flips on the way ends the link on both sides, and its bytes are not read', async () => {
  const port = await listening()
  let flips = false
  const man = await through(port, (bytes) => {
    if (flips) bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1
    return bytes
  })
  const dialed = await dialing(man)
  await until(() => port.accepted.length === 1, 'it is accepted')
  flips = true
  await dialed.send(Buffer.from('a message'))
  const [accepted] = port.accepted
  await assert.rejects(
    async () => {
      for await (const bytes of accepted?.incoming ?? []) assert.fail(`${bytes.length} bytes were read`)
    },
    { name: 'LinkClosed' },
  )
  for (const link of [dialed, accepted])
    assert.equal((await ends(link?.closed ?? assert.fail(), 'it ends')).how, 'lost')
})

test('a chain as long as the TLS library takes proves no stranger, and a longer one ends the handshake', async () => {
  const port = await listening()
  const uris = Array.from({ length: 150 }, (_, at) => `rep://${'x'.repeat(300)}/${at}`)
  const { key, certificate } = peerIdentity(peerAuthority('other'), { uris })
  const pem = new X509Certificate(certificate).toString()
  assert.ok(certificate.length > 45_000 && certificate.length < 50_000)
  // OpenSSL takes 100 KiB.
  for (const count of [2, 3]) {
    const options = { key: key.export({ format: 'pem', type: 'pkcs8' }), cert: pem.repeat(count) }
    assert.equal((await stranger(port, options)).bytes.length, 0)
  }
  assert.equal(port.accepted.length, 0)
  await dialing(port)
})
