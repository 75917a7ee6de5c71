// What a server tells of its work, with everything turned on, tells no secret: log at its lowest level, metrics,
// traces, requests under way (threats U-01, U-05, U-08). And what it tells is true: levels change at once, ids are the
// same.
import { strict as assert } from 'node:assert'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type Collector, startCollector } from '../../fixtures/collector.ts'
import { RawConnection, rawRequest } from '../../fixtures/raw-http.ts'
import { api, type ServerProcess, startServerProcess, temporaryDirectory } from '../../fixtures/server-process.ts'
import { until } from '../../fixtures/until.ts'

const directory = temporaryDirectory()
let server: ServerProcess
let collector: Collector
before(async () => {
  collector = await startCollector()
  const config = join(directory.path, 'server.hcl')
  writeFileSync(
    config,
    `listener "tcp" {
      address = "127.0.0.1:0"
      http_read_timeout = "1h"
      telemetry { unauthenticated_metrics_access = true }
    }
    log_level = "trace"
    telemetry {
      prometheus_retention_time = "24h"
      disable_hostname = true
      otlp_endpoint = "${collector.endpoint}/"
    }`,
  )
  const data = join(directory.path, 'data')
  server = await startServerProcess({ directory: data, token: 'canary-root', args: ['-config', config, '-threads=2'] })
})
after(async () => {
  await server.stop()
  await collector.close()
  directory.cleanUp()
})

const openMetrics = async (): Promise<string> => {
  const response = await fetch(`${server.address}/v1/sys/metrics?format=prometheus`)
  assert.equal(response.status, 200, 'the listener says so')
  return response.text()
}

/** Until `found` is there; what is logged comes behind the answer. */
async function logged(found: (line: string) => boolean): Promise<string | undefined> {
  let line: string | undefined
  await until(() => {
    line = server.output().split('\n').find(found)
    return line !== undefined
  }, 'the line in the log')
  return line
}

test('U-01, U-05, U-08, Q-07: no log, metric, trace or list of requests holds a secret, whatever fails', async () => {
  const plaintext = Buffer.from('canary-plaintext').toString('base64')
  await api(server, 'POST', 'sys/mounts/transit', { type: 'transit' })
  await api(server, 'POST', 'sys/auth/userpass', { type: 'userpass' })
  await api(server, 'POST', 'auth/userpass/users/kim', { password: 'canary-password' })
  const login = await api(server, 'POST', 'auth/userpass/login/kim', { password: 'canary-password' })
  const { client_token: token, accessor } = login.body.auth as Record<string, string>
  const { body } = await api(server, 'POST', 'transit/encrypt/k', { plaintext })
  const ciphertext = String(body.data?.ciphertext)
  await api(server, 'POST', 'transit/decrypt/k', { ciphertext })
  // And what fails, at each step.
  await api(server, 'GET', `auth/token/lookup/${token}`)
  await api(server, 'GET', 'sys/health?canary-query=canary-value')
  await api(server, 'POST', 'auth/userpass/login/kim', { password: 'canary-wrong' })
  await api(server, 'POST', 'transit/encrypt/k', '{"plaintext": canary-json')
  await api(server, 'POST', 'transit/decrypt/k', { ciphertext: 'canary-ciphertext' })
  await api(server, 'POST', 'sys/unseal', { key: 'canary-share' })
  await api(server, 'GET', 'canary-path/nowhere')
  await api(server, 'GET', 'sys/mounts', undefined, 'canary-token')
  const requests = await api(server, 'GET', 'sys/in-flight-req')
  const metrics = await openMetrics()
  const json = await api(server, 'GET', 'sys/metrics')
  await logged((line) => line.includes('endpoint="metrics"'))
  await until(() => collector.bodies.join().includes('"metrics"'), 'the traces')
  // The banner of the development server shows its root token, and only it does.
  const log = server.output().replaceAll(/export VAULT_TOKEN='canary-root'|Root Token: canary-root/g, '')
  const told = [log, metrics, JSON.stringify([requests.body, json.body]), collector.bodies.join('\n')]
  const secrets = ['canary', token, accessor, ciphertext, plaintext].filter((secret) => secret !== undefined)
  assert.equal(secrets.length, 5)
  for (const [at, text] of told.entries()) {
    assert.ok(text.length > 100)
    for (const secret of secrets) {
      const forms = [
        secret,
        Buffer.from(secret).toString('base64').replaceAll('=', ''),
        Buffer.from(secret).toString('hex'),
      ]
      for (const form of forms) assert.equal(text.includes(form), false, `${form} in ${at}`)
    }
  }
})

