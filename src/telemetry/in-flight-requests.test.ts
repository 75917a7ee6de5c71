import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { endpoint } from '../api/endpoint.ts'
import { string } from '../api/fields.ts'
import { ROOT } from '../api/namespace.ts'
import { InFlightRequests, MAX_SHOWN, type RouteTaken } from './in-flight-requests.ts'

const clock = { nowMs: () => 1_700_000_000_000, monotonicMs: () => 5_000 }
const base = { operation: 'read', capability: 'none', runsOn: 'any-node', summary: '', handler: () => ({}) } as const
const name = string('Name', { required: true })
const plain = endpoint({ ...base, id: 'plain', path: 'keys/:name(/:part)', fields: { name, part: string('Part') } })
const secret = endpoint({
  ...base,
  id: 'secret',
  path: 'lookup/:token...',
  fields: { token: string('Token', { secret: true }) },
})

const requestOf = (routed: Omit<RouteTaken, 'namespace'> | undefined, id = '1') => ({
  id,
  method: 'GET',
  remoteAddress: '192.0.2.1',
  startedMs: 4_000,
  routed: routed && { ...routed, namespace: ROOT },
})
const at = (path: string) => ({ path })

test('a request is shown with its path, and none that is secret', () => {
  const requests = new InFlightRequests()
  requests.add(requestOf({ endpoint: plain, mounted: at('transit/'), pathParameters: { name: 'k' } }, 'a'))
  requests.add(
    requestOf({ endpoint: secret, mounted: at('auth/token/'), pathParameters: { token: 'hvs.secret' } }, 'b'),
  )
  requests.add(requestOf({ endpoint: undefined, mounted: at('transit/'), pathParameters: {} }, 'c'))
  requests.add(requestOf(undefined, 'd'))
  const shown = requests.shown(clock)
  assert.deepEqual(
    shown.map(({ id, request_path: path }) => [id, path]),
    [
      ['a', '/v1/transit/keys/k'],
      ['b', '/v1/auth/token/lookup/:token'],
      ['c', ''],
      ['d', ''],
    ],
  )
  assert.equal(shown[0]?.start_time, new Date(1_700_000_000_000 - 1_000).toISOString())
})

test('P-40: of any number the oldest are shown', () => {
  const requests = new InFlightRequests()
  for (let i = 0; i < MAX_SHOWN + 50; i++) requests.add(requestOf(undefined, String(i)))
  assert.deepEqual(
    [requests.size, requests.shown(clock).length, requests.shown(clock)[0]?.id],
    [MAX_SHOWN + 50, MAX_SHOWN, '0'],
  )
})
