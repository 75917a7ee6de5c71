// How the watching thread learns that a serving thread is there.
import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { test } from 'node:test'
import { newSharedTelemetry } from '../assembly/shared-telemetry.ts'
import { newLogLevels } from '../lib/log-levels.ts'
import { realWorld } from '../lib/world.ts'
import { ListenFailed } from './free-addresses.ts'
import { type ServingContext, ServingThreads, servingStarted } from './serving-threads.ts'
import { StartError } from './start-error.ts'

const NEVER = new Promise<string>(() => {})

test('a thread that is asked what it does while it starts is there when it listens', async () => {
  const thread = new EventEmitter()
  const ports = servingStarted(thread, NEVER)
  thread.emit('message', { rpc: 'answer', id: 1, output: [] })
  thread.emit('message', { rpc: 'call', id: 1, name: 'allInFlight', input: undefined })
  thread.emit('message', { kind: 'listening', ports: [8200] })
  assert.deepEqual(await ports, [8200])
  assert.deepEqual([thread.listenerCount('message'), thread.listenerCount('error')], [0, 0])
})

test('a thread that cannot listen says where, one that ends says that it did', async () => {
  const thread = new EventEmitter()
  const failed = servingStarted(thread, NEVER)
  thread.emit('message', { rpc: 'answer', id: 1, output: [] })
  thread.emit('message', { kind: 'failed', address: '127.0.0.1:1', code: 'EACCES', message: '' })
  await assert.rejects(failed, (cause) => cause instanceof ListenFailed && cause.code === 'EACCES')
  await assert.rejects(servingStarted(new EventEmitter(), Promise.resolve('it ended by itself')), /ended before it was/)
  const broken = servingStarted(thread, NEVER)
  thread.emit('error', new SyntaxError('Unexpected end of input'))
  await assert.rejects(broken, { name: 'StartError', message: 'A serving thread failed: Unexpected end of input' })
})

test('where the writing thread has ended no thread is started any more', async () => {
  const world = realWorld()
  const config = { threads: 1, listeners: [] }
  const shared = newSharedTelemetry(world.random, newLogLevels('info'), 1)
  const serving = new ServingThreads({ config, world, shared } as unknown as ServingContext)
  await serving.abandon()
  await assert.rejects(serving.start(), (cause) => cause instanceof StartError && /writing thread/.test(cause.message))
})
