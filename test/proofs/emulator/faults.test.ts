import { strict as assert } from 'node:assert'
import { once } from 'node:events'
import { get as getHttp, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { after, beforeEach, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { type Answered, ask } from '../../../emulator/asking.ts'
import { startEmulator } from '../../../emulator/emulator.ts'
import type { Fault, FaultAction } from '../../../emulator/faults.ts'
import { SAMPLE, SAMPLE_PLAN } from '../../../emulator/sample-plan.ts'
import { realWorld } from '../../../src/lib/world.ts'
import { steppedTime } from '../../fixtures/stepped-time.ts'

const emulator = await startEmulator({ plan: SAMPLE_PLAN })
after(() => emulator.close())
beforeEach(() => emulator.reset())
const { authority, resourceManager, graph } = emulator.addresses()
const DISCOVERY = `${authority}/${SAMPLE.tenant}/.well-known/openid-configuration`
const ELSEWHERE = emulator.origin('elsewhere')

function hit(action: FaultAction, rule: Omit<Fault, 'action'> = { service: 'authority' }): void {
  emulator.faults.add({ ...rule, action })
}

async function statuses(count: number): Promise<number[]> {
  const list: number[] = []
  for (let i = 0; i < count; i++) list.push((await ask(DISCOVERY)).status)
  return list
}

test('a fault hits the requests that it fits, from one on, and so many', async () => {
  hit({ kind: 'status', status: 503 }, { path: '/*/.WELL-KNOWN/*', method: 'get', from: 2, times: 2 })
  assert.deepEqual(await statuses(4), [200, 503, 503, 200])
  assert.equal((await ask(`${authority}/common/discovery/keys`)).status, 200)
})

test('a fault hits a share of the requests, the same ones each time', async () => {
  const run = async (): Promise<number[]> => {
    const undo = emulator.faults.add({ probability: 0.5, seed: 7, action: { kind: 'status', status: 500 } })
    const list = await statuses(20)
    undo()
    return list
  }
  const first = await run()
  assert.ok(first.includes(200) && first.includes(500))
  assert.deepEqual(await run(), first)
  assert.deepEqual(await statuses(2), [200, 200])
})

test('each service refuses in its own form', async () => {
  emulator.faults.add({ action: { kind: 'status', status: 429, headers: { 'Retry-After': '600' } } })
  const [directory, manager, ofGraph] = await Promise.all(
    [DISCOVERY, `${resourceManager}/`, `${graph}/`].map((url) => ask(url)),
  )
  assert.deepEqual(directory?.body.error_codes, [50196])
  assert.equal(manager?.body.error.code, 'TooManyRequests')
  assert.ok(ofGraph?.body.error.innerError['request-id'])
  for (const answer of [directory, manager, ofGraph]) assert.equal(answer?.headers.get('retry-after'), '600')
})

test('throttled requests are told when to come again, if at all', async () => {
  const date = 'Wed, 21 Oct 2099 07:28:00 GMT'
  hit({ kind: 'throttle', retryAfter: date }, { times: 1 })
  hit({ kind: 'throttle' }, { from: 2, times: 1 })
  const [first, second] = [await ask(DISCOVERY), await ask(DISCOVERY)]
  assert.deepEqual([first.status, first.headers.get('retry-after')], [429, date])
  assert.deepEqual([second.status, second.headers.get('retry-after')], [429, null])
})

test('a bucket lets through what it holds, and is filled again', async (context) => {
  const time = steppedTime(Date.now())
  const still = await startEmulator({ world: { ...realWorld(), ...time }, plan: SAMPLE_PLAN })
  context.after(() => still.close())
  const action: FaultAction = { kind: 'throttle', perSecond: 2, burst: 2, retryAfter: '1' }
  still.faults.add({ service: 'authority', action })
  const url = `${still.addresses().authority}/${SAMPLE.tenant}/.well-known/openid-configuration`
  const asked = (count: number) => Promise.all(Array.from({ length: count }, async () => (await ask(url)).status))
  assert.deepEqual((await asked(3)).sort(), [200, 200, 429])
  await time.advance(400)
  assert.deepEqual(await asked(1), [429])
  await time.advance(200)
  assert.deepEqual((await asked(2)).sort(), [200, 429])
})

test('answers can be late, and come in drops', async () => {
  hit({ kind: 'delay', ms: 60 })
  hit({ kind: 'trickle', bytes: 400, everyMs: 10 })
  const start = performance.now()
  assert.equal((await ask(DISCOVERY)).body.issuer, `${authority}/${SAMPLE.tenant}/`)
  assert.ok(performance.now() - start >= 75)
})

test('who gets no answer can give up', async () => {
  hit({ kind: 'hang' })
  await assert.rejects(fetch(DISCOVERY, { signal: AbortSignal.timeout(50) }), { name: 'TimeoutError' })
  assert.equal(emulator.requests.list()[0]?.status, undefined)
})

function wasReset({ cause }: Error): boolean {
  return (cause as NodeJS.ErrnoException).code === 'ECONNRESET'
}

test('clients that go away in the middle disturb nobody', async () => {
  hit({ kind: 'delay', ms: 40 }, { times: 1 })
  await assert.rejects(fetch(DISCOVERY, { signal: AbortSignal.timeout(10) }))
  hit({ kind: 'trickle', bytes: 10, everyMs: 5 }, { from: 1, times: 1 })
  const answer = await fetch(DISCOVERY)
  await answer.body?.cancel()
  const { hostname, port } = new URL(authority)
  const socket = connect(Number(port), hostname).resume()
  socket.end('POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf')
  await once(socket, 'close')
  await new Promise((resolve) => setTimeout(resolve, 60))
  assert.deepEqual(await statuses(1), [200])
})

test('a connection can be reset before the answer, and within it', async () => {
  hit({ kind: 'reset' }, { times: 1 })
  await assert.rejects(fetch(DISCOVERY), wasReset)
  hit({ kind: 'reset', afterBytes: 10 })
  const answer = await fetch(DISCOVERY)
  assert.equal(answer.status, 200)
  await assert.rejects(answer.text(), wasReset)
})

test('connections to a service can be refused for a while', async () => {
  await emulator.listeners.refuse('authority')
  const { hostname, port } = new URL(authority)
  await assert.rejects(once(connect(Number(port), hostname), 'connect'), { code: 'ECONNREFUSED' })
  await emulator.listeners.accept('authority')
  assert.equal((await ask(DISCOVERY)).status, 200)
})

/** The body as it is sent. */
async function rawBody(): Promise<{ headers: IncomingMessage['headers']; body: Buffer }> {
  const [answer] = (await once(getHttp(DISCOVERY), 'response')) as [IncomingMessage]
  return { headers: answer.headers, body: Buffer.concat(await answer.toArray()) }
}

const BODIES: readonly { action: FaultAction; check: (sent: Awaited<ReturnType<typeof rawBody>>) => void }[] = [
  { action: { kind: 'truncate' }, check: ({ body }) => assert.throws(() => JSON.parse(body.toString())) },
  { action: { kind: 'html' }, check: ({ headers }) => assert.match(String(headers['content-type']), /^text\/html/) },
  {
    action: { kind: 'contentType', value: 'text/plain' },
    check: ({ headers, body }) => {
      assert.equal(headers['content-type'], 'text/plain')
      JSON.parse(body.toString())
    },
  },
  {
    action: { kind: 'large', bytes: 5_000_000 },
    check: ({ body }) => assert.equal(JSON.parse(body.toString()).padding.length, 5_000_000),
  },
  {
    action: { kind: 'deep', levels: 500 },
    check: ({ body }) => {
      let nested = JSON.parse(body.toString()).nested
      let levels = 0
      for (; nested !== undefined; levels++) nested = nested[0]
      assert.equal(levels, 500)
    },
  },
  {
    action: { kind: 'byteOrderMark' },
    check: ({ body }) => assert.deepEqual([...body.subarray(0, 4)], [0xef, 0xbb, 0xbf, 0x7b]),
  },
  {
    action: { kind: 'gzipBomb', bytes: 10_000_000 },
    check: ({ headers, body }) => {
      assert.equal(headers['content-encoding'], 'gzip')
      assert.ok(body.length < 20_000)
      assert.equal(gunzipSync(body).length, 10_000_000)
    },
  },
  {
    action: { kind: 'merge', json: { issuer: 'https://other.test/', jwks_uri: null } },
    check: ({ body }) => {
      const { issuer, jwks_uri: keys, token_endpoint: endpoint } = JSON.parse(body.toString())
      assert.deepEqual([issuer, keys], ['https://other.test/', undefined])
      assert.ok(endpoint)
    },
  },
  {
    action: { kind: 'edit', edit: (body, { path }) => ({ ...body, path }) },
    check: ({ body }) => assert.match(JSON.parse(body.toString()).path, /openid-configuration$/),
  },
]

for (const { action, check } of BODIES) {
  test(`a body can be spoilt: ${action.kind}`, async () => {
    hit(action)
    check(await rawBody())
  })
}

for (const status of [301, 302, 307, 308] as const) {
  test(`${status} leads to another origin, which notes what comes along`, async () => {
    hit({ kind: 'redirect', status, to: ELSEWHERE })
    const answer = await ask(`${DISCOVERY}?a=1`)
    assert.equal(answer.status, status)
    const location = answer.headers.get('location') ?? ''
    assert.equal(location, `${ELSEWHERE}${DISCOVERY.slice(authority.length)}?a=1`)
    const followed: Answered = await ask(location, { token: 'leaked' })
    assert.equal(followed.status, 200)
    const [seen] = emulator.requests.list({ service: 'elsewhere' })
    assert.equal(seen?.headers.authorization, 'Bearer leaked')
  })
}

test('what is kept of requests can be asked by service, method and path', async () => {
  await ask(DISCOVERY)
  await ask(`${graph}/v1.0/applications`, { body: { a: 1 } })
  assert.equal(emulator.requests.count(), 2)
  const [request] = emulator.requests.list({ service: 'graph', method: 'POST', path: '/V1.0/**' })
  assert.deepEqual(
    [request?.number, request?.body, request?.scheme],
    [(emulator.requests.list()[0]?.number ?? 0) + 1, '{"a":1}', 'http'],
  )
  assert.equal(emulator.requests.count({ path: '/v1.0/*/x' }), 0)
  emulator.requests.clear()
  assert.equal(emulator.requests.count(), 0)
})
