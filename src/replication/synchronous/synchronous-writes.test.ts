// Writes that wait for secondaries, by a clock that the test moves. The log is a number here.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { steppedTime } from '../../../test/fixtures/stepped-time.ts'
import type { SynchronousSettings } from './settings.ts'
import { SynchronousWrites } from './synchronous-writes.ts'

const TEN_S = 10_000

function stage(settings: Partial<SynchronousSettings> = {}, expected: readonly string[] = ['b']) {
  const time = steppedTime(1_000)
  const lines: string[] = []
  let last = 5
  let seal = 1
  const writes = new SynchronousWrites({
    world: time,
    log: (level, message, fields = {}) => void lines.push(`${level} ${fields.secondary} ${message}`),
    lastIndex: () => last,
    sealId: () => `seal ${seal}`,
    settings: { ids: ['b'], timeoutMs: TEN_S, ...settings },
  })
  writes.know(new Set(expected))
  const outcomes: string[] = []
  /** Writes; the outcome is noted when there is one. */
  const write = (): void => {
    const name = String(++last)
    const confirmed = writes.confirmed(last)
    if (confirmed === undefined) outcomes.push(`${name} at once`)
    else void confirmed.then((is) => outcomes.push(`${name} ${is ? 'answered' : 'unknown'}`))
  }
  /** Makes a new seal, which is no change of the log. */
  const rekey = (): void => {
    const name = `seal ${++seal}`
    writes.rekeyed()
    const confirmed = writes.confirmed(last, true)
    if (confirmed === undefined) outcomes.push(`${name} at once`)
    else void confirmed.then((is) => outcomes.push(`${name} ${is ? 'answered' : 'unknown'}`))
  }
  const told = async (): Promise<string[]> => {
    await time.advance(0)
    return outcomes.splice(0)
  }
  const states = () => writes.told.map(({ id, state, sinceMs }) => `${id} ${state} ${sinceMs ?? ''}`.trimEnd())
  const logged = () => lines.splice(0)
  return { time, writes, write, rekey, told, states, logged }
}

test('a write is answered when the secondary has it, and one word of it answers for all before', async () => {
  const { writes, write, told, states } = stage()
  writes.reached([['b', 5, 'seal 1']])
  assert.deepEqual(states(), ['b in-step 1000'])
  write()
  write()
  write()
  assert.deepEqual([await told(), writes.waiting], [[], 3])
  writes.reached([['b', 7, 'seal 1']])
  assert.deepEqual([await told(), writes.waiting], [['6 answered', '7 answered'], 1])
  writes.reached([['b', 8, 'seal 1']])
  assert.deepEqual(await told(), ['8 answered'])
  assert.deepEqual(writes.counts, { confirmed: 3, alone: 0, unconfirmed: 0, waitedSeconds: 0 })
})

test('what the secondary has already is not waited for, and nobody waits where nobody is configured', async () => {
  const { writes } = stage()
  writes.reached([['b', 5, 'seal 1']])
  assert.equal(writes.confirmed(5), undefined)
  const none = stage({ ids: [] }, [])
  assert.deepEqual([none.writes.mark(), none.writes.confirmed(9), none.time.waiting()], [undefined, undefined, []])
})

test('of several secondaries the last one counts', async () => {
  const { writes, write, told } = stage({ ids: ['b', 'c'] }, ['b', 'c'])
  writes.reached([
    ['b', 5, 'seal 1'],
    ['c', 5, 'seal 1'],
  ])
  write()
  writes.reached([['b', 6, 'seal 1']])
  assert.deepEqual(await told(), [])
  writes.reached([['c', 6, 'seal 1']])
  assert.deepEqual(await told(), ['6 answered'])
})

test('one that is away for as long as is set is not waited for, until it has all again', async () => {
  const { writes, write, told, time, states, logged } = stage()
  writes.reached([['b', 5, 'seal 1']])
  await time.advance(1_000)
  writes.reached([['b', undefined, 'seal 1']])
  assert.deepEqual(states(), ['b waiting 2000'])
  await time.advance(4_000)
  write()
  await time.advance(5_999)
  assert.deepEqual([await told(), logged()], [[], []])
  await time.advance(1)
  assert.deepEqual(await told(), ['6 answered'])
  assert.deepEqual(states(), ['b away 12000'])
  assert.deepEqual(logged(), ['warn b A synchronous secondary is away: writes go on without it, and are not there'])
  write()
  assert.deepEqual(await told(), ['7 at once'])
  assert.deepEqual([writes.counts.alone, writes.counts.confirmed, time.waiting()], [2, 0, []])
  writes.reached([['b', 7, 'seal 1']])
  assert.deepEqual(states(), ['b in-step 12000'])
  assert.deepEqual(logged(), ['info b A synchronous secondary has all, and writes wait for it'])
  write()
  assert.deepEqual(await told(), [])
})

