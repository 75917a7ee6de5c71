import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { Tree } from '../../storage/log/tree.ts'
import { ProtocolFault } from '../protocol/frames.ts'
import type { Message, Place } from '../protocol/messages.ts'
import { LogSink } from './sink.ts'
import { type FromPrimary, SINK_LIMITS, type SinkBatch, type SinkProgress, SinkStopped } from './sink-parts.ts'

const HISTORY = Buffer.alloc(16, 1)
const ROOT = Buffer.alloc(32, 9)
const at = (index: number): Place => ({ historyId: HISTORY, index, chain: Buffer.alloc(16, index) })
const course = {
  kind: 'course',
  number: 1,
  isAnew: false,
  after: '',
  sentence: '',
  fork: undefined,
  followed: [],
  reach: undefined,
} as const
const run = (after: number, upTo: number): Message<'run'> => ({
  kind: 'run',
  after: { historyId: HISTORY, index: after },
  historyId: HISTORY,
  records: [Buffer.from(`${after}-${upTo}`)],
  at: at(upTo),
})

function newSink(isOpen = false, root = ROOT) {
  const taken: SinkBatch[] = []
  const told: SinkProgress[] = []
  const sent: Message[] = []
  const drained: number[] = []
  /** How much was sent when leaves and tree were made anew. */
  const mended: number[] = []
  const sink = new LogSink({
    family: 'dr',
    isOpen,
    count: () => {},
    drained: (number) => void drained.push(number),
    limits: { ...SINK_LIMITS, waitingBytes: 100 },
    progress: (progress) => void told.push(progress),
    send: async (message) => {
      sent.push(message)
    },
    keeper: {
      take: async (batch) => {
        taken.push(batch)
        return { kind: 'adopted', index: batch.at.index }
      },
      tree: async () => new Tree(),
      keysIn: async () => [],
      reached: async () => undefined,
      root: async () => root,
      mend: async () => void mended.push(sent.length),
    },
  })
  const ended = sink.run().catch((cause: unknown) => cause)
  const receive = async (...messages: readonly FromPrimary[]): Promise<void> => {
    for (const message of messages) sink.received(message, 1)
    for (let turns = 0; turns < 20; turns++) await turn()
  }
  return { sink, taken, told, sent, drained, mended, ended, receive }
}

test('runs that follow each other are applied in one step, and no others', async () => {
  const { taken, sent, receive } = newSink()
  await receive({ ...course, what: 'stream', from: at(1) }, run(1, 2), run(2, 3), run(5, 6))
  assert.deepEqual(
    taken.map(({ after, at: { index }, records }) => [after.index, index, records.length]),
    [
      [1, 3, 2],
      [5, 6, 1],
    ],
  )
  assert.deepEqual(sent, [
    { kind: 'ack', handled: 2, durable: 3 },
    { kind: 'ack', handled: 3, durable: 6 },
  ])
})

test('a primary that sends the log to a secondary that is not whole is at fault', async () => {
  const { ended, receive } = newSink(true)
  await receive({ ...course, what: 'stream', from: at(1) })
  assert.ok((await ended) instanceof ProtocolFault)
  const copying = newSink()
  await copying.receive({ ...course, what: 'copy', from: at(1) }, { ...course, what: 'stream', from: at(1) })
  assert.ok((await copying.ended) instanceof ProtocolFault)
})

test('more than may wait is a fault, however often the primary sends it', () => {
  const { sink } = newSink()
  sink.received(run(1, 2), 101)
  assert.throws(() => sink.received(run(2, 3), 1), ProtocolFault)
})

test('T44: a tree that never becomes that of the primary is compared twice, and then the secondary stops', async () => {
  const { mended, sent, ended, receive } = newSink(false, Buffer.alloc(32, 1))
  const complete = { kind: 'complete', at: at(1), root: ROOT } as const
  for (let time = 0; time < 3; time++) {
    await receive({ ...course, what: 'difference', from: at(1) }, { kind: 'pages', isLast: true, scopes: [] }, complete)
  }
  const stopped = await ended
  assert.ok(stopped instanceof SinkStopped && stopped.reason === 'divergence', String(stopped))
  assert.equal(sent.filter(({ kind }) => kind === 'compare').length, 2)
  // Leaves and tree are made anew where the first comparison did not help, before the second is asked for.
  const compares = sent.flatMap(({ kind }, at) => (kind === 'compare' ? [at] : []))
  assert.deepEqual(mended, compares.slice(1))
  assert.match(stopped.message, /check that of the primary with "merkle-check"/)
})

test('T43: a secondary that is told to compares when its copy is whole', async () => {
  const { sink, sent, receive } = newSink()
  const asked = (): number => sent.filter(({ kind }) => kind === 'compare').length
  await receive({ ...course, what: 'copy', from: at(1) })
  assert.equal(sink.compareAgain(), true)
  await receive()
  assert.equal(asked(), 0)
  await receive({ kind: 'complete', at: at(1), root: ROOT })
  assert.equal(asked(), 1)
})

test('T43: a secondary that follows compares as soon as it is told to, twice over one link', async () => {
  const { sink, sent, receive } = newSink(false)
  const asked = (): number => sent.filter(({ kind }) => kind === 'compare').length
  await receive({ ...course, what: 'stream', from: at(1) })
  for (const times of [1, 2]) {
    assert.equal(sink.compareAgain(), true)
    await receive()
    assert.equal(asked(), times)
    // The primary answers each with a course of its own; what it sends then is as before.
    await receive({ ...course, number: 2 * times, what: 'stream', from: at(1) })
  }
  assert.equal(sink.compareAgain(), false)
  await receive()
  assert.equal(asked(), 2)
})

test('the entries that came are counted anew in each copy and comparison', async () => {
  const { told, receive } = newSink()
  const entries = [{ key: 'root/a', class: 'local', leaf: Buffer.alloc(16), value: Buffer.from('v') }] as const
  const values = { kind: 'values', at: at(1), entries, gone: [], isLast: false } as const
  const piece = { kind: 'piece', at: at(1), after: '', upTo: undefined, entries, totalEntries: 7 } as const
  const counts = (): unknown => {
    const last = told.at(-1)
    return [last?.what, last?.entries, last?.totalEntries]
  }
  await receive({ ...course, what: 'difference', from: at(1) })
  await receive(values)
  assert.deepEqual(counts(), ['difference', 0, 0], 'what comes ahead is not what differed')
  await receive({ kind: 'pages', isLast: false, scopes: [{ class: 'local', scope: 'root/system', pages: [] }] })
  await receive(values, values)
  assert.deepEqual(counts(), ['difference', 2, 0])
  await receive({ ...course, number: 2, what: 'copy', from: at(1) })
  assert.deepEqual(counts(), ['copy', 0, 0])
  await receive(piece)
  assert.deepEqual(counts(), ['copy', 1, 7])
})

test('a scope whose pages are told twice is a fault', async () => {
  const { ended, receive } = newSink()
  const scopes = [{ class: 'local', scope: 'root/system', pages: [] }] as const
  const pages = { kind: 'pages', isLast: false, scopes } as const
  await receive({ ...course, what: 'difference', from: at(1) }, pages, pages)
  assert.ok((await ended) instanceof ProtocolFault)
})
