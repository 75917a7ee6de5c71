// The timers that are handed in, on the clock of this machine.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { MessageChannel } from 'node:worker_threads'
import { realWorld } from '../../../src/lib/world.ts'
import { PROJECT } from '../../fixtures/server-process.ts'
import { until } from '../../fixtures/until.ts'

test('what came while the thread stood still is read before a timer ends', async (context) => {
  const { port1, port2 } = new MessageChannel()
  context.after(() => port1.close())
  const order: string[] = []
  port2.on('message', () => order.push('message'))
  // Behind an immediate the loop comes to its timers first.
  await new Promise((resolve) => setImmediate(resolve))
  realWorld().timers.after(1, () => order.push('timer'))
  port1.postMessage('')
  for (const startMs = performance.now(); performance.now() - startMs < 20; );
  await until(() => order.length === 2, 'both')
  assert.deepEqual(order, ['message', 'timer'])
})

test('a timer that is cancelled does not end, even where its time has come', async () => {
  let hasEnded = false
  const timer = realWorld().timers.after(1, () => {
    hasEnded = true
  })
  // Its time comes in the same turn, just before: what it had to do is still to be done.
  const { promise, resolve } = Promise.withResolvers<void>()
  setTimeout(() => {
    timer.cancel()
    resolve()
  }, 1)
  for (const startMs = performance.now(); performance.now() - startMs < 20; );
  await promise
  await new Promise((done) => setTimeout(done, 20))
  assert.equal(hasEnded, false)
})

test('a timer that is pending keeps no process alive, and one whose time has come is still done', () => {
  const script = `const { realWorld } = await import(${JSON.stringify(join(PROJECT, 'src/lib/world.ts'))})
    const { timers } = realWorld()
    timers.after(3_600_000, () => console.log('much later'))
    timers.after(1, () => console.log('soon'))
    setTimeout(() => {}, 100)`
  const { stdout, signal } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
    timeout: 180_000,
  })
  assert.deepEqual([stdout, signal], ['soon\n', null])
})
