// What watching a request costs, and what a request costs that a quota refuses. The bounds are far above what a quiet
// machine shows, so that a busy one does not fail; the figures are told.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { ROOT } from '../../../src/api/namespace.ts'
import { ALL_ENDPOINTS } from '../../../src/assembly/engine-types.ts'
import type { WireRequest } from '../../../src/core/exchange.ts'
import { realWorld } from '../../../src/lib/world.ts'
import { endpointColumns, newMetricMemory, rowOf } from '../../../src/telemetry/cells.ts'
import { NamespacePlaces } from '../../../src/telemetry/namespace-places.ts'
import { RequestMeter } from '../../../src/telemetry/request-meter.ts'
import { RequestObserver } from '../../../src/telemetry/request-observer.ts'
import { startMemoryServer, wireRequest } from '../../fixtures/memory-server.ts'

/** Time on the processor for one of `count`, in microseconds; after a first run that warms up. */
async function microseconds(count: number, work: () => unknown): Promise<number> {
  for (let i = 0; i < count; i++) await work()
  const before = process.cpuUsage()
  for (let i = 0; i < count; i++) await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / count
}

const SIZE = 100_000
const request: WireRequest = wireRequest('GET', 'sys/health')

test('counting a request costs less than a microsecond', async (context) => {
  const columns = endpointColumns(ALL_ENDPOINTS)
  const memory = newMetricMemory(ALL_ENDPOINTS.length, 1)
  const meter = new RequestMeter(rowOf(memory, 2), columns, new NamespacePlaces(memory.namespaces))
  const world = realWorld()
  const watch = new RequestObserver(world, meter)
  const endpoint = ALL_ENDPOINTS[100]
  const of = async (work: () => unknown): Promise<number> => {
    const costs: number[] = []
    for (let run = 0; run < 5; run++) {
      costs.push(
        await microseconds(10, () => {
          for (let i = 0; i < SIZE / 10; i++) work()
        }),
      )
    }
    return Math.min(...costs) / (SIZE / 10)
  }
  const counting = await of(() => {
    meter.begun()
    meter.ended({ endpoint, namespace: ROOT }, 200, 0.0003)
  })
  const id = await of(() => world.random.uuid())
  const watching = await of(() => watch.end(watch.begin(request), 200))
  context.diagnostic(`counting ${counting.toFixed(3)} µs, watching ${(watching - id).toFixed(3)} µs beside the id`)
  assert.ok(counting < 1, `${counting} µs`)
  assert.ok(watching - id < 5, `${watching - id} µs`)
})

test('H-03: a request that a quota refuses costs less than 0.2 ms, however large its body is', async (context) => {
  const { call, node } = await startMemoryServer()
  await call('POST', 'sys/mounts/transit', { type: 'transit' })
  await call('POST', 'sys/quotas/rate-limit/q', { path: 'transit/', rate: 1, interval: '24h' })
  const large = { ...wireRequest('POST', 'transit/encrypt/k'), body: Buffer.alloc(10_000_000, '[') }
  await node.core.handle(large)
  assert.equal((await node.core.handle(large)).status, 429)
  const cost = await microseconds(2_000, () => node.core.handle(large))
  context.diagnostic(`${cost.toFixed(1)} µs`)
  assert.ok(cost < 200, `${cost} µs`)
})
