// Listeners behind proxies, and on Unix sockets, by real sockets.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { lstatSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { LOOPBACK_CERTIFICATE, LOOPBACK_KEY } from '../../test/fixtures/loopback-certificate.ts'
import { type OpenListener, type OpenOptions, openListener } from '../../test/fixtures/open-listener.ts'
import { RawConnection, rawRequest } from '../../test/fixtures/raw-http.ts'
import { temporaryDirectory } from '../../test/fixtures/server-process.ts'
import { steppedTime } from '../../test/fixtures/stepped-time.ts'
import { turns } from '../../test/fixtures/turns.ts'
import { ends, until } from '../../test/fixtures/until.ts'
import { CIPHER_SUITES } from './tls.ts'

async function opened(context: TestContext, options: OpenOptions = {}): Promise<OpenListener> {
  const open = await openListener(options)
  context.after(() => open.stop())
  return open
}

/** The address that the request is taken to come from, or the status of its refusal; undefined: closed. */
async function addressOf(
  { address }: OpenListener,
  bytes: readonly (string | Buffer)[],
  from?: string,
): Promise<string | number | undefined> {
  const connection = await RawConnection.open(address, from)
  try {
    for (const part of bytes) {
      connection.write(part)
      // It comes by itself: the listener, in this process too, reads what there is.
      await turns(10)
    }
    const answer = await connection.read()
    if (answer === undefined) return undefined
    return answer.status === 200 ? JSON.parse(answer.body).remoteAddress : answer.status
  } finally {
    connection.close()
  }
}

const GET = rawRequest('GET', '/v1/x')
const FORWARDED = { authorized: ['127.0.0.1'], hopSkips: 0, rejectNotPresent: true, rejectNotAuthorized: true }
const from = (...addresses: string[]) => addresses.map((address) => ['X-Forwarded-For', address] as const)

test('H-10: X-Forwarded-For counts where the listener says so, its last entry, over several lines', async (context) => {
  const open = await opened(context, { rules: { forwarded: FORWARDED } })
  for (const method of ['GET', 'LIST']) {
    assert.equal(await addressOf(open, [rawRequest(method, '/v1/x', from('1.1.1.1, 2.2.2.2'))]), '2.2.2.2')
    assert.equal(await addressOf(open, [rawRequest(method, '/v1/x', from('1.1.1.1', '3.3.3.3'))]), '3.3.3.3')
    assert.equal(await addressOf(open, [rawRequest(method, '/v1/x', from('1.1.1.1', 'nonsense'))]), 400)
    assert.equal(await addressOf(open, [rawRequest(method, '/v1/x')]), 400)
    assert.equal(await addressOf(open, [rawRequest(method, '/v1/x', from('1.1.1.1'))], '127.0.0.2'), 400)
  }
  const plain = await opened(context)
  assert.equal(await addressOf(plain, [rawRequest('GET', '/v1/x', from('1.1.1.1'))]), '127.0.0.1')
})

test('H-10: a proxy says with the first line of a connection where it comes from', async (context) => {
  const open = await opened(context, { rules: { proxy: { behavior: 'use_always' } } })
  const line = 'PROXY TCP4 203.0.113.7 192.0.2.1 51034 8200\r\n'
  assert.equal(await addressOf(open, [line + GET.toString()]), '203.0.113.7')
  assert.equal(await addressOf(open, [line, GET]), '203.0.113.7')
  assert.equal(
    await addressOf(open, [line.slice(0, 9), line.slice(9) + GET.toString('latin1', 0, 5), GET.subarray(5)]),
    '203.0.113.7',
  )
  assert.equal(await addressOf(open, [line, rawRequest('LIST', '/v1/x')]), '203.0.113.7')
  assert.equal(await addressOf(open, ['PROXY UNKNOWN\r\n', GET]), '127.0.0.1')
  assert.equal(await addressOf(open, [GET]), undefined, 'without it the connection ends')
})

test('H-04: a connection from an address that is no proxy ends that connection alone', async (context) => {
  const line = 'PROXY TCP4 203.0.113.7 192.0.2.1 51034 8200\r\n'
  const denies = await opened(context, {
    rules: { proxy: { behavior: 'deny_unauthorized', authorized: ['127.0.0.1'] } },
  })
  for (let i = 0; i < 20; i++) assert.equal(await addressOf(denies, [line, GET], '127.0.0.2'), undefined)
  assert.equal(await addressOf(denies, [line, GET]), '203.0.113.7')
  const allows = await opened(context, {
    rules: { proxy: { behavior: 'allow_authorized', authorized: ['127.0.0.1'] } },
  })
  assert.equal(await addressOf(allows, [GET], '127.0.0.2'), '127.0.0.2')
  assert.equal(await addressOf(allows, [line, GET], '127.0.0.2'), 400, 'what it claims is no HTTP')
  assert.equal(await addressOf(allows, [line, GET]), '203.0.113.7')
})

test('H-10: who may write X-Forwarded-For may not therefore write the header of a proxy', async (context) => {
  const line = 'PROXY TCP4 203.0.113.7 192.0.2.1 51034 8200\r\n'
  const forwarded = { ...FORWARDED, authorized: ['127.0.0.2'], rejectNotPresent: false, rejectNotAuthorized: false }
  for (const [behavior, spoofed] of [
    ['deny_unauthorized', undefined],
    ['allow_authorized', 400],
  ] as const) {
    const open = await opened(context, { rules: { forwarded, proxy: { behavior, authorized: ['127.0.0.1'] } } })
    assert.equal(await addressOf(open, [line, GET], '127.0.0.2'), spoofed, behavior)
    assert.equal(await addressOf(open, [line, GET]), '203.0.113.7')
  }
  const allows = await opened(context, {
    rules: { forwarded, proxy: { behavior: 'allow_authorized', authorized: ['127.0.0.1'] } },
  })
  assert.equal(await addressOf(allows, [rawRequest('GET', '/v1/x', from('1.1.1.1'))], '127.0.0.2'), '1.1.1.1')
})

