// The thread of the links to other clusters beside the others of a server: it may die at any time, and lets go of the
// store for a restore.
import { strict as assert } from 'node:assert'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import type { Worker } from 'node:worker_threads'
import { startThreadedServer, type ThreadedServer } from '../../fixtures/threaded-server.ts'

let server: ThreadedServer
before(async () => {
  server = await startThreadedServer('linking')
})
after(() => server.stop())

/** Ends the thread, and waits until the next one is there. */
async function replaced(end: (thread: Worker) => Promise<unknown>): Promise<void> {
  const thread = server.threads.at(-1) ?? assert.fail('there is no such thread')
  const isThere = once(process, 'worker').then(([next]) => once(next as Worker, 'message'))
  await end(thread)
  await isThere
}

test('a server has one thread for links, which is replaced when it dies, and nothing else is', async () => {
  assert.equal(server.threads.length, 1)
  await replaced((thread) => thread.terminate())
  await replaced(async (thread) => {
    // What the runtime says of a thread that ends by an exception, before its end.
    thread.emit('error', new RangeError('of an accident'))
    await thread.terminate()
  })
  assert.equal(server.threads.length, 3)
  const { status } = await server.call('POST', 'sys/mounts/transit', { type: 'transit' })
  assert.equal(status, 204)
  assert.deepEqual(server.fatal, [])
})

test('it is seen among the threads of the metrics', async () => {
  const response = await fetch(`${server.address}/v1/sys/metrics?format=prometheus`, {
    headers: { 'X-Vault-Token': 'root' },
  })
  assert.match(await response.text(), /^keywright_event_loop_delay_seconds_count\{thread="linking"\} [1-9]/m)
})

test('a store is restored with the thread there, and while it dies', async () => {
  const url = `${server.address}/v1/sys/storage/snapshot`
  const headers = { 'X-Vault-Token': 'root' }
  const body = Buffer.from(await (await fetch(url, { headers })).arrayBuffer())
  const restore = async (): Promise<void> => {
    assert.equal((await fetch(url, { method: 'POST', headers, body })).status, 200)
    assert.equal((await server.call('PUT', 'sys/unseal', { key: server.unsealKey })).body.sealed, false)
  }
  await restore()
  await replaced((thread) => Promise.all([restore(), thread.terminate()]))
  assert.equal((await server.call('POST', 'transit/keys/k')).status, 200)
  assert.deepEqual(server.fatal, [])
})
