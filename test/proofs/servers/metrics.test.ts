// Metrics over several threads: what is counted is what was asked, and stays so when a thread dies.
import { strict as assert } from 'node:assert'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import type { Worker } from 'node:worker_threads'
import { FAMILIES } from '../../../src/telemetry/families.ts'
import { type Exposition, readExposition } from '../../fixtures/prometheus-text.ts'
import { RawConnection, rawRequest } from '../../fixtures/raw-http.ts'
import { startThreadedServer, type ThreadedServer } from '../../fixtures/threaded-server.ts'
import { until } from '../../fixtures/until.ts'

const CONNECTIONS = 24
const EACH = 10

let server: ThreadedServer
before(async () => {
  server = await startThreadedServer('serving')
})
after(() => server.stop())

const TOKEN = ['X-Vault-Token', 'root'] as const

async function exposition(): Promise<Exposition> {
  const response = await fetch(`${server.address}/v1/sys/metrics?format=prometheus`, {
    headers: { [TOKEN[0]]: TOKEN[1] },
  })
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
  assert.equal(response.headers.get('cache-control'), 'no-store')
  return readExposition(await response.text())
}

const requests = async (endpoint: string, status: string): Promise<number> =>
  (await exposition()).samples.get(`keywright_requests_total{endpoint="${endpoint}",status="${status}"}`) ?? 0

/** Each connection goes where the system likes: of so many some go to each thread. */
async function ask(method: string, path: string, body?: Buffer): Promise<void> {
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      const connection = await RawConnection.open(server.address)
      for (let i = 0; i < EACH; i++) await connection.exchange(rawRequest(method, path, [TOKEN], body))
      connection.close()
    }),
  )
}

test('counts of requests are the requests that were made, over all threads', async () => {
  await ask('GET', '/v1/sys/seal-status')
  await ask('GET', '/v1/sys/mounts/nothing-here')
  await ask('GET', '/v1/nowhere')
  assert.equal(await requests('seal-status', '2xx'), CONNECTIONS * EACH)
  assert.equal(await requests('mounts-read', '4xx'), CONNECTIONS * EACH)
  assert.equal(await requests('none', '4xx'), CONNECTIONS * EACH)
  const { samples } = await exposition()
  assert.equal(samples.get('keywright_request_duration_seconds_count{endpoint="seal-status"}'), CONNECTIONS * EACH)
  assert.equal(
    samples.get('keywright_request_duration_seconds_bucket{endpoint="seal-status",le="+Inf"}'),
    CONNECTIONS * EACH,
  )
})

test('a request that is passed on to the thread that writes is counted once', async () => {
  await server.call('POST', 'sys/mounts/transit', { type: 'transit' })
  await ask('POST', '/v1/transit/keys/k', Buffer.from('{}'))
  assert.equal(await requests('transit-key-create', '2xx'), CONNECTIONS * EACH)
  const { samples } = await exposition()
  assert.ok((samples.get('keywright_storage_transactions_total') ?? 0) > 1)
  assert.ok((samples.get('keywright_storage_commit_seconds_count') ?? 0) > 1)
})

test('tokens, leases and entities are counted as they come and go', async () => {
  const counted = async (name: string): Promise<number> => (await exposition()).samples.get(name) ?? Number.NaN
  // The count begins with unseal, beside everything else.
  await until(async () => (await counted('keywright_tokens')) > 0, 'the count of tokens')
  const before = await counted('keywright_tokens')
  const made = await Promise.all(
    Array.from({ length: 5 }, () => server.call('POST', 'auth/token/create', { ttl: '1h', policies: ['default'] })),
  )
  await server.call('POST', 'identity/entity', { name: 'one' })
  assert.equal(await counted('keywright_tokens'), before + 5)
  assert.equal(await counted('keywright_leases'), 5)
  assert.equal(await counted('keywright_entities'), 1)
  const { client_token: token } = made.map(({ body }) => body.auth as { client_token: string })[0] ?? {}
  await server.call('POST', 'auth/token/revoke', { token })
  assert.equal(await counted('keywright_tokens'), before + 4)
  assert.equal(await counted('vault_expire_num_leases'), 4)
})

test('every metric is one of the table, with its kind, and the same is there as JSON', async () => {
  const { types } = await exposition()
  const known = new Map<string | undefined, string>()
  for (const [name, { kind, alias }] of Object.entries(FAMILIES)) known.set(name, kind).set(alias, kind)
  for (const [name, type] of types) assert.equal(type, known.get(name), name)
  const { status, body } = await server.call('GET', 'sys/metrics')
  assert.equal(status, 200)
  const named = (part: unknown): string[] => (part as { readonly Name: string }[]).map(({ Name }) => Name)
  const { Gauges, Counters, Samples, Points, Timestamp } = body
  assert.deepEqual(new Set([...named(Gauges), ...named(Counters), ...named(Samples)]), new Set(types.keys()))
  assert.deepEqual([Points, typeof Timestamp], [[], 'string'])
})

test('without a token there are no metrics', async () => {
  const response = await fetch(`${server.address}/v1/sys/metrics?format=prometheus`)
  assert.equal(response.status, 403)
})

test('F-16: what a thread counted stays when it dies, and what it held goes', async () => {
  const before = await requests('seal-status', '2xx')
  const held = await Promise.all(Array.from({ length: CONNECTIONS }, () => RawConnection.open(server.address)))
  for (const connection of held) await connection.exchange(rawRequest('GET', '/v1/sys/seal-status', [TOKEN]))
  const replacement = once(process, 'worker') as Promise<[Worker]>
  await server.threads[0]?.terminate()
  const [started] = await replacement
  await once(started, 'message')
  for (const connection of held) connection.close()
  const after = await retried(() => requests('seal-status', '2xx'))
  assert.equal(after, before + CONNECTIONS)
  // Those that a living thread has are gone when it hears of their end.
  await until(async () => {
    const open = (await exposition()).samples.get('keywright_http_connections') ?? Number.NaN
    assert.ok(open >= 0, `${open} connections`)
    return open < CONNECTIONS
  }, 'the connections are gone')
})

/** The client may still keep a connection to the thread that died. */
async function retried<T>(ask: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await ask()
    } catch (cause) {
      if (attempt === 20) throw cause
    }
  }
}
