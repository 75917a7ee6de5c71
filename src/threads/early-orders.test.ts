import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EarlyOrders } from './early-orders.ts'

test('what is ordered while a thread starts is carried out when it can be, in its order', async () => {
  const orders = new EarlyOrders()
  const seen: string[] = []
  const carryOut = (order: string) => orders.run(() => seen.push(order))
  const early = [carryOut('first'), carryOut('second')]
  assert.deepEqual(seen, [])
  orders.begin()
  assert.deepEqual(seen, ['first', 'second'])
  const third = carryOut('third')
  assert.deepEqual(seen, ['first', 'second', 'third'])
  assert.deepEqual(await Promise.all([...early, third]), [1, 2, 3])
})

test('an order that fails fails alone, early or not', async () => {
  const orders = new EarlyOrders()
  const fail = (): never => {
    throw new RangeError('no')
  }
  const early = [orders.run(fail), orders.run(() => 'done')]
  orders.begin()
  await assert.rejects(early[0] as Promise<unknown>, RangeError)
  assert.equal(await early[1], 'done')
  await assert.rejects(orders.run(fail), RangeError)
})
