// A server that has no file descriptor left refuses new connections, and nothing else: whoever is connected is served,
// the metrics leave out what cannot be found out, and it recovers (threats F-09).
import { strict as assert } from 'node:assert'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { readExposition } from '../../fixtures/prometheus-text.ts'
import { RawConnection, rawRequest } from '../../fixtures/raw-http.ts'
import { PROJECT, temporaryDirectory, watchServer } from '../../fixtures/server-process.ts'
import { until } from '../../fixtures/until.ts'

/** A server with one thread that serves has some fifty open. */
const DESCRIPTORS = 90

test('P-47, F-09: without a free descriptor metrics are told, and writes are made', {
  skip: process.platform !== 'linux' && 'descriptors are counted in /proc',
}, async () => {
  const directory = temporaryDirectory()
  const command = `ulimit -n ${DESCRIPTORS}; exec "$0" server -dev -dev-root-token-id=root -threads=1 \
    -dev-listen-address=127.0.0.1:0 -data="$1"`
  const args = ['-c', command, join(PROJECT, 'bin/keywright'), join(directory.path, 'data')]
  const server = await watchServer(spawn('sh', args, { stdio: ['ignore', 'pipe', 'pipe'] }))
  const token = [['X-Vault-Token', 'root'] as const]
  const first = await RawConnection.open(server.address)
  const metrics = async () => {
    const answer = await first.exchange(rawRequest('GET', '/v1/sys/metrics?format=prometheus', token))
    assert.equal(answer?.status, 200)
    return readExposition(answer?.body ?? '').samples
  }
  try {
    assert.ok(((await metrics()).get('process_open_fds') ?? 0) > 10)
    const more = await Promise.all(Array.from({ length: DESCRIPTORS }, () => RawConnection.open(server.address)))
    await Promise.all(more.map((one) => one.exchange(rawRequest('GET', '/v1/sys/health', [])).catch(() => undefined)))
    assert.ok(
      more.some((one) => one.isClosed),
      'not all of them were taken',
    )
    // Some may wait to be taken still.
    await until(async () => {
      const without = await metrics()
      return !without.has('process_open_fds') && without.has('keywright_unsealed')
    }, 'metrics without a descriptor to count them')
    const written = rawRequest('POST', '/v1/sys/policies/acl/p', token, Buffer.from('{"policy": "path \\"a\\" {}"}'))
    assert.equal((await first.exchange(written))?.status, 204)
    for (const one of more) one.close()
    await until(async () => (await metrics()).has('process_open_fds'), 'descriptors that are free again')
    const fresh = await RawConnection.open(server.address)
    assert.equal((await fresh.exchange(rawRequest('GET', '/v1/sys/health', [])))?.status, 200)
    fresh.close()
  } finally {
    first.close()
    await server.stop()
    directory.cleanUp()
  }
})
