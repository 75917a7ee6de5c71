import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { MessageChannel } from 'node:worker_threads'
import { NO_CALLS } from '../rpc/calls.ts'
import { connectPeer } from '../rpc/peer.ts'
import { portChannel } from '../rpc/ports.ts'
import { DEVICE_CALLS, DeviceLink } from './device-link.ts'
import type { DeviceOrder, OrderOutcome } from './orders.ts'

test('A3: an order that cannot be sent fails alone and is not waited for', async (context) => {
  const { port1, port2 } = new MessageChannel()
  context.after(() => port1.close())
  const link = new DeviceLink(port1, ['lib'])
  const outcome: OrderOutcome = { fault: 'failed', detail: 'as asked' }
  const handlers = { order: () => outcome, forgive: () => {}, forget: () => {} }
  const onFault = (): void => {}
  connectPeer({ channel: portChannel(port2), asks: NO_CALLS, answers: DEVICE_CALLS, handlers, onFault })
  const order: DeviceOrder = { do: 'random', library: 'lib', count: 1 }
  let settled = 0
  const unsendable = { ...order, count: (() => {}) as unknown as number }
  await assert.rejects(link.ask(unsendable), { name: 'DataCloneError' })
  assert.deepEqual(await link.ask(order), outcome)
  // If the order that was not sent had been noted, it would settle at the end as well.
  const ended = link.ask(order).then(() => settled++)
  port2.close()
  await ended
  assert.equal(settled, 1)
})
