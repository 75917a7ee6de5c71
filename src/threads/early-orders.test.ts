import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MessageChannel } from 'node:worker_threads'
import { EarlyOrders } from './early-orders.ts'

test('what is ordered while a thread starts is carried out when it can be, in its order', async () => {
  const { port1, port2 } = new MessageChannel()
  const orders = new EarlyOrders<string>(port2)
  // Another listener, which makes the port flow.
  const arrived = new Promise<void>((resolve) => {
    port2.on('message', (order) => order === 'second' && resolve())
  })
  port1.postMessage('first')
  port1.postMessage('second')
  await arrived
  const seen: string[] = []
  orders.begin((order) => seen.push(order))
  assert.deepEqual(seen, ['first', 'second'])
  const third = new Promise<void>((resolve) => {
    port2.on('message', () => resolve())
  })
  port1.postMessage('third')
  await third
  assert.deepEqual(seen, ['first', 'second', 'third'])
  port1.close()
})
