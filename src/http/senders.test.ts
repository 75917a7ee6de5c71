// The senders of large bodies, and their share of the memory for all bodies: over real
// sockets, judged by what is counted.
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { echo, type OpenListener, type OpenOptions, openListener } from '../../test/fixtures/open-listener.ts'
import { RawConnection, rawRequest } from '../../test/fixtures/raw-http.ts'
import { until } from '../../test/fixtures/until.ts'
import { MAX_OPEN_BODY_BYTES } from '../api/body-limits.ts'
import type { WireRequest } from '../core/exchange.ts'

const KIB = 1024
const PATIENT = { maxRequestMs: 0, readHeaderTimeoutMs: 3_600_000, readTimeoutMs: 3_600_000 } as const
const TOKEN: readonly [string, string] = ['X-Vault-Token', 'live']

type Opened = {
  readonly open: OpenListener
  readonly handled: WireRequest[]
  connect(from?: string): Promise<RawConnection>
}

async function opened(context: TestContext, options: OpenOptions = {}): Promise<Opened> {
  const handled: WireRequest[] = []
  const open = await openListener({
    limits: PATIENT,
    hasLiveToken: ({ token }) => token === 'live',
    handle: async (request) => {
      handled.push(request)
      return request.isBodyCut === true ? { status: 403, body: '{}' } : echo(request)
    },
    ...options,
  })
  context.after(() => open.stop())
  const connect = async (from?: string): Promise<RawConnection> => {
    const connection = await RawConnection.open(open.address, from)
    context.after(() => connection.close())
    return connection
  }
  return { open, handled, connect }
}

const takenKib = ({ open }: Opened): number => open.figures.cells[1] ?? 0
const ofSize = (bytes: number, ...headers: readonly (readonly [string, string])[]): Buffer =>
  rawRequest('POST', '/v1/x', headers, 'x'.repeat(bytes))
const headOf = (bytes: number, ...headers: readonly (readonly [string, string])[]): Buffer =>
  rawRequest('POST', '/v1/x', [...headers, ['Content-Length', String(bytes)]])

test('A8: bodies without a live token that do not end leave the memory to those who have one', async (context) => {
  const stage = await opened(context, { shared: { maxBodyBytes: 4_096 * KIB } })
  // The attack: each connection announces much, and sends little of it.
  for (let index = 0; index < 62; index++) {
    const connection = await stage.connect()
    connection.write(Buffer.concat([headOf(32 << 20), Buffer.alloc(200 * KIB, 'x')]))
    assert.equal((await connection.read())?.status, 403, 'it is told at once')
  }
  assert.equal(takenKib(stage), 0)
  // Those that say nothing of their size, or stay within what they may send.
  const held: RawConnection[] = []
  for (let index = 0; index < 30; index++) {
    const connection = await stage.connect()
    connection.write(Buffer.concat([headOf(MAX_OPEN_BODY_BYTES), Buffer.alloc(200 * KIB, 'x')]))
    held.push(connection)
  }
  const refused = (await Promise.all(held.map(async (connection) => refusedOrHeld(stage, connection)))).filter(Boolean)
  assert.ok(refused.length > 0, 'there is no room for all of them')
  assert.ok(takenKib(stage) <= 1_024, `${takenKib(stage)} KiB of 4096`)
  const caller = await stage.connect('127.0.0.2')
  assert.equal((await caller.exchange(ofSize(3_000 * KIB, TOKEN)))?.status, 200)
  assert.equal((await (await stage.connect()).exchange(ofSize(60_000)))?.status, 200, 'small ones are free')
})

/** Whether it was refused; else it is held, so what it takes is counted. */
async function refusedOrHeld(stage: Opened, connection: RawConnection): Promise<boolean> {
  const answer = connection.read()
  let found: Awaited<typeof answer> | 'none' = 'none'
  void answer.then(
    (one) => {
      found = one
    },
    () => {},
  )
  // 15 of 30 have room: three blocks each of 1,024 KiB.
  await until(() => found !== 'none' || takenKib(stage) >= 960)
  return found !== 'none'
}