test('one that is linked and confirms nothing is away when the first write has waited for so long', async () => {
  const { writes, write, told, time, states } = stage()
  writes.reached([['b', 5, 'seal 1']])
  await time.advance(60_000)
  write()
  await time.advance(4_000)
  write()
  // It is slow, and not away.
  writes.reached([['b', 6, 'seal 1']])
  assert.deepEqual(await told(), ['6 answered'])
  await time.advance(9_999)
  assert.deepEqual([await told(), states()], [[], ['b in-step 1000']])
  await time.advance(1)
  assert.deepEqual([await told(), states()], [['7 answered'], ['b away 75000']])
})

test('one that comes back under load is waited for when it is near, and in step when nothing is missing', async () => {
  const { writes, write, told, time, states, logged } = stage()
  await time.advance(TEN_S)
  logged()
  for (let each = 0; each < 100; each++) write()
  await told()
  writes.reached([['b', 50, 'seal 1']])
  assert.deepEqual(states(), ['b away 11000'])
  // It was where the log had ended, but that took it long.
  await time.advance(1_001)
  write()
  writes.reached([['b', 105, 'seal 1']])
  assert.deepEqual([await told(), states()], [['106 at once'], ['b away 11000']])
  write()
  await time.advance(1_000)
  writes.reached([['b', 106, 'seal 1']])
  assert.deepEqual([await told(), states()], [['107 at once'], ['b away 11000']])
  write()
  assert.deepEqual(await told(), [], 'it is waited for')
  writes.reached([['b', 107, 'seal 1']])
  assert.deepEqual(
    [states(), logged()],
    [['b in-step 13001'], ['info b A synchronous secondary has all, and writes wait for it']],
  )
  writes.reached([['b', 108, 'seal 1']])
  assert.deepEqual(await told(), ['108 answered'])
})

test('one that is lost again on its way back is away as before, without another line', async () => {
  const { writes, write, told, time, states, logged } = stage()
  await time.advance(TEN_S)
  logged()
  write()
  await told()
  writes.reached([['b', 5, 'seal 1']])
  write()
  writes.reached([['b', 6, 'seal 1']])
  write()
  assert.deepEqual(await told(), ['7 at once'])
  writes.reached([['b', undefined, 'seal 1']])
  await time.advance(TEN_S)
  assert.deepEqual([await told(), states(), logged()], [['8 answered'], ['b away 11000'], []])
})

test('one that comes back with less than it had is in step only when it has all again', async () => {
  const { time, writes, write, told, states } = stage()
  writes.reached([['b', 5, 'seal 1']])
  write()
  writes.reached([['b', 6, 'seal 1']])
  assert.deepEqual([await told(), states()], [['6 answered'], ['b in-step 1000']])
  await time.advance(1_000)
  writes.reached([['b', undefined, 'seal 1']])
  // Its disk was put back, to where the log was before this server was opened and to where it was after.
  for (const has of [3, 5]) {
    writes.reached([['b', has, 'seal 1']])
    assert.deepEqual(states(), ['b waiting 2000'])
  }
  writes.reached([['b', 6, 'seal 1']])
  assert.deepEqual(states(), ['b in-step 2000'])
})

test('without a timeout writes wait, and are answered in the end that nobody knows', async () => {
  const { writes, write, told, time, states, logged } = stage({ timeoutMs: undefined })
  await time.advance(9_999)
  write()
  await time.advance(1)
  assert.deepEqual(logged(), ['warn b A synchronous secondary is away: writes wait for it, and are refused an answer'])
  await time.advance(20_000)
  write()
  await time.advance(29_998)
  assert.deepEqual(await told(), [])
  await time.advance(1)
  assert.deepEqual([await told(), states()], [['6 unknown'], ['b waiting 1000']])
  writes.reached([['b', 7, 'seal 1']])
  assert.deepEqual([await told(), states()], [['7 answered'], ['b in-step 60999']])
  assert.deepEqual(logged(), ['info b A synchronous secondary has all, and writes wait for it'])
  assert.equal(writes.counts.unconfirmed, 1)
})