test('H-10: behind both kinds of proxies the inner one speaks for the outer', async (context) => {
  const open = await opened(context, {
    rules: { proxy: { behavior: 'use_always' }, forwarded: { ...FORWARDED, authorized: ['203.0.113.7'] } },
  })
  const line = 'PROXY TCP4 203.0.113.7 192.0.2.1 51034 8200\r\n'
  assert.equal(await addressOf(open, [line, rawRequest('GET', '/v1/x', from('198.51.100.9'))]), '198.51.100.9')
  assert.equal(await addressOf(open, ['PROXY UNKNOWN\r\n', rawRequest('GET', '/v1/x', from('1.1.1.1'))]), 400)
})

test('P-44: a proxy that does not say it in time is cut, and so is one at a stop', async (context) => {
  const time = steppedTime(0)
  const open = await opened(context, {
    time,
    limits: { readHeaderTimeoutMs: 10_000, readTimeoutMs: 3_600_000 },
    rules: { proxy: { behavior: 'use_always' } },
  })
  const [silent, half] = [await RawConnection.open(open.address), await RawConnection.open(open.address)]
  half.write('PROXY TC')
  await until(() => open.figures.cells[0] === 2, 'both are accepted')
  await time.advance(20_000)
  assert.deepEqual(await Promise.all([silent.read(), half.read()]), [undefined, undefined])
  // One that would be waited for would be so for longer than the test is.
  const patient = await opened(context, {
    limits: { readHeaderTimeoutMs: 3_600_000, readTimeoutMs: 3_600_000 },
    rules: { proxy: { behavior: 'use_always' } },
  })
  const waiting = await RawConnection.open(patient.address)
  // The connection is accepted when another one after it is.
  assert.equal(await addressOf(patient, ['PROXY UNKNOWN\r\n', GET]), '127.0.0.1')
  try {
    await ends(patient.listener.close(), 'the stop')
    assert.equal(await waiting.read(), undefined)
  } finally {
    // Closed in any case: a connection that delays a stop would also delay that of this test.
    waiting.close()
  }
})

test('H-10: the line of a proxy comes before TLS', async (context) => {
  const tls = {
    certFile: '',
    keyFile: '',
    clientCaFile: undefined,
    minVersion: 'tls12',
    maxVersion: 'tls13',
    cipherSuites: [...CIPHER_SUITES.keys()],
  } as const
  const material = {
    cert: LOOPBACK_CERTIFICATE,
    key: LOOPBACK_KEY,
    clientCa: undefined,
    ticketKey: Buffer.alloc(48, 1),
  }
  const open = await opened(context, { rules: { proxy: { behavior: 'use_always' }, tls }, material })
  const socket = connect(Number(new URL(open.address).port), '127.0.0.1')
  await once(socket, 'connect')
  socket.write('PROXY TCP6 2001:db8::7 ::1 51034 8200\r\n')
  const secure = connectTls({ socket, ca: LOOPBACK_CERTIFICATE, checkServerIdentity: () => undefined })
  await once(secure, 'secureConnect')
  const connection = RawConnection.over(secure)
  const answer = await connection.exchange(GET)
  assert.equal(JSON.parse(answer?.body ?? '{}').remoteAddress, '2001:db8::7')
  connection.close()
})

test('a Unix socket is for its owner, replaces a dead one, and leaves a living one alone', async (context) => {
  const directory = temporaryDirectory()
  context.after(() => directory.cleanUp())
  const path = join(directory.path, 'kw.sock')
  const where = { kind: 'unix', path, mode: undefined, user: undefined, group: undefined } as const
  const first = await openListener({ where })
  assert.equal(lstatSync(path).mode & 0o777, 0o600)
  assert.equal(await addressOf(first, [GET]), '')
  await assert.rejects(openListener({ where }), { code: 'EADDRINUSE' })
  assert.equal(await addressOf(first, [GET]), '', 'the living one still answers')
  await first.stop()

  await leaveDeadSocket(path)
  const second = await openListener({ where: { ...where, mode: 0o660 } })
  assert.equal(lstatSync(path).mode & 0o777, 0o660)
  assert.equal(await addressOf(second, [GET]), '')
  await second.stop()

  writeFileSync(path, 'somebody else')
  await assert.rejects(openListener({ where }), { code: 'ENOTSOCK' })
})

test('a Unix socket that cannot be given to its owner is not listened on any more', async (context) => {
  const directory = temporaryDirectory()
  context.after(() => directory.cleanUp())
  const path = join(directory.path, 'kw.sock')
  // No user has this id, so that also root is refused.
  const where = { kind: 'unix', path, mode: undefined, user: 2 ** 33, group: undefined } as const
  await assert.rejects(openListener({ where }), { code: 'ERR_OUT_OF_RANGE' })
  assert.equal(lstatSync(path, { throwIfNoEntry: false }), undefined)
})

/** A socket without a listener: another name for it stays when it is closed. */
async function leaveDeadSocket(path: string): Promise<void> {
  const { linkSync } = await import('node:fs')
  const server = createServer()
  await new Promise<void>((resolve) => {
    server.listen(`${path}.first`, () => resolve())
  })
  linkSync(`${path}.first`, path)
  await new Promise((resolve) => {
    server.close(resolve)
  })
}
