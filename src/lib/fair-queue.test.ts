import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FairQueue, FairQueueFull, type FairQueueLimits } from './fair-queue.ts'

/** Pieces of work by their names, which end when the test says so. */
function stage(limits: Partial<FairQueueLimits> = {}) {
  const turns = new FairQueue({ atOnce: 1, waitingOfOne: 100, waitingOfAll: 1_000, ...limits })
  const begun: string[] = []
  const ends = new Map<string, PromiseWithResolvers<void>>()
  const add = (key: string, name: string): Promise<unknown> =>
    turns.run(key, () => {
      begun.push(name)
      const end = Promise.withResolvers<void>()
      ends.set(name, end)
      return end.promise
    })
  /** Ends what began longest ago, until nothing is under way. */
  const finish = async (): Promise<void> => {
    for (let done = 0; done < begun.length; done++) {
      ends.get(begun[done] as string)?.resolve()
      await settled()
    }
  }
  return { add, begun, ends, finish }
}
/** Everything that waits for nothing but promises has run. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('who has much waits behind himself: one of each in turn, whoever came first', async () => {
  const { add, begun, finish } = stage()
  for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) void add('a', name)
  for (const name of ['b1', 'b2']) void add('b', name)
  void add('c', 'c1')
  await settled()
  assert.deepEqual(begun, ['a1'])
  await finish()
  assert.deepEqual(begun, ['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4', 'a5'])
})

test('one who comes while much waits is next but one', async () => {
  const { add, begun, ends, finish } = stage()
  for (let index = 0; index < 50; index++) void add('a', `a${index}`)
  await settled()
  ends.get('a0')?.resolve()
  await settled()
  void add('b', 'b0')
  await settled()
  await finish()
  assert.deepEqual(begun.slice(0, 5), ['a0', 'a1', 'a2', 'b0', 'a3'])
  assert.equal(begun.length, 51)
})

test('so much is done at once, whoever it is for', async () => {
  const { add, begun, finish } = stage({ atOnce: 3 })
  for (const key of ['a', 'a', 'b', 'c', 'd']) void add(key, `${key}${begun.length}`)
  await settled()
  assert.equal(begun.length, 3)
  await finish()
  assert.equal(begun.length, 5)
})

test('so much waits of one and of all, and one more is refused without having begun', async () => {
  const { add, begun, finish } = stage({ waitingOfOne: 2, waitingOfAll: 3 })
  const refused = (of: 'one' | 'all') => (cause: unknown) => cause instanceof FairQueueFull && cause.of === of
  for (const name of ['a1', 'a2', 'a3']) void add('a', name)
  await assert.rejects(add('a', 'a4'), refused('one'))
  void add('b', 'b1')
  await assert.rejects(add('b', 'b2'), refused('all'))
  await assert.rejects(add('c', 'c1'), refused('all'))
  await finish()
  assert.deepEqual(begun, ['a1', 'a2', 'b1', 'a3'])
  void add('a', 'a5')
  await settled()
  assert.equal(begun.at(-1), 'a5', 'there is room again')
})

test('what fails gives its turn to the next', async () => {
  const { add, begun, ends } = stage()
  const failing = add('a', 'a1')
  void add('a', 'a2')
  await settled()
  ends.get('a1')?.reject(new Error('broken'))
  await assert.rejects(failing, /broken/)
  await settled()
  assert.deepEqual(begun, ['a1', 'a2'])
})
