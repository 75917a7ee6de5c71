// Listeners of a real server whose threads die: who takes the place of one has its Unix socket, its port and the newest
// certificate.
import { strict as assert } from 'node:assert'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Worker } from 'node:worker_threads'
import { parseConfig, settle } from '../../../src/config/config.ts'
import { realWorld } from '../../../src/lib/world.ts'
import { startServer } from '../../../src/process/server.ts'
import { LOOPBACK_CERTIFICATE, LOOPBACK_KEY } from '../../fixtures/loopback-certificate.ts'
import { SECOND_CERTIFICATE, SECOND_KEY } from '../../fixtures/more-certificates.ts'
import { RawConnection, rawRequest } from '../../fixtures/raw-http.ts'
import { temporaryDirectory } from '../../fixtures/server-process.ts'
import { isTrusted } from '../../fixtures/tls-client.ts'
import { until } from '../../fixtures/until.ts'

const HEALTH = rawRequest('GET', '/v1/sys/health')

async function statusOf(address: string): Promise<number | undefined> {
  const connection = await RawConnection.open(address)
  try {
    return (await connection.exchange(HEALTH))?.status
  } finally {
    connection.close()
  }
}

test('a thread in the place of one that died has its sockets and the newest certificate', async (context) => {
  const directory = temporaryDirectory()
  const file = (name: string, text: string): string => {
    const path = join(directory.path, name)
    writeFileSync(path, text, { mode: 0o600 })
    return path
  }
  const [cert, key] = [file('cert.pem', LOOPBACK_CERTIFICATE), file('key.pem', LOOPBACK_KEY)]
  const threads: Worker[] = []
  const onWorker = (worker: Worker): void => {
    if (worker.threadName === 'serving') threads.push(worker)
  }
  process.on('worker', onWorker)
  const logged: string[] = []
  const server = await startServer({
    config: settle(
      parseConfig(`
        threads = 2
        storage "sqlite" { path = "${directory.path}/data" }
        listener "tcp" {
          address = "127.0.0.1:0"
          tls_cert_file = "${cert}"
          tls_key_file = "${key}"
        }
        listener "unix" { address = "${directory.path}/kw.sock" }`),
    ),
    world: realWorld(),
    log: (_level, message) => logged.push(message),
    development: { rootToken: 'root' },
    onFatal: (reason) => assert.fail(reason),
  })
  context.after(async () => {
    process.off('worker', onWorker)
    await server.stop()
    directory.cleanUp()
  })
  const [secure = '', socket = ''] = server.addresses
  assert.equal(await isTrusted(secure, LOOPBACK_CERTIFICATE), true)
  assert.equal(await statusOf(socket), 200)

  file('cert.pem', SECOND_CERTIFICATE)
  file('key.pem', SECOND_KEY)
  await server.reload()
  file('cert.pem', 'broken')
  await server.reload()
  assert.equal(logged.filter((message) => message.includes('the previous certificate stays in use')).length, 1)

  // One of the two has the socket: each dies once.
  for (const dying of [0, 1]) {
    const before = threads.length
    await threads[dying]?.terminate()
    await until(() => threads.length > before, 'another thread')
    await until(async () => (await statusOf(socket).catch(() => undefined)) === 200, 'the socket is taken over')
    for (let i = 0; i < 12; i++) assert.equal(await isTrusted(secure, SECOND_CERTIFICATE), true)
  }
})