test('what a request waited elsewhere comes off its wait here, but for a moment', async () => {
  const { writes, write, told, time } = stage({ timeoutMs: undefined })
  write()
  const outcomes: string[] = []
  const since = async (name: string, sinceMs: number): Promise<void> => {
    const is = await writes.confirmed(6, false, sinceMs)
    outcomes.push(`${name} ${is === true ? 'answered' : 'unknown'} ${time.clock.monotonicMs()}`)
  }
  const startMs = time.clock.monotonicMs()
  await time.advance(45_000)
  void since('from the start', startMs)
  void since('late', startMs - 20_000)
  void since('halfway', startMs + 20_000)
  await time.advance(4_999)
  assert.deepEqual([await told(), outcomes.splice(0)], [[], [`late unknown ${startMs + 47_000}`]])
  await time.advance(1)
  assert.deepEqual([await told(), outcomes.splice(0)], [['6 unknown'], [`from the start unknown ${startMs + 50_000}`]])
  writes.reached([['b', 6, 'seal 1']])
  await told()
  assert.deepEqual(outcomes, [`halfway answered ${startMs + 50_000}`])
  assert.deepEqual(writes.counts, { confirmed: 1, alone: 0, unconfirmed: 3, waitedSeconds: 62 })
})

test('after a start it is waited for once, and is in step when it has what was there', async () => {
  const { writes, write, told, time, states } = stage()
  assert.deepEqual(states(), ['b waiting 1000'])
  write()
  writes.reached([['b', 4, 'seal 1']])
  assert.deepEqual([await told(), states()], [[], ['b waiting 1000']])
  writes.reached([['b', 5, 'seal 1']])
  assert.deepEqual(states(), ['b in-step 1000'])
  writes.reached([['b', 6, 'seal 1']])
  assert.deepEqual([await told(), time.waiting()], [['6 answered'], [TEN_S]])
})

test('nothing waits for one that was never let in, nor while its first copy is running', async () => {
  const { writes, write, told, time, states, logged } = stage({ timeoutMs: undefined }, [])
  write()
  assert.deepEqual([await told(), states(), time.waiting()], [['6 at once'], ['b unknown'], []])
  writes.reached([['b', undefined, 'seal 1']])
  write()
  assert.deepEqual([await told(), states()], [['7 at once'], ['b away 1000']])
  await time.advance(TEN_S)
  assert.deepEqual(logged(), [])
  writes.reached([['b', 7, 'seal 1']])
  assert.deepEqual(states(), ['b in-step 11000'])
  write()
  assert.deepEqual(await told(), [])
})

test('one that is revoked is waited for no more, and one that is replaced only when it has all', async () => {
  const { writes, write, told, states } = stage({ timeoutMs: undefined })
  writes.reached([['b', 5, 'seal 1']])
  write()
  writes.forget('b')
  assert.deepEqual([await told(), states()], [['6 answered'], ['b unknown']])
  writes.know(new Set())
  write()
  assert.deepEqual(await told(), ['7 at once'])
})

test('a write counts as confirmed only if each secondary that it waited for has it', async () => {
  for (const away of ['forget', 'configure'] as const) {
    const { writes, write, rekey, told } = stage({ ids: ['b', 'c'], timeoutMs: undefined }, ['b', 'c'])
    const sendAway = (): void => {
      if (away === 'forget') writes.forget('b')
      else writes.configure({ ids: ['c'], timeoutMs: undefined })
    }
    write()
    write()
    rekey()
    writes.reached([
      ['b', 6, 'seal 1'],
      ['c', 6, 'seal 1'],
    ])
    assert.deepEqual([await told(), writes.counts.confirmed], [['6 answered'], 1])
    sendAway()
    assert.deepEqual(await told(), [])
    writes.reached([['c', 7, 'seal 2']])
    assert.deepEqual(await told(), ['7 answered', 'seal 2 answered'])
    write()
    writes.reached([['c', 8, 'seal 2']])
    assert.deepEqual(await told(), ['8 answered'])
    assert.deepEqual([writes.counts.confirmed, writes.counts.alone], [2, 2], away)
    write()
    writes.forget('c')
    assert.deepEqual(await told(), ['9 answered'])
    assert.deepEqual([writes.counts.confirmed, writes.counts.alone], [2, 3], away)
  }
})

test('what is still said of one that was sent away counts for nothing until it has a new token', async () => {
  const { writes, write, told, states } = stage({ timeoutMs: undefined })
  writes.reached([['b', 5, 'seal 1']])
  writes.forget('b')
  writes.reached([['b', 5, 'seal 1']])
  writes.reached([['b', undefined, 'seal 1']])
  writes.know(new Set(['b']))
  write()
  assert.deepEqual([await told(), states()], [['6 at once'], ['b unknown']])
  writes.issued('b')
  writes.reached([['b', 6, 'seal 1']])
  write()
  assert.deepEqual([await told(), states()], [[], ['b in-step 1000']])
})

test('what becomes of the writes of a cluster that is no primary any more, nobody knows', async () => {
  const { writes, write, told, states, time } = stage()
  write()
  writes.know(undefined)
  assert.deepEqual([await told(), states(), writes.mark()], [['6 unknown'], [], undefined])
  writes.reached([['b', 6, 'seal 1']])
  write()
  assert.deepEqual(await told(), ['7 at once'])
  await time.advance(TEN_S)
  assert.deepEqual(time.waiting(), [])
})