test('the log names requests by the ids of their answers', async () => {
  const { body } = await api(server, 'GET', 'sys/mounts')
  const line = await logged((one) => one.includes(String(body.request_id)))
  assert.match(line ?? '', / debug serving-[01] core: A request was answered .* endpoint="mounts-list" .* status=200 /)
  // One that the other thread answered has the id of the thread that took it.
  const { body: made } = await api(server, 'POST', 'auth/token/create', { policies: ['default'] })
  const forwarded = await logged((one) => one.includes(String(made.request_id)))
  assert.match(forwarded ?? '', / serving-[01] core: A request was answered .* endpoint="token-create" /)
})

test('levels change on all threads at once, and come back', async () => {
  const lines = (endpoint: string): string[] =>
    server
      .output()
      .split('\n')
      .filter((line) => line.includes('A request was answered') && line.includes(`endpoint="${endpoint}"`))
  const askOnAll = (path: string) =>
    Promise.all(
      Array.from({ length: 20 }, async () => {
        const connection = await RawConnection.open(server.address)
        await connection.exchange(rawRequest('GET', `/v1/${path}`, []))
        connection.close()
      }),
    )
  assert.equal((await api(server, 'POST', 'sys/loggers/core', { level: 'warn' })).status, 204)
  // Nobody else asks this here.
  await askOnAll('sys/seal-status')
  const { body } = await api(server, 'GET', 'sys/loggers')
  assert.deepEqual([body.data?.core, body.data?.storage], ['warn', 'trace'])
  assert.equal((await api(server, 'DELETE', 'sys/loggers/core')).status, 204)
  // What a thread says comes in its order: where this has come, whatever it said before has.
  await askOnAll('sys/leader')
  await until(() => lines('leader').length >= 20, 'the lines in the log')
  const threads = () => new Set(lines('leader').map((line) => / serving-[01] /.exec(line)?.[0]))
  await until(async () => {
    if (threads().size < 2) await askOnAll('sys/leader')
    return threads().size === 2
  }, 'both threads')
  assert.deepEqual(lines('seal-status'), [])
  assert.equal((await api(server, 'POST', 'sys/loggers', { level: 'loud' })).status, 400)
  assert.equal((await api(server, 'POST', 'sys/loggers/nobody', { level: 'info' })).status, 400)
})

test('a request that does not end is shown, whichever thread is asked', async () => {
  const held = await RawConnection.open(server.address)
  const head = [['X-Vault-Token', 'canary-root'] as const, ['Content-Length', '1000'] as const]
  const earliestMs = Date.now()
  held.write(rawRequest('POST', '/v1/sys/storage/snapshot', head))
  const posts = async (): Promise<Record<string, string>[]> => {
    const connection = await RawConnection.open(server.address)
    const answer = await connection.exchange(
      rawRequest('GET', '/v1/sys/in-flight-req', [['X-Vault-Token', 'canary-root']]),
    )
    connection.close()
    const { data } = JSON.parse(answer?.body ?? '{}') as { readonly data: object }
    return (Object.values(data) as Record<string, string>[]).filter(({ request_method: method }) => method === 'POST')
  }
  await until(async () => (await posts()).length === 1, 'the request is shown')
  for (let ask = 0; ask < 16; ask++) {
    const [found, ...others] = await posts()
    assert.deepEqual(others, [])
    assert.equal(found?.request_path, '/v1/sys/storage/snapshot')
    assert.equal(found?.client_remote_address, '127.0.0.1')
    const begunMs = Date.parse(found?.start_time ?? '')
    assert.ok(begunMs >= earliestMs - 1_000 && begunMs <= Date.now() + 1_000, String(begunMs))
  }
  held.close()
  await until(async () => (await posts()).length === 0, 'the request is shown no more')
})

test('metrics that are open answer while the server is sealed, and say so', async () => {
  assert.equal((await api(server, 'POST', 'sys/seal')).status, 204)
  const text = await openMetrics()
  assert.match(text, /^keywright_unsealed 0$/m)
  assert.match(text, /^keywright_tokens 0$/m)
  assert.equal((await api(server, 'GET', 'sys/loggers')).status, 503)
})
