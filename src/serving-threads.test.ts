// How the watching thread learns that a serving thread is there.
import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import { ListenFailed } from './listening.ts'
import { servingStarted } from './serving-threads.ts'

const NEVER = new Promise<string>(() => {})

test('a thread that is asked what it does while it starts is there when it listens', async () => {
  const thread = new EventEmitter()
  const ports = servingStarted(thread, NEVER)
  thread.emit('message', { kind: 'told', id: 1, answer: [] })
  thread.emit('message', { kind: 'ask', id: 1 })
  thread.emit('message', { kind: 'listening', ports: [8200] })
  assert.deepEqual(await ports, [8200])
  assert.equal(thread.listenerCount('message'), 0)
})

test('a thread that cannot listen says where, one that ends says that it did', async () => {
  const thread = new EventEmitter()
  const failed = servingStarted(thread, NEVER)
  thread.emit('message', { kind: 'told', id: 1, answer: [] })
  thread.emit('message', { kind: 'failed', address: '127.0.0.1:1', code: 'EACCES', message: '' })
  await assert.rejects(failed, (cause) => cause instanceof ListenFailed && cause.code === 'EACCES')
  await assert.rejects(servingStarted(new EventEmitter(), Promise.resolve('it ended by itself')), /ended before it was/)
})