test('other settings hold at once: for a write that waits, and for who is waited for', async () => {
  const { writes, write, told, time, states, logged } = stage({ timeoutMs: undefined })
  write()
  await time.advance(30_000)
  logged()
  writes.configure({ ids: ['b'], timeoutMs: 1_000 })
  await time.advance(0)
  assert.deepEqual([await told(), states()], [['6 answered'], ['b away 31000']])
  assert.deepEqual(logged(), ['warn b A synchronous secondary is away: writes go on without it, and are not there'])
  writes.configure({ ids: ['c'], timeoutMs: undefined })
  writes.know(new Set(['b', 'c']))
  assert.deepEqual(states(), ['c waiting 31000'])
  write()
  assert.deepEqual(await told(), [])
  writes.configure({ ids: [], timeoutMs: undefined })
  assert.deepEqual(await told(), ['7 answered'])
})

test('new shares are answered when the secondary has them, and no other write waits for that', async () => {
  const { writes, write, rekey, told, states, time } = stage()
  writes.reached([['b', 5, 'seal 1']])
  await time.advance(1_000)
  rekey()
  assert.deepEqual([await told(), states(), writes.waiting], [[], ['b waiting 2000'], 1])
  write()
  writes.reached([['b', 6, 'seal 1']])
  assert.deepEqual([await told(), states()], [['6 answered'], ['b waiting 2000']])
  rekey()
  await time.advance(1_000)
  // What is in force is another one by now.
  writes.reached([['b', 6, 'seal 2']])
  assert.deepEqual([await told(), states()], [[], ['b waiting 2000']])
  writes.reached([['b', 6, 'seal 3']])
  assert.deepEqual(
    [await told(), states(), writes.waiting],
    [['seal 2 answered', 'seal 3 answered'], ['b in-step 3000'], 0],
  )
  assert.deepEqual(writes.counts, { confirmed: 3, alone: 0, unconfirmed: 0, waitedSeconds: 2 })
})

test('new shares go on without one that does not take them, which is not in step until it does', async () => {
  const { writes, write, rekey, told, states, time, logged } = stage()
  writes.reached([['b', 5, 'seal 1']])
  rekey()
  await time.advance(TEN_S - 1)
  assert.deepEqual(await told(), [])
  await time.advance(1)
  assert.deepEqual([await told(), states()], [['seal 2 answered'], ['b away 11000']])
  assert.equal(logged().length, 1)
  // It has the log, which writes wait for again.
  writes.reached([['b', 5, 'seal 1']])
  assert.deepEqual([states(), logged()], [['b waiting 11000'], []])
  write()
  assert.deepEqual(await told(), [])
  writes.reached([['b', 6, 'seal 1']])
  assert.deepEqual([await told(), states()], [['6 answered'], ['b waiting 11000']])
  writes.reached([['b', 6, 'seal 2']])
  assert.deepEqual(
    [states(), logged()],
    [['b in-step 11000'], ['info b A synchronous secondary has all, and writes wait for it']],
  )
})

test('without a timeout new shares are answered in the end that nobody knows', async () => {
  const { writes, rekey, told, states, time } = stage({ timeoutMs: undefined })
  writes.reached([['b', undefined, 'seal 1']])
  rekey()
  await time.advance(49_999)
  assert.deepEqual(await told(), [])
  await time.advance(1)
  assert.deepEqual([await told(), states(), time.waiting()], [['seal 2 unknown'], ['b waiting 1000'], []])
  writes.reached([['b', 5, 'seal 1']])
  assert.deepEqual(states(), ['b waiting 1000'])
  writes.reached([['b', undefined, 'seal 2']])
  assert.deepEqual(states(), ['b waiting 1000'])
  writes.reached([['b', 5, 'seal 2']])
  assert.deepEqual(states(), ['b in-step 51000'])
  writes.know(undefined)
  assert.deepEqual(states(), [])
})

test('new shares of a cluster that is no primary any more, nobody knows of', async () => {
  const { writes, rekey, told } = stage()
  writes.reached([['b', 5, 'seal 1']])
  rekey()
  writes.know(undefined)
  assert.deepEqual([await told(), writes.waiting], [['seal 2 unknown'], 0])
})

test('the seal of a former primary that was rekeyed alone counts for nothing', async () => {
  const { writes, rekey, told, states, time } = stage()
  writes.reached([['b', 5, 'seal 2']])
  assert.deepEqual(states(), ['b waiting 1000'])
  await time.advance(1_000)
  writes.reached([['b', 5, 'seal 1']])
  assert.deepEqual([await told(), states()], [[], ['b in-step 2000']])
  rekey()
  assert.deepEqual(await told(), [])
})
