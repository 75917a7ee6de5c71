import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { ROOT } from '../api/namespace.ts'
import { endpointColumns, newMetricMemory, rowOf, WRITING_ROW } from './cells.ts'
import { COMPUTED } from './families.ts'
import { NAMESPACE_ROOM, NamespacePlaces, newPlacedIds, placedIds, REST_PLACE, ROOT_PLACE } from './namespace-places.ts'
import { type Computed, readMetrics } from './reading.ts'
import { RequestMeter } from './request-meter.ts'

const NOT_COMPUTED = Object.fromEntries(Object.keys(COMPUTED).map((name) => [name, undefined])) as Computed
const idAt = (index: number): string => `n${String(index).padStart(5, '0')}`

test('all threads count a namespace in the same column, whichever of them met it first', () => {
  const ids = newPlacedIds()
  const [one, other] = [new NamespacePlaces(ids), new NamespacePlaces(ids)]
  assert.equal(one.of('root'), ROOT_PLACE)
  assert.deepEqual([one.of('aaaaaa'), other.of('bbbbbb'), one.of('bbbbbb'), other.of('aaaaaa')], [1, 2, 2, 1])
  assert.deepEqual(
    [...placedIds(ids)],
    [
      ['aaaaaa', 1],
      ['bbbbbb', 2],
    ],
  )
})

test('of any number of namespaces the first have columns, and the rest share one', () => {
  const ids = newPlacedIds()
  const places = new NamespacePlaces(ids)
  const taken = Array.from({ length: NAMESPACE_ROOM + 1 }, (_, at) => places.of(idAt(at)))
  assert.deepEqual(taken.slice(0, 3), [1, 2, 3])
  assert.deepEqual(taken.slice(-2), [NAMESPACE_ROOM, REST_PLACE])
  // Another thread that knows none of them yet agrees.
  const late = new NamespacePlaces(ids)
  assert.deepEqual(
    [late.of('zzzzzz'), late.of(idAt(NAMESPACE_ROOM - 1)), late.of('tooLongAnId')],
    [REST_PLACE, NAMESPACE_ROOM, REST_PLACE],
  )
})

test('requests are read by the path of their namespace; those of one that is gone are left out', () => {
  const memory = newMetricMemory(0, 1)
  const meter = new RequestMeter(
    rowOf(memory, WRITING_ROW),
    endpointColumns([]),
    new NamespacePlaces(memory.namespaces),
  )
  const end = (id: string, status: number) => meter.ended({ endpoint: undefined, namespace: { id } }, status, 0)
  end('root', 200)
  end('aaaaaa', 204)
  end('aaaaaa', 429)
  end('bbbbbb', 200)
  for (let at = 0; at < NAMESPACE_ROOM; at++) end(idAt(at), 404)
  const namespaces = { byId: (id: string) => (id === 'aaaaaa' ? { ...ROOT, id, path: 'team/a/' } : undefined) }
  const found = readMetrics(memory, { endpoints: [], namespaces }, NOT_COMPUTED)
  const samples = found.find(({ name }) => name === 'keywright_namespace_requests_total')?.samples
  assert.deepEqual(samples, [
    { labels: { namespace: 'root', status: '2xx' }, value: 1 },
    { labels: { namespace: 'team/a', status: '2xx' }, value: 1 },
    { labels: { namespace: 'team/a', status: '429' }, value: 1 },
    { labels: { namespace: '*', status: '4xx' }, value: 2 },
  ])
})