test('A8: without a live token a body has 256 KiB; beyond that the request goes on without it', async (context) => {
  const stage = await opened(context)
  const chunked = (bytes: number): Buffer =>
    Buffer.concat([
      rawRequest('POST', '/v1/x', [['Transfer-Encoding', 'chunked']]),
      Buffer.from(`${bytes.toString(16)}\r\n${'x'.repeat(bytes)}\r\n0\r\n\r\n`),
    ])
  for (const request of [ofSize(MAX_OPEN_BODY_BYTES), chunked(MAX_OPEN_BODY_BYTES)]) {
    const answer = await (await stage.connect()).exchange(request)
    assert.equal(JSON.parse(answer?.body ?? '{}').bytes, MAX_OPEN_BODY_BYTES)
  }
  stage.handled.length = 0
  for (const request of [ofSize(MAX_OPEN_BODY_BYTES + 1), chunked(MAX_OPEN_BODY_BYTES + 1)]) {
    const connection = await stage.connect()
    const answer = await connection.exchange(Buffer.concat([request, rawRequest('GET', '/v1/behind')]))
    assert.equal(answer?.status, 403)
    assert.equal(answer.headers.get('connection'), 'close')
    assert.equal(await connection.read(), undefined)
  }
  assert.deepEqual(
    stage.handled.map(({ rawPath, body, isBodyCut }) => [rawPath, body, isBodyCut]),
    [
      ['/v1/x', undefined, true],
      ['/v1/x', undefined, true],
    ],
  )
  assert.equal(takenKib(stage), 0)
  const known = await (await stage.connect()).exchange(ofSize(MAX_OPEN_BODY_BYTES + 1, TOKEN))
  assert.equal(JSON.parse(known?.body ?? '{}').bytes, MAX_OPEN_BODY_BYTES + 1)
})

test('A8: who is looked for may take its time, and a small body is not looked for', async (context) => {
  const asked: string[] = []
  const verdict = Promise.withResolvers<boolean>()
  const stage = await opened(context, {
    hasLiveToken: ({ token = '' }) => {
      asked.push(token)
      return verdict.promise
    },
  })
  assert.equal((await (await stage.connect()).exchange(ofSize(64 * KIB, TOKEN)))?.status, 200)
  assert.deepEqual(asked, [])
  const gone = await stage.connect()
  gone.write(Buffer.concat([headOf(1_000_000, TOKEN), Buffer.alloc(100 * KIB, 'x')]))
  const waiting = await stage.connect()
  waiting.write(ofSize(1_000_000, TOKEN))
  await until(() => asked.length === 2)
  gone.close()
  await until(() => stage.open.figures.cells[0] === 2)
  verdict.resolve(true)
  const answer = await waiting.read()
  assert.equal(JSON.parse(answer?.body ?? '{}').bytes, 1_000_000)
  await until(() => takenKib(stage) === 0)
})

test('A8: an address that has used its share up hears of it, another one is served', async (context) => {
  const stage = await opened(context, { shared: { maxBodyBytesPerAddress: 640 * KIB } })
  const holding = await stage.connect()
  holding.write(Buffer.concat([headOf(600 * KIB, TOKEN), Buffer.alloc(500 * KIB, 'x')]))
  await until(() => takenKib(stage) >= 448)
  const refused = await (await stage.connect()).exchange(ofSize(400 * KIB, TOKEN))
  assert.deepEqual([refused?.status, refused?.headers.get('retry-after')], [503, '1'])
  assert.match(refused?.body ?? '', /large requests of this address/)
  assert.equal((await (await stage.connect('127.0.0.2')).exchange(ofSize(400 * KIB, TOKEN)))?.status, 200)
  holding.close()
  await until(() => takenKib(stage) === 0)
  assert.equal((await (await stage.connect()).exchange(ofSize(400 * KIB, TOKEN)))?.status, 200)
})

test('A8: behind a trusted proxy the share is that of the client that it names', async (context) => {
  const forwarded = { authorized: ['127.0.0.1'], hopSkips: 0, rejectNotPresent: false, rejectNotAuthorized: true }
  const stage = await opened(context, { shared: { maxBodyBytesPerAddress: 640 * KIB }, rules: { forwarded } })
  const from = (address: string): readonly [string, string] => ['X-Forwarded-For', address]
  const holding = await stage.connect()
  holding.write(Buffer.concat([headOf(600 * KIB, TOKEN, from('10.0.0.1')), Buffer.alloc(500 * KIB, 'x')]))
  await until(() => takenKib(stage) >= 448)
  for (const [address, status] of [
    ['10.0.0.1', 503],
    ['10.0.0.2', 200],
  ] as const) {
    const answer = await (await stage.connect()).exchange(ofSize(400 * KIB, TOKEN, from(address)))
    assert.equal(answer?.status, status, address)
  }
})
