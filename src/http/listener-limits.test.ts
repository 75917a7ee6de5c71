// Limits of a listener, over real sockets.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { echo, type OpenListener, type OpenOptions, openListener } from '../../test/fixtures/open-listener.ts'
import { type RawAnswer, RawConnection, rawRequest } from '../../test/fixtures/raw-http.ts'
import { steppedTime } from '../../test/fixtures/stepped-time.ts'
import { turns } from '../../test/fixtures/turns.ts'
import { until } from '../../test/fixtures/until.ts'

async function opened(context: TestContext, options: OpenOptions = {}): Promise<OpenListener> {
  const open = await openListener(options)
  context.after(() => open.stop())
  return open
}

async function connected(context: TestContext, { address }: OpenListener, from?: string): Promise<RawConnection> {
  const connection = await RawConnection.open(address, from)
  context.after(() => connection.close())
  return connection
}

const GET = rawRequest('GET', '/v1/x')
const parsed = (answer: RawAnswer | undefined): Record<string, unknown> => JSON.parse(answer?.body ?? 'null')

function chunked(bytes: number, chunkBytes: number): Buffer {
  const parts: Buffer[] = [rawRequest('POST', '/v1/x', [['Transfer-Encoding', 'chunked']])]
  for (let left = bytes; left > 0; left -= chunkBytes) {
    const length = Math.min(chunkBytes, left)
    parts.push(Buffer.from(`${length.toString(16)}\r\n${'x'.repeat(length)}\r\n`))
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')])
}

test('two listeners with different limits: each takes its own, and refuses one byte more', async (context) => {
  for (const maxRequestBytes of [1_000, 100_000]) {
    const open = await opened(context, { limits: { maxRequestBytes } })
    for (const [extra, status] of [
      [0, 200],
      [1, 413],
    ] as const) {
      const bytes = maxRequestBytes + extra
      for (const request of [
        rawRequest('POST', '/v1/x', [], 'x'.repeat(bytes)),
        chunked(bytes, 7),
        chunked(bytes, 50_000),
      ]) {
        const answer = await (await connected(context, open)).exchange(request)
        assert.equal(answer?.status, status, `${bytes} of ${maxRequestBytes} bytes`)
        if (status === 200) assert.equal(parsed(answer).bytes, bytes)
      }
    }
  }
})

test('H-06: an address has so many connections, another one has its own, and they are free again', async (context) => {
  const open = await opened(context, { shared: { maxConnectionsPerAddress: 2 } })
  const first = await connected(context, open)
  const second = await connected(context, open)
  assert.equal((await second.exchange(GET))?.status, 200)
  const third = await connected(context, open)
  assert.equal(await third.exchange(GET), undefined, 'closed without a word')
  assert.equal((await (await connected(context, open, '127.0.0.2')).exchange(GET))?.status, 200)
  assert.match(open.logged.join(), /warn Connections are refused/)
  first.close()
  await until(async () => (await (await connected(context, open)).exchange(GET))?.status === 200)
})

test('H-06: there are so many connections in all, of proxies too', async (context) => {
  const forwarded = { authorized: ['127.0.0.1'], hopSkips: 0, rejectNotPresent: false, rejectNotAuthorized: true }
  const shared = { maxConnections: 3, maxConnectionsPerAddress: 1 }
  const open = await opened(context, { shared, rules: { forwarded } })
  const proxied = [await connected(context, open), await connected(context, open), await connected(context, open)]
  for (const connection of proxied) assert.equal((await connection.exchange(GET))?.status, 200)
  assert.equal(await (await connected(context, open)).exchange(GET), undefined)
})

/** Limits that never apply during a test: every connection that ends, ends for another reason. */
const PATIENT = {
  maxRequestMs: 0,
  readHeaderTimeoutMs: 3_600_000,
  readTimeoutMs: 3_600_000,
  idleTimeoutMs: 3_600_000,
} as const

test('P-40: bodies beyond the memory for all are a 503, small ones pass, and it comes back', async (context) => {
  const open = await opened(context, { limits: PATIENT, shared: { maxBodyBytes: 256 * 1024 } })
  const large = 'x'.repeat(300 * 1024)
  const holding = await connected(context, open)
  holding.write(rawRequest('POST', '/v1/x', [['Content-Length', String(large.length)]]))
  holding.write(large.slice(0, 250 * 1024))
  const refused = async () => {
    const answer = await (await connected(context, open)).exchange(rawRequest('POST', '/v1/x', [], large))
    return answer?.status === 503 && answer.headers.get('retry-after') === '1' && /large requests/.test(answer.body)
  }
  await until(refused)
  const small = rawRequest('POST', '/v1/x', [], 'x'.repeat(60_000))
  for (let i = 0; i < 5; i++) assert.equal((await (await connected(context, open)).exchange(small))?.status, 200)
  holding.write(large.slice(250 * 1024))
  assert.equal(parsed(await holding.read()).bytes, large.length)
  // Also what was cut off in between.
  const cut = await connected(context, open)
  cut.write(rawRequest('POST', '/v1/x', [['Content-Length', String(large.length)]]))
  cut.write(large.slice(0, 250 * 1024))
  await until(refused)
  cut.close()
  const whole = rawRequest('POST', '/v1/x', [], large)
  await until(async () => (await (await connected(context, open)).exchange(whole))?.status === 200)
})

/** There is room for one large body, and what goes to /v1/slow is worked on until `finish`. */
async function openedWithSlow(context: TestContext) {
  const paths: string[] = []
  let finish = (): void => {}
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  context.after(() => finish())
  const open = await opened(context, {
    limits: PATIENT,
    shared: { maxBodyBytes: 320 * 1024 },
    handle: async (request) => {
      paths.push(request.rawPath)
      if (request.rawPath === '/v1/slow') await finished
      return echo(request)
    },
  })
  const large = 'x'.repeat(300 * 1024)
  const status = async () =>
    (await (await connected(context, open)).exchange(rawRequest('POST', '/v1/x', [], large)))?.status
  return { open, large, paths, status, finish: () => finish() }
}

test('P-40: the memory of a body counts as long as it is worked on, also when its client is gone', async (context) => {
  const { open, large, paths, status, finish } = await openedWithSlow(context)
  const slow = await connected(context, open)
  slow.write(rawRequest('POST', '/v1/slow', [], large))
  await until(async () => paths.includes('/v1/slow'))
  slow.close()
  // The server has heard of it: what its end would give back is given back.
  await until(() => open.figures.cells[0] === 0, 'the connection is gone')
  assert.equal(await status(), 503)
  finish()
  await until(async () => (await status()) === 200)
})

test('P-40: bodies that wait for their turn are forgotten with their connection', async (context) => {
  const { open, large, paths, status, finish } = await openedWithSlow(context)
  const queue = await connected(context, open)
  queue.write(Buffer.concat([rawRequest('GET', '/v1/slow'), rawRequest('POST', '/v1/behind', [], large)]))
  await until(async () => (await status()) === 503)
  queue.close()
  await until(async () => (await status()) === 200)
  finish()
  // This request is served after anything that the end of the connection could have started.
  assert.equal(await status(), 200)
  assert.ok(!paths.includes('/v1/behind'))
})

test('H-01: many large bodies at once end in answers or refusals, and none waits for another', async (context) => {
  const open = await opened(context, { shared: { maxBodyBytes: 1 << 20 } })
  const body = 'x'.repeat(400 * 1024)
  const answers = await Promise.all(
    Array.from({ length: 20 }, async () =>
      (await connected(context, open)).exchange(rawRequest('POST', '/v1/x', [], body)),
    ),
  )
  const statuses = answers.map((answer) => answer?.status)
  assert.deepEqual(
    [...new Set(statuses)].filter((status) => status !== 200 && status !== 503),
    [],
  )
  const after = await (await connected(context, open)).exchange(rawRequest('POST', '/v1/x', [], body))
  assert.equal(after?.status, 200)
})

test('P-44: a body that comes byte by byte is cut, a request that takes too long is told so', async (context) => {
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>()
  context.after(() => finish())
  const time = steppedTime(0)
  let working = 0
  const open = await opened(context, {
    time,
    limits: { ...PATIENT, readTimeoutMs: 10_000, maxRequestMs: 10_000 },
    handle: async (request) => {
      if (request.rawPath === '/v1/slow') {
        working++
        await finished
      }
      return echo(request)
    },
  })
  const trickling = await connected(context, open)
  const slow = await connected(context, open)
  trickling.write(rawRequest('POST', '/v1/x', [['Content-Length', '1000000']]))
  trickling.write('x'.repeat(100_000))
  slow.write(rawRequest('GET', '/v1/slow'))
  const listing = await connected(context, open)
  listing.write(rawRequest('LIST', '/v1/slow'))
  await until(() => working === 2 && (open.figures.cells[1] ?? 0) > 0, 'all of them have begun')
  for (let seconds = 0; seconds < 20; seconds++) {
    trickling.write('x')
    await time.advance(1_000)
  }
  const [cut, late, lateList] = await Promise.all([trickling.read(), slow.read(), listing.read()])
  assert.deepEqual([cut?.status, late?.status, lateList?.status], [408, 503, 503])
  assert.match(late?.body ?? '', /took too long; whether it was carried out is not known/)
  assert.deepEqual([cut?.headers.get('connection'), late?.headers.get('connection')], ['close', 'close'])
  assert.equal((await (await connected(context, open)).exchange(GET))?.status, 200)
})

test('what is refused behind a slow request waits for its answer, and is the last', async (context) => {
  const handled: string[] = []
  const open = await opened(context, {
    handle: async (request) => {
      handled.push(request.rawPath)
      // Data that arrived in the same packet is read meanwhile.
      await turns(20)
      return echo(request)
    },
  })
  const expecting = rawRequest('GET', '/v1/expecting', [['Expect', 'a-miracle']])
  for (const [refused, status] of [
    [Buffer.from('CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n'), 405],
    [expecting, 417],
  ] as const) {
    handled.length = 0
    const connection = await connected(context, open)
    connection.write(Buffer.concat([GET, refused, rawRequest('GET', '/v1/behind')]))
    const statuses = [(await connection.read())?.status, (await connection.read())?.status]
    assert.deepEqual(statuses, [200, status])
    assert.equal(await connection.read(), undefined)
    assert.deepEqual(handled, ['/v1/x'])
  }
})

test('who sends what is refused gets the answer, and nothing behind it is carried out', async (context) => {
  let handled = 0
  const open = await opened(context, {
    limits: { maxRequestBytes: 1_000 },
    handle: async (request) => {
      handled++
      return echo(request)
    },
  })
  const body = Buffer.alloc(20 << 20, 'x')
  for (let i = 0; i < 10; i++) {
    const connection = await connected(context, open)
    // The answer comes while all of this is still on its way.
    connection.write(Buffer.concat([rawRequest('POST', '/v1/x', [], body), GET]))
    assert.equal((await connection.read())?.status, 413)
    assert.equal(await connection.read(), undefined)
  }
  assert.equal((await (await connected(context, open)).exchange(GET))?.status, 200)
  assert.equal(handled, 1)
})

test('an answer of bytes is sent as one of characters is, to any method', async (context) => {
  for (const text of ['{"a":1}', `{"a":"\u00fc${'x'.repeat(100_000)}"}`]) {
    // Bytes are the form in which an answer arrives from another thread.
    const bytes = new Uint8Array(Buffer.from(text))
    for (const body of [text, bytes]) {
      const open = await opened(context, { handle: async () => ({ status: 200, body }) })
      for (const method of ['GET', 'LIST']) {
        const answer = await (await connected(context, open)).exchange(rawRequest(method, '/v1/x'))
        assert.deepEqual([answer?.body, answer?.headers.get('content-length')], [text, String(bytes.length)])
      }
    }
  }
})

test('P-44: a client that does not take its answer is cut where a limit says so', async (context) => {
  const huge = 'x'.repeat(20_000_000)
  const time = steppedTime(0)
  let isHandled = false
  const open = await opened(context, {
    time,
    limits: { ...PATIENT, writeTimeoutMs: 10_000 },
    handle: async () => {
      isHandled = true
      return { status: 200, body: huge }
    },
  })
  const socket = connect(Number(new URL(open.address).port), '127.0.0.1')
  context.after(() => socket.destroy())
  await once(socket, 'connect')
  socket.pause()
  socket.write(GET)
  await until(() => isHandled, 'it is asked')
  await time.advance(20_000)
  let bytes = 0
  socket.on('data', (chunk) => {
    bytes += chunk.length
  })
  socket.on('error', () => {})
  socket.resume()
  await once(socket, 'close')
  assert.ok(bytes < huge.length, `${bytes} bytes came`)
})

test('H-06: a token of more than 8 KiB is a 431, as headers of more than 16 KiB are', async (context) => {
  const open = await opened(context)
  const ask = async (method: string, token: string) =>
    (await connected(context, open)).exchange(rawRequest(method, '/v1/x', [['X-Vault-Token', token]]))
  for (const method of ['GET', 'LIST']) {
    assert.equal(parsed(await ask(method, 'x'.repeat(8_192))).token, 'x'.repeat(8_192))
    const refused = await ask(method, 'x'.repeat(8_193))
    assert.deepEqual(
      [refused?.status, parsed(refused).errors],
      [431, ['The token is too long, the limit is 8192 characters']],
    )
  }
  assert.equal((await ask('GET', 'x'.repeat(17_000)))?.status, 431)
})

test('headers that the operator adds come with every answer of their status', async (context) => {
  const headers = {
    default: { 'X-One': 'all', 'X-Two': 'all' },
    '4xx': { 'x-two': 'class' },
    '431': { 'X-Two': 'one' },
  }
  const open = await opened(context, { rules: { headers } })
  const ask = async (request: Buffer): Promise<unknown[]> => {
    const answer = await (await connected(context, open)).exchange(request)
    return [answer?.status, answer?.headers.get('x-one'), answer?.headers.get('x-two')]
  }
  assert.deepEqual(await ask(GET), [200, 'all', 'all'])
  assert.deepEqual(await ask(rawRequest('LIST', '/v1/x')), [200, 'all', 'all'])
  assert.deepEqual(await ask(rawRequest('GET', '/v1/x', [['Expect', 'a-miracle']])), [417, 'all', 'class'])
  assert.deepEqual(await ask(rawRequest('GET', '/v1/x', [['X-Vault-Token', 'x'.repeat(8_193)]])), [431, 'all', 'one'])
  assert.deepEqual(await ask(Buffer.from('nonsense\r\n\r\n')), [400, 'all', 'class'])
})
