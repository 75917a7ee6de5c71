import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import { MessageChannel } from 'node:worker_threads'
import { call, NO_CALLS } from './calls.ts'
import { PeerGone } from './errors.ts'
import { connectPeer } from './peer.ts'
import { portChannel, threadChannel } from './ports.ts'

const CALLS = {
  echo: call<unknown, unknown>(),
  wait: call<number, number>(),
  bytes: call<ArrayBuffer, ArrayBuffer>({ moves: (bytes) => [bytes], answerMoves: (bytes) => [bytes] }),
}
const onFault = (): void => {}

function stage() {
  const { port1, port2 } = new MessageChannel()
  const handlers = {
    echo: (input: unknown) => input,
    wait: () => new Promise<number>(() => {}),
    bytes: (b: ArrayBuffer) => b,
  }
  connectPeer({ channel: portChannel(port2), asks: NO_CALLS, answers: CALLS, handlers, onFault })
  const peer = connectPeer({ channel: portChannel(port1), asks: CALLS, answers: NO_CALLS, handlers: {}, onFault })
  return { peer, port1, port2 }
}

test('values cross a port, buffers are handed over, and what cannot be cloned fails alone', async (context) => {
  const { peer, port1 } = stage()
  context.after(() => port1.close())
  assert.deepEqual(await peer.call('echo', { a: [1n] }), { a: [1n] })
  const bytes = new ArrayBuffer(8)
  assert.equal((await peer.call('bytes', bytes)).byteLength, 8)
  assert.equal(bytes.byteLength, 0)
  await assert.rejects(
    peer.call('echo', () => {}),
    { name: 'DataCloneError' },
  )
  assert.equal(await peer.call('echo', 'text'), 'text')
})

test('a port that is closed at either end ends the calls on it', async () => {
  for (const own of [true, false]) {
    const { peer, port1, port2 } = stage()
    const waiting = peer.call('wait', 1)
    const closed = own ? port1 : port2
    closed.close()
    await assert.rejects(waiting, PeerGone)
  }
})

test('a thread that ends ends the calls to it', async () => {
  const thread = Object.assign(new EventEmitter(), { postMessage: () => {} })
  const peer = connectPeer({ channel: threadChannel(thread), asks: CALLS, answers: NO_CALLS, handlers: {}, onFault })
  const waiting = peer.call('wait', 1)
  thread.emit('exit', 0)
  await assert.rejects(waiting, PeerGone)
})
