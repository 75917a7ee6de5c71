// Traces, as a collector gets them from a server with several threads.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { type CollectedSpan, type Collector, startCollector } from '../../fixtures/collector.ts'
import { readExposition } from '../../fixtures/prometheus-text.ts'
import { startThreadedServer, type ThreadedServer } from '../../fixtures/threaded-server.ts'
import { until } from '../../fixtures/until.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const OTHER = '0af7651916cd43dd8448eb211c80319c'
const CALLER = '00f067aa0ba902b7'

async function traced(sampling: number, collector: Collector): Promise<ThreadedServer> {
  const telemetry = { traces: { endpoint: collector.endpoint, sampling } }
  return startThreadedServer('serving', { telemetry })
}

async function call(server: ThreadedServer, method: string, path: string, traceparent: string, body?: object) {
  const headers = { 'X-Vault-Token': 'root', ...(traceparent === '' ? {} : { traceparent }) }
  const text = body === undefined ? {} : { body: JSON.stringify(body) }
  const response = await fetch(`${server.address}/v1/${path}`, { method, headers, ...text })
  return { status: response.status, body: (await response.text()) as string }
}

const attributes = (span: CollectedSpan | undefined): Record<string, unknown> =>
  Object.fromEntries((span?.attributes ?? []).map(({ key, value }) => [key, Object.values(value)[0]]))

test('a trace that a caller began goes on through both threads, down to the commit', async () => {
  const collector = await startCollector()
  const server = await traced(0, collector)
  try {
    await call(server, 'POST', 'sys/mounts/transit', '', { type: 'transit' })
    const { status } = await call(server, 'POST', 'transit/keys/of-canary-name', `00-${TRACE}-${CALLER}-01`, {})
    assert.equal(status, 200)
    const spans = await collector.trace(TRACE, 8)
    const byName = new Map(spans.map((span) => [span.name, span]))
    const request = byName.get('POST /v1/transit/keys/:name')
    assert.deepEqual([...byName.keys()].toSorted(), [
      'POST /v1/transit/keys/:name',
      'authenticate',
      'authorise',
      'commit',
      'forward',
      'handle',
      'passed on',
    ])
    assert.equal(request?.parentSpanId, CALLER)
    assert.equal(request?.kind, 2)
    const passedOn = byName.get('passed on')
    assert.equal(passedOn?.parentSpanId, request?.spanId)
    assert.equal(byName.get('forward')?.parentSpanId, request?.spanId)
    assert.equal(byName.get('commit')?.parentSpanId, passedOn?.spanId)
    const { 'keywright.request_id': id, ...shown } = attributes(request)
    assert.deepEqual(shown, {
      'http.request.method': 'POST',
      'http.response.status_code': '200',
      'http.route': '/v1/transit/keys/:name',
      'keywright.endpoint': 'transit-key-create',
    })
    assert.match(String(id), /^[0-9a-f-]{36}$/)
    for (const span of spans) {
      assert.match(span.spanId, /^[0-9a-f]{16}$/)
      assert.ok(BigInt(span.endTimeUnixNano) >= BigInt(span.startTimeUnixNano))
      const lateMs = Date.now() - Number(BigInt(span.startTimeUnixNano) / 1_000_000n)
      assert.ok(lateMs >= -10 && lateMs < 60_000, `${lateMs} ms ago`)
    }
    assert.equal(new Set(spans.map(({ spanId }) => spanId)).size, spans.length)
    assert.deepEqual([...collector.paths], ['POST /v1/traces application/json'])
    assert.equal(collector.bodies.join().includes('of-canary-name'), false, 'no value of a request')
    // Nobody asked for others to be traced.
    assert.deepEqual(new Set(collector.spans().map(({ traceId }) => traceId)), new Set([TRACE]))
  } finally {
    await server.stop()
    await collector.close()
  }
})

test('a trace that its caller does not record is not recorded, one that nobody began is', async () => {
  const collector = await startCollector()
  const server = await traced(1, collector)
  let requestId = ''
  try {
    await call(server, 'GET', 'sys/health', `00-${OTHER}-${CALLER}-00`)
    const { body } = await call(server, 'GET', 'sys/mounts', '')
    requestId = String(JSON.parse(body).request_id)
  } finally {
    // What waits is sent before the server ends.
    await server.stop()
    await collector.close()
  }
  const spans = collector.spans()
  const mine = spans.filter((span) => attributes(span)['keywright.request_id'] === requestId)
  assert.deepEqual([mine.length, mine[0]?.name, mine[0]?.parentSpanId], [1, 'GET /v1/sys/mounts', undefined])
  assert.equal(
    spans.some(({ traceId }) => traceId === OTHER),
    false,
  )
})

test('a collector that refuses costs spans and no request', async () => {
  const collector = await startCollector(503)
  const server = await traced(1, collector)
  try {
    for (let i = 0; i < 20; i++) assert.equal((await call(server, 'GET', 'sys/mounts', '')).status, 200)
    const dropped = async (): Promise<number> => {
      const { body } = await call(server, 'GET', 'sys/metrics?format=prometheus', '')
      return readExposition(body).samples.get('keywright_trace_spans_total{result="dropped"}') ?? 0
    }
    await until(async () => (await dropped()) >= 60, 'spans that are dropped')
  } finally {
    await server.stop()
    await collector.close()
  }
})
