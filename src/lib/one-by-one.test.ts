import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { oneByOne } from './one-by-one.ts'

test('one by one: each waits for the one before, and the first failure is thrown once all have run', async () => {
  const did: string[] = []
  const slowly = async (name: string): Promise<void> => {
    await new Promise(setImmediate)
    did.push(name)
    if (name !== 'first') throw new Error(name)
  }
  const failing = (): void => {
    did.push('third')
    throw new Error('third')
  }
  const work = [() => slowly('first'), () => slowly('second'), failing, () => void did.push('fourth')]
  await assert.rejects(oneByOne(work), { message: 'second' })
  assert.deepEqual(did, ['first', 'second', 'third', 'fourth'])
  await oneByOne([])
})
