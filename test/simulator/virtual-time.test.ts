import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { SeededStream } from './seeded-stream.ts'
import { NeverEnds, VirtualTime } from './virtual-time.ts'

const first = (): number => 0

test('timers come at their moment, those of one moment in the order in which they were set', async () => {
  const time = new VirtualTime(1_000, first)
  const { clock, timers } = time.newThread()
  const seen: string[] = []
  const note = (name: string) => () => void seen.push(`${name} ${clock.nowMs()}`)
  timers.after(20, note('c'))
  timers.after(10, note('a'))
  timers.after(10, note('b'))
  timers.after(21, note('late'))
  timers.after(15, note('cancelled')).cancel()
  await time.pass(20)
  assert.deepEqual(seen, ['a 1010', 'b 1010', 'c 1020'])
  assert.deepEqual([time.nowMs, time.waiting], [1_020, [1]])
})

test('what a timer begins ends before the next timer, however many ticks it takes', async () => {
  const time = new VirtualTime(0, first)
  const { ticks, timers } = time.newThread()
  const seen: string[] = []
  timers.after(1, async () => {
    for (let tick = 0; tick < 100; tick++) await ticks.next()
    seen.push('long')
  })
  timers.after(2, () => void seen.push('next'))
  await time.pass(2)
  assert.deepEqual(seen, ['long', 'next'])
})

test('a timer that is cancelled when it is due already does not come', async () => {
  const time = new VirtualTime(0, first)
  const { timers } = time.newThread()
  const seen: string[] = []
  timers.after(1, () => later.cancel())
  const later = timers.after(1, () => void seen.push('came'))
  const atOnce = timers.after(0, () => void seen.push('came at once'))
  atOnce.cancel()
  await time.pass(1)
  assert.deepEqual(seen, [])
})

test('work is waited for as long as it takes, and no longer', async () => {
  const time = new VirtualTime(0, first)
  const { timers, ticks } = time.newThread()
  timers.after(60_001, () => {})
  const work = async (): Promise<number> => {
    await ticks.next()
    await timers.sleep(60_000)
    return time.nowMs
  }
  assert.equal(await time.until(work()), 60_000)
  assert.equal(time.nowMs, 60_000)
  await assert.rejects(time.until(Promise.reject(new Error('its own'))), /its own/)
})

test('work that waits for nothing that there is does not hold up the test', async () => {
  const time = new VirtualTime(0, first)
  const { timers } = time.newThread()
  const again = (): void => void timers.after(1_000, again)
  again()
  await assert.rejects(time.until(new Promise(() => {}), 10_000), NeverEnds)
  assert.equal(time.nowMs, 10_000)
})

test('over a leap each timer comes once, at its end', async () => {
  const time = new VirtualTime(0, first)
  const { clock, timers } = time.newThread()
  const seen: string[] = []
  const again = (): void => {
    seen.push(`again ${clock.nowMs()}`)
    timers.after(1_000, again)
  }
  timers.after(1_000, again)
  timers.after(500, () => void seen.push(`once ${clock.monotonicMs()}`))
  await time.leap(86_400_000)
  assert.deepEqual(seen, ['once 86400000', 'again 86400000'])
})

test('threads run in an order of the seed, and what is ready on one of them in the order of its arrival', async () => {
  const orders = [1, 2, 3, 1].map(async (seed) => {
    const time = new VirtualTime(0, new SeededStream(seed, 'order').below)
    const seen: string[] = []
    for (const name of ['a', 'b', 'c']) {
      const { ticks } = time.newThread()
      for (const at of [1, 2, 3]) ticks.run((of) => void seen.push(of), `${name}${at}`)
    }
    await time.settle()
    return seen
  })
  const seen = await Promise.all(orders)
  for (const order of seen)
    for (const name of ['a', 'b', 'c'])
      assert.deepEqual(
        order.filter((each) => each.startsWith(name)),
        [`${name}1`, `${name}2`, `${name}3`],
      )
  assert.deepEqual(seen[0], seen[3])
  assert.equal(new Set(seen.map(String)).size, 3)
})

test('work outside takes no time: nothing else runs before it ends, one piece behind the other', async () => {
  const time = new VirtualTime(0, first)
  const { ticks, timers } = time.newThread()
  const seen: string[] = []
  const work = async (name: string): Promise<void> => {
    seen.push(`${name} begins`)
    for (let loop = 0; loop < 20; loop++) await new Promise(setImmediate)
    seen.push(`${name} ends`)
  }
  const both = Promise.all([time.outside(() => work('a')), time.outside(() => work('b'))])
  ticks.run((of) => void seen.push(of), 'tick')
  timers.after(1, () => void seen.push('timer'))
  await time.until(both.then(() => timers.sleep(2)))
  assert.deepEqual(seen, ['a begins', 'a ends', 'b begins', 'b ends', 'tick', 'timer'])
  await assert.rejects(time.until(time.outside(() => Promise.reject(new Error('failed')))), /failed/)
  assert.equal(time.nowMs, 2)
})

test('a thread can be stopped between any two of its steps', async () => {
  const time = new VirtualTime(0, first)
  const { ticks } = time.newThread()
  let done = 0
  void (async () => {
    for (; ; done++) await ticks.next()
  })()
  await time.steps(7)
  assert.equal(done, 7)
})

test('nothing happens any more on a thread that was killed', async () => {
  const time = new VirtualTime(0, first)
  const { ticks, timers, kill } = time.newThread()
  const seen: string[] = []
  timers.after(1, () => void seen.push('timer'))
  ticks.run((of) => void seen.push(of), 'tick')
  const other = time.newThread()
  kill()
  // Once more: no other thread ends with it.
  kill()
  other.ticks.run((of) => void seen.push(of), 'of another')
  timers.after(1, () => void seen.push('timer of later'))
  timers.after(0, () => void seen.push('at once'))
  ticks.run((of) => void seen.push(of), 'tick of later')
  void ticks.next().then(() => seen.push('promise'))
  await time.pass(10)
  assert.deepEqual([seen, time.waiting], [['of another'], []])
})

test('bytes follow from seed and name; streams of two names share none', () => {
  const drawn = (seed: number, name: string): string => {
    const stream = new SeededStream(seed, name)
    return [stream.bytes(3).toString('hex'), stream.uuid(), stream.bytes(100).toString('hex'), stream.below(1e9)].join()
  }
  assert.equal(drawn(1, 'a'), drawn(1, 'a'))
  assert.equal(new Set([drawn(1, 'a'), drawn(2, 'a'), drawn(1, 'b'), drawn(12, 'a')]).size, 4)
  assert.match(new SeededStream(1, 'a').uuid(), /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
})
