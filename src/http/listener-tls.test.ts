// TLS of a listener, by real sockets.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { type ConnectionOptions, connect as connectTls, type TLSSocket } from 'node:tls'
import { LOOPBACK_CERTIFICATE, LOOPBACK_KEY } from '../../test/fixtures/loopback-certificate.ts'
import {
  CLIENT_AUTHORITY,
  CLIENT_CERTIFICATE,
  CLIENT_KEY,
  SECOND_CERTIFICATE,
  SECOND_KEY,
} from '../../test/fixtures/more-certificates.ts'
import { type OpenListener, type OpenOptions, openListener } from '../../test/fixtures/open-listener.ts'
import { type RawAnswer, RawConnection, rawRequest } from '../../test/fixtures/raw-http.ts'
import { turnsDuring } from '../../test/fixtures/turns.ts'
import { CIPHER_SUITES, type TlsMaterial, type TlsRules } from './tls.ts'

const RULES: TlsRules = {
  certFile: '',
  keyFile: '',
  clientCaFile: undefined,
  minVersion: 'tls12',
  maxVersion: 'tls13',
  cipherSuites: [...CIPHER_SUITES.keys()],
}
const TICKET_KEY = Buffer.alloc(48, 7)
const FIRST: TlsMaterial = {
  cert: LOOPBACK_CERTIFICATE,
  key: LOOPBACK_KEY,
  clientCa: undefined,
  ticketKey: TICKET_KEY,
}
const SECOND: TlsMaterial = {
  ...FIRST,
  cert: SECOND_CERTIFICATE,
  key: SECOND_KEY,
  ticketKey: Buffer.alloc(48, 8),
}
const GET = rawRequest('GET', '/v1/x')
/** Sockets that are closed need some; a second of an idle loop has a hundred thousand. */
const MOST_TURNS_TO_STOP = 1_000

async function opened(
  context: TestContext,
  tls: Partial<TlsRules> = {},
  material = FIRST,
  options: OpenOptions = {},
): Promise<OpenListener> {
  const open = await openListener({ ...options, rules: { tls: { ...RULES, ...tls } }, material })
  context.after(() => open.stop())
  return open
}

/** Rejects with the error of the handshake. */
async function shaken({ address }: OpenListener, options: ConnectionOptions = {}): Promise<TLSSocket> {
  const socket = connectTls({
    port: Number(new URL(address).port),
    host: '127.0.0.1',
    ca: [LOOPBACK_CERTIFICATE, SECOND_CERTIFICATE],
    ...options,
  })
  await once(socket, 'secureConnect')
  return socket
}

/** Undefined where the connection ended instead: an alert about a certificate of TLS 1.3 comes behind the handshake. */
async function ask(open: OpenListener, options: ConnectionOptions = {}): Promise<RawAnswer | undefined> {
  const connection = RawConnection.over(await shaken(open, options))
  try {
    return await connection.exchange(GET)
  } finally {
    connection.close()
  }
}

const statusOf = async (open: OpenListener, options: ConnectionOptions = {}): Promise<number | undefined> =>
  (await ask(open, options))?.status

test('a listener speaks TLS 1.2 and 1.3, with suites that have forward secrecy, and nothing older', async (context) => {
  const open = await opened(context)
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    const socket = await shaken(open, { minVersion: version, maxVersion: version })
    assert.equal(socket.getProtocol(), version)
    assert.equal((await RawConnection.over(socket).exchange(GET))?.status, 200)
    socket.destroy()
  }
  const weak = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' } as const
  await assert.rejects(shaken(open, weak))
  for (const ciphers of ['AES128-GCM-SHA256', 'ECDHE-ECDSA-AES128-SHA', 'ECDHE-ECDSA-AES256-SHA384'])
    await assert.rejects(shaken(open, { maxVersion: 'TLSv1.2', ciphers }), ciphers)
  assert.equal(await statusOf(open), 200)
})

test('the versions and suites of the configuration hold', async (context) => {
  const newest = await opened(context, { minVersion: 'tls13' })
  await assert.rejects(shaken(newest, { maxVersion: 'TLSv1.2' }))
  assert.equal(await statusOf(newest), 200)
  const oldest = await opened(context, {
    maxVersion: 'tls12',
    cipherSuites: ['TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256'],
  })
  const socket = await shaken(oldest)
  assert.deepEqual([socket.getProtocol(), socket.getCipher().name], ['TLSv1.2', 'ECDHE-ECDSA-CHACHA20-POLY1305'])
  socket.destroy()
})

test('H-11: HTTP/1.1 is all that is agreed on', async (context) => {
  const open = await opened(context)
  const socket = await shaken(open, { ALPNProtocols: ['h2', 'http/1.1'] })
  assert.equal(socket.alpnProtocol, 'http/1.1')
  socket.destroy()
  await assert.rejects(shaken(open, { ALPNProtocols: ['h2'] }))
  assert.equal(await statusOf(open, { ALPNProtocols: ['http/1.1'] }), 200)
})

test('a client certificate is asked for, and only one of the authority is taken', async (context) => {
  const open = await opened(context, { clientCaFile: 'ca.pem' }, { ...FIRST, clientCa: CLIENT_AUTHORITY })
  const own = { cert: CLIENT_CERTIFICATE, key: CLIENT_KEY }
  const stranger = { cert: SECOND_CERTIFICATE, key: SECOND_KEY }
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    assert.equal(await statusOf(open, { maxVersion, ...own }), 200)
    const refused = (options: ConnectionOptions) => statusOf(open, { maxVersion, ...options }).catch(() => undefined)
    assert.equal(await refused({}), undefined)
    assert.equal(await refused(stranger), undefined)
  }
})

