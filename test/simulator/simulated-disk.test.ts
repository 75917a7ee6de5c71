// F12: what a node may count on of a simulated disk, and what not.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pseudoRandom } from '../fixtures/pseudo-random.ts'
import { steppedTime } from '../fixtures/stepped-time.ts'
import { SimulatedDisk, SyncFailed } from './simulated-disk.ts'

const SYNC_MS = 5
const SEEDS = 60

type Text = { text: string }

function newDisk(seed = 1) {
  const time = steppedTime(0)
  const kind = {
    copy: ({ text }: Text) => ({ text }),
    torn: (before: Text, after: Text) => ({ text: `${before.text}|torn|${after.text}` }),
  }
  const options = { random: pseudoRandom(seed), timers: time.timers, syncMs: [SYNC_MS] }
  const disk = new SimulatedDisk({ text: '' }, kind, options)
  const write = (letter: string, bytes = 1): Promise<string> =>
    disk.write(bytes, (content) => {
      content.text += letter
      return `${letter} is there`
    })
  return { disk, time, write }
}

/** What became of a promise by now. */
async function outcomeOf(promise: Promise<string>): Promise<string> {
  const outcome = promise.catch((cause: unknown) => (cause instanceof Error ? cause.constructor.name : 'no error'))
  return Promise.race([outcome, new Promise<string>((resolve) => setImmediate(() => resolve('waits')))])
}

test('F12: a write is seen once it is synced, and a sync covers what was written before it began', async () => {
  const { disk, time, write } = newDisk()
  const first = write('a')
  await time.advance(SYNC_MS - 1)
  const second = write('b')
  assert.deepEqual([await outcomeOf(first), disk.content.text], ['waits', ''])
  await time.advance(1)
  assert.deepEqual([await outcomeOf(first), await outcomeOf(second), disk.content.text], ['a is there', 'waits', 'a'])
  await time.advance(SYNC_MS)
  assert.deepEqual([await outcomeOf(second), disk.content.text], ['b is there', 'ab'])
})

test('F12: a crash keeps what was synced, and of the rest any beginning; each of them for some seed', async () => {
  const found = new Set<string>()
  for (let seed = 0; seed < SEEDS; seed++) {
    const { disk, time, write } = newDisk(seed)
    await Promise.all([write('a'), time.advance(SYNC_MS)])
    for (const letter of 'bcd') void write(letter)
    await time.advance(1)
    found.add(disk.crash().text)
  }
  assert.deepEqual([...found].sort(), ['a', 'ab', 'abc', 'abcd'])
})

test('F12: a torn crash tears the last write that it keeps, and no other', async () => {
  const found = new Set<string>()
  for (let seed = 0; seed < SEEDS; seed++) {
    const { disk, time, write } = newDisk(seed)
    for (const letter of 'ab') void write(letter)
    await time.advance(1)
    found.add(disk.crash('torn').text)
  }
  assert.deepEqual([...found].sort(), ['a|torn|ab', '|torn|a'])
})

test('F12: behind a crash nothing goes on: no write ends, none begins, and the image stays as it is', async () => {
  const { disk, time, write } = newDisk()
  const waiting = write('a')
  await time.advance(1)
  const image = disk.crash()
  const { text } = image
  const late = write('b')
  await time.advance(100)
  assert.deepEqual([await outcomeOf(waiting), await outcomeOf(late)], ['waits', 'waits'])
  assert.equal(await outcomeOf(disk.requirePower().then(() => 'powered')), 'waits')
  assert.equal(image.text, text)
})

test('F12: a full disk refuses a write and keeps nothing of it; with room again it goes on', async () => {
  const { disk, time, write } = newDisk()
  disk.roomBytes = 10
  const fits = write('a', 10)
  assert.equal(await outcomeOf(write('b', 1)), 'DiskFull')
  disk.roomBytes = 1
  const again = write('c', 1)
  await time.advance(2 * SYNC_MS)
  assert.deepEqual(
    [await outcomeOf(fits), await outcomeOf(again), disk.content.text],
    ['a is there', 'c is there', 'ac'],
  )
  assert.equal(disk.roomBytes, 0)
})

test('F12: behind a failed sync no write is taken, what is durable is read on, and the rest may be there', async () => {
  const found = new Set<string>()
  for (let seed = 0; seed < SEEDS; seed++) {
    const { disk, time, write } = newDisk(seed)
    await Promise.all([write('a'), time.advance(SYNC_MS)])
    disk.failSync()
    const failed = write('b')
    const behind = write('c')
    failed.catch(() => {})
    behind.catch(() => {})
    await time.advance(SYNC_MS)
    assert.deepEqual([await outcomeOf(failed), await outcomeOf(behind)], ['SyncFailed', 'SyncFailed'])
    await assert.rejects(write('d'), SyncFailed)
    await time.advance(100)
    assert.equal(disk.content.text, 'a')
    found.add(disk.crash().text)
  }
  assert.deepEqual([...found].sort(), ['a', 'ab', 'abc'])
})
