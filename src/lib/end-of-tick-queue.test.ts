import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { EndOfTickQueue, type TickPart } from './end-of-tick-queue.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))

test('what is added in a turn waits for its end, and is done in the order of the parts, then of arrival', async () => {
  const endOfTick = new EndOfTickQueue()
  const done: string[] = []
  const add = (part: TickPart, name: string) => endOfTick.add(part, () => done.push(`${part} ${name}`))
  add('answer', 'a')
  add('record responses', 'a')
  add('record requests', 'a')
  add('record requests', 'b')
  await Promise.resolve()
  assert.deepEqual(done, [])
  await turn()
  assert.deepEqual(done, ['record requests a', 'record requests b', 'record responses a', 'answer a'])
})

test('what promises of one part add to a later one is done in the same turn', async () => {
  const endOfTick = new EndOfTickQueue()
  const done: string[] = []
  const recorded = (part: TickPart) => new Promise<void>((resolve) => endOfTick.add(part, resolve))
  const request = async (name: string) => {
    await recorded('record requests')
    done.push(`handle ${name}`)
    await recorded('record responses')
    endOfTick.add('answer', () => done.push(`answer ${name}`))
  }
  await Promise.all([request('a'), request('b'), turn().then(() => done.push('next turn'))])
  assert.deepEqual(done, ['handle a', 'handle b', 'answer a', 'answer b', 'next turn'])
})

test('what is added to a part that is over is done at the end of the next turn', async () => {
  const endOfTick = new EndOfTickQueue()
  const done: string[] = []
  endOfTick.add('answer', () => {
    endOfTick.add('record requests', () => done.push('late request'))
    done.push('answer')
  })
  await turn()
  assert.deepEqual(done, ['answer'])
  await turn()
  assert.deepEqual(done, ['answer', 'late request'])
})

test('what is recorded for requests and for their responses takes a turn each, both in the same end', async () => {
  const endOfTick = new EndOfTickQueue()
  const done: string[] = []
  const request = async (name: string) => {
    await new Promise<void>((resolve) => endOfTick.record(resolve))
    done.push(`handle ${name}`)
    await new Promise<void>((resolve) => endOfTick.record(resolve))
    endOfTick.add('answer', () => done.push(`answer ${name}`))
  }
  await Promise.all([request('a'), request('b'), turn().then(() => done.push('next turn'))])
  assert.deepEqual(done, ['handle a', 'handle b', 'answer a', 'answer b', 'next turn'])
  endOfTick.record(() => done.push('later'))
  await turn()
  assert.equal(done.at(-1), 'later')
})
