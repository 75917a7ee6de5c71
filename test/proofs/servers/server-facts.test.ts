// What a real server tells of itself: its machine, its configuration, its counts.
import { strict as assert } from 'node:assert'
import { statfsSync, writeFileSync } from 'node:fs'
import { cpus, hostname, totalmem } from 'node:os'
import { after, before, test } from 'node:test'
import { parseConfig, settle } from '../../../src/config/config.ts'
import { sanitizedConfig } from '../../../src/config/state.ts'
import { api, type ServerProcess, startServerProcess, temporaryDirectory } from '../../fixtures/server-process.ts'

let server: ServerProcess
const directory = temporaryDirectory()
const data = `${directory.path}/data`
before(async () => {
  const config = `${directory.path}/config.hcl`
  writeFileSync(
    config,
    `listener "tcp" {
       address = "127.0.0.1:0"
       max_request_size = 1048576
     }
     storage "sqlite" { path = "${data}" }
     threads = 2
     edition = "plus"
     raw_storage_endpoint = true
     api_addr = "https://keys.example.com"`,
  )
  server = await startServerProcess({ directory: data, args: ['-config', config] })
})
after(async () => {
  await server.stop()
  directory.cleanUp()
})

test('host-info is of this machine', async () => {
  const { status, body } = await api(server, 'GET', 'sys/host-info')
  assert.equal(status, 200)
  const { cpu, cpu_times: times, disk, host, memory } = body.data as Record<string, unknown>
  assert.deepEqual([(cpu as unknown[]).length, (times as unknown[]).length], [cpus().length, cpus().length])
  assert.equal((host as { hostname: string }).hostname, hostname())
  const { total, used, available } = memory as Record<string, number>
  assert.equal(total, totalmem())
  assert.equal(used, Number(total) - Number(available))
  const { bsize, blocks } = statfsSync(data)
  const [{ path, total: size }] = disk as [{ path: string; total: number }]
  assert.deepEqual([path, size], [data, bsize * blocks])
  assert.ok((times as { user: number; idle: number }[]).some(({ user, idle }) => user > 0 && idle > 0))
})

test('the configuration is shown by the names of its file, every switch with what it is', async () => {
  const { body } = await api(server, 'GET', 'sys/config/state/sanitized')
  const { listeners, storage, ...rest } = body.data as Record<string, unknown>
  const [{ type, config }] = listeners as [{ type: string; config: Record<string, unknown> }]
  assert.deepEqual([type, config.max_request_size], ['tcp', 1_048_576])
  assert.deepEqual(storage, {
    type: 'sqlite',
    path: data,
    log_retention_bytes: 1024 ** 3,
    log_retention_time: 86_400,
  })
  assert.deepEqual([rest.edition, rest.raw_storage_endpoint, rest.threads], ['plus', true, 2])
  assert.deepEqual(rest.seals, [{ type: 'shamir', disabled: false }])
  assert.equal(rest.api_addr, 'https://keys.example.com')
})

test('the edition and sys/raw of the configuration reach the endpoints', async () => {
  const { features } = (await api(server, 'GET', 'sys/license')).body.data as { features: string[] }
  assert.deepEqual(features.includes('DR Replication'), false)
  assert.equal((await api(server, 'GET', 'sys/raw/core/cluster')).status, 200)
})

test('requests are counted over all threads, each once', async () => {
  const taken = async (): Promise<number> => {
    const { counters } = (await api(server, 'GET', 'sys/internal/counters/requests')).body.data as {
      counters: [{ start_time: string; total: number }]
    }
    const [{ start_time: since, total }] = counters
    assert.ok(Date.parse(since) <= Date.now() && Date.parse(since) > Date.now() - 600_000, since)
    return total
  }
  const before = await taken()
  const sent = 60
  // Each on a connection of its own, so that both threads get some; writes go on to the thread that writes.
  const answers = Array.from({ length: sent }, (_, index) =>
    fetch(`${server.address}/v1/sys/policies/acl/p${index}`, {
      method: index % 2 === 0 ? 'GET' : 'PUT',
      headers: { 'X-Vault-Token': server.token, Connection: 'close' },
      ...(index % 2 === 0 ? {} : { body: JSON.stringify({ policy: 'path "a" {}' }) }),
    }).then((answer) => answer.arrayBuffer()),
  )
  await Promise.all(answers)
  assert.equal(await taken(), before + sent + 1)
})

test('a static key is shown by its id alone', () => {
  const keyFile = `${directory.path}/key`
  const config = settle(parseConfig(`seal "static" { current_key_id = "a" \n current_key = "file://${keyFile}" }`))
  const shown = JSON.stringify(sanitizedConfig(config))
  assert.match(shown, /"seals":\[\{"type":"static","disabled":false,"current_key_id":"a"\}\]/)
  assert.equal(shown.includes(keyFile), false)
})