/** The session that a client keeps; with TLS 1.3 it arrives after the first bytes. */
async function sessionOf(open: OpenListener, maxVersion: 'TLSv1.2' | 'TLSv1.3'): Promise<Buffer> {
  const socket = await shaken(open, { maxVersion })
  const [session] = await Promise.all([
    maxVersion === 'TLSv1.3' ? once(socket, 'session').then(([found]) => found as Buffer) : socket.getSession(),
    RawConnection.over(socket).exchange(GET),
  ])
  socket.destroy()
  assert.ok(session)
  return session
}

test('a session goes on with another thread that has the same ticket key, and not beyond that key', async (context) => {
  const [one, other] = [await opened(context), await opened(context)]
  const isReused = async (open: OpenListener, session: Buffer, maxVersion: 'TLSv1.2' | 'TLSv1.3') => {
    const socket = await shaken(open, { session, maxVersion })
    const reused = socket.isSessionReused()
    assert.equal((await RawConnection.over(socket).exchange(GET))?.status, 200)
    socket.destroy()
    return reused
  }
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    assert.equal(await isReused(other, await sessionOf(one, version), version), true)
  }
  const [older, old] = [await sessionOf(one, 'TLSv1.2'), await sessionOf(one, 'TLSv1.3')]
  other.listener.renewTls({ ...FIRST, ticketKey: Buffer.alloc(48, 9) })
  assert.equal(await isReused(other, older, 'TLSv1.2'), false)
  assert.equal(await isReused(other, old, 'TLSv1.3'), false)
})

test('new material counts for new connections, and those that there are go on', async (context) => {
  const open = await opened(context)
  const before = await shaken(open, { ca: LOOPBACK_CERTIFICATE })
  const connection = RawConnection.over(before)
  assert.equal((await connection.exchange(GET))?.status, 200)
  open.listener.renewTls(SECOND)
  assert.equal(await statusOf(open, { ca: SECOND_CERTIFICATE }), 200)
  await assert.rejects(shaken(open, { ca: LOOPBACK_CERTIFICATE }))
  assert.equal((await connection.exchange(GET))?.status, 200)
  connection.close()
})

test('LIST, pipelined requests and malformed ones are answered over TLS as in clear', async (context) => {
  const open = await opened(context)
  const connection = RawConnection.over(await shaken(open))
  connection.write(Buffer.concat([GET, GET, rawRequest('LIST', '/v1/x')]))
  const methods: string[] = []
  for (let i = 0; i < 3; i++) methods.push(JSON.parse((await connection.read())?.body ?? '{}').method)
  assert.deepEqual(methods, ['GET', 'GET', 'LIST'])
  const broken = RawConnection.over(await shaken(open))
  assert.equal((await broken.exchange('nonsense\r\n\r\n'))?.status, 400)
})

/** Sends these bytes instead of a handshake; resolves when the server has ended the connection. */
async function instead(open: OpenListener, bytes: Buffer): Promise<void> {
  const socket = connect(Number(new URL(open.address).port), '127.0.0.1')
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.end(bytes)
  socket.resume()
  await once(socket, 'close')
}

/** A ClientHello whose extensions are noise: what a callback on server names or protocols would be given. */
function hello(extensions: Buffer): Buffer {
  const body = Buffer.concat([
    Buffer.from([3, 3]),
    Buffer.alloc(32, 1),
    Buffer.from([0, 0, 2, 0x13, 0x01, 1, 0, extensions.length >> 8, extensions.length & 0xff]),
    extensions,
  ])
  const message = Buffer.concat([Buffer.from([1, 0, body.length >> 8, body.length & 0xff]), body])
  return Buffer.concat([Buffer.from([0x16, 3, 1, message.length >> 8, message.length & 0xff]), message])
}

test('H-13, H-04: whatever comes instead of a handshake ends its connection alone', async (context) => {
  const open = await opened(context)
  const name = (text: string) => {
    const bytes = Buffer.from(text, 'latin1')
    const list = Buffer.concat([Buffer.from([0, bytes.length >> 8, bytes.length & 0xff]), bytes])
    return Buffer.concat([Buffer.from([0, 0, 0, list.length + 2, 0, list.length]), list])
  }
  const protocols = (text: string) => {
    const bytes = Buffer.from(text, 'latin1')
    return Buffer.concat([Buffer.from([0, 16, 0, bytes.length + 2, 0, bytes.length]), bytes])
  }
  const noise = Buffer.from(Array.from({ length: 300 }, (_, index) => (index * 167) & 0xff))
  const all = [
    GET,
    noise,
    Buffer.alloc(0),
    Buffer.from([0x16, 3, 1]),
    hello(Buffer.alloc(0)),
    hello(name('a'.repeat(200))),
    hello(name('\0')),
    hello(name('')),
    hello(Buffer.concat([name('a'), name('b')])),
    hello(protocols('\u0002h2')),
    hello(protocols('\0')),
    hello(protocols('\u00ffx')),
    hello(noise),
  ]
  for (const bytes of all) await instead(open, bytes)
  assert.equal(await statusOf(open), 200)
})

test('H-06: connections without a handshake hold up neither others nor a stop', async (context) => {
  const open = await opened(context)
  const port = Number(new URL(open.address).port)
  const silent = Array.from({ length: 50 }, () => connect(port, '127.0.0.1').on('error', () => {}))
  try {
    await Promise.all(silent.map((socket) => once(socket, 'connect')))
    assert.equal(await statusOf(open), 200)
    // A stop that waited for one would take until its time for the handshake is over, which is 10 s of idle turns.
    const count = await turnsDuring(open.listener.close())
    assert.ok(count < MOST_TURNS_TO_STOP, `${count} turns`)
  } finally {
    for (const socket of silent) socket.destroy()
  }
})
