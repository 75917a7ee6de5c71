import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { steppedTime } from '../../test/fixtures/stepped-time.ts'
import type { OutboundRequest } from '../lib/outbound.ts'
import { realWorld, type World } from '../lib/world.ts'
import type { Span } from './request-trace.ts'
import { SpanExporter } from './span-exporter.ts'

const SPAN: Span = {
  traceId: 'a'.repeat(32),
  spanId: 'b'.repeat(16),
  parentSpanId: '',
  name: 'GET /v1/sys/health',
  kind: 'server',
  startMs: 1_700_000_000_000.25,
  endMs: 1_700_000_000_001.5,
  attributes: { 'http.request.method': 'GET', 'http.response.status_code': 200 },
  isError: false,
}

function stage(answer: () => Promise<number>) {
  const sent: OutboundRequest[] = []
  const counts = { exported: 0, dropped: 0, told: 0 }
  const outbound: World['outbound'] = {
    request: async (request) => {
      sent.push(request)
      return { status: await answer(), headers: new Map(), body: Buffer.alloc(0) }
    },
  }
  const exporter = new SpanExporter({
    world: { ...realWorld(), timers: steppedTime(0).timers, outbound },
    endpoint: 'http://collector:4318',
    service: { 'service.name': 'keywright' },
    log: () => {
      counts.told++
    },
    onExported: (spans) => {
      counts.exported += spans
    },
    onDropped: (spans) => {
      counts.dropped += spans
    },
  })
  return { exporter, sent, counts }
}

test('OTLP: spans are sent as its JSON has them', async () => {
  const { exporter, sent, counts } = stage(async () => 200)
  exporter.take([SPAN])
  await exporter.flush()
  assert.equal(sent[0]?.url, 'http://collector:4318/v1/traces')
  assert.deepEqual(JSON.parse(String(sent[0]?.body)), {
    resourceSpans: [
      {
        resource: { attributes: [{ key: 'service.name', value: { stringValue: 'keywright' } }] },
        scopeSpans: [
          {
            scope: { name: 'keywright' },
            spans: [
              {
                traceId: SPAN.traceId,
                spanId: SPAN.spanId,
                name: SPAN.name,
                kind: 2,
                startTimeUnixNano: '1700000000000250000',
                endTimeUnixNano: '1700000000001500000',
                attributes: [
                  { key: 'http.request.method', value: { stringValue: 'GET' } },
                  { key: 'http.response.status_code', value: { intValue: '200' } },
                ],
                status: {},
              },
            ],
          },
        ],
      },
    ],
  })
  assert.deepEqual(counts, { exported: 1, dropped: 0, told: 0 })
})

test('P-40: what waits for a slow collector is bounded, and what does not fit is counted', async () => {
  const { promise, resolve } = Promise.withResolvers<number>()
  const { exporter, counts } = stage(() => promise)
  const taken = 10_000
  for (let i = 0; i < taken; i++) exporter.take([SPAN])
  // Spans on their way have left the queue.
  assert.ok(counts.dropped >= taken - 4_096 - 512 && counts.dropped < taken, `${counts.dropped}`)
  resolve(200)
  await exporter.flush()
  assert.equal(counts.exported + counts.dropped, taken)
})

test('a collector that is not there costs its spans, and one line in the log', async () => {
  const { exporter, counts } = stage(() => Promise.reject(new Error('refused')))
  for (let i = 0; i < 3; i++) {
    exporter.take([SPAN])
    await exporter.flush()
  }
  assert.deepEqual(counts, { exported: 0, dropped: 3, told: 1 })
})
