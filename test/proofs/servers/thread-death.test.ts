// A serving thread that dies takes its connections with it, and nothing else: its callers get an error, another takes
// its place, and what was acknowledged is there.
import { strict as assert } from 'node:assert'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import type { Worker } from 'node:worker_threads'
import { startThreadedServer, type ThreadedServer } from '../../fixtures/threaded-server.ts'

let server: ThreadedServer
before(async () => {
  server = await startThreadedServer('serving')
})
after(() => server.stop())

const call: ThreadedServer['call'] = (method, path, body) => server.call(method, path, body)

/** Calls until it is answered; how many times it was not. */
async function broken(requests: number): Promise<number> {
  let errors = 0
  for (let i = 0; i < requests; i++) {
    const answered = await call('POST', 'transit/encrypt/k', { plaintext: 'YQ==' }).then(
      ({ status }) => status === 200,
      () => false,
    )
    if (!answered) errors++
  }
  return errors
}

test('every serving thread can die, one after the other', async () => {
  await call('POST', 'sys/mounts/transit', { type: 'transit' })
  await call('POST', 'transit/keys/k')
  assert.equal(server.threads.length, 2)
  for (const thread of [...server.threads]) {
    const replacement = once(process, 'worker') as Promise<[Worker]>
    await thread.terminate()
    assert.ok((await broken(20)) < 20, 'the others serve on')
    const [started] = await replacement
    await once(started, 'message')
  }
  await broken(10) // Connections of the dead ones that the client still keeps.
  assert.equal(await broken(50), 0)
  assert.deepEqual(server.fatal, [])
})

test('a serving thread that ends by an exception is replaced, too', async () => {
  const thread = server.threads.at(-1) ?? assert.fail()
  const replacement = once(process, 'worker') as Promise<[Worker]>
  // What the runtime says of such a thread, before its end.
  thread.emit('error', new RangeError('of an accident'))
  await thread.terminate()
  const [started] = await replacement
  await once(started, 'message')
  await broken(10)
  assert.equal(await broken(50), 0)
  assert.deepEqual(server.fatal, [])
})

test('the new threads follow the writer: a change is seen by the next request on each', async () => {
  for (let version = 2; version < 60; version++) {
    await call('POST', 'transit/keys/k/rotate')
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => call('POST', 'transit/encrypt/k', { plaintext: 'YQ==' })),
    )
    for (const { body } of answers) assert.equal(body.data?.key_version, version)
  }
})
