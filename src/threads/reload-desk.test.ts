import { strict as assert } from 'node:assert'
import { after, test } from 'node:test'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { steppedTime } from '../../test/fixtures/stepped-time.ts'
import { until } from '../../test/fixtures/until.ts'
import type { Log } from '../lib/log.ts'
import { type ReloadAnswer, ReloadAsker, ReloadDesk, type ReloadOrder, reportReload } from './reload-desk.ts'

const PATIENCE_MS = 10_000
const ports: MessagePort[] = []
after(() => {
  for (const port of ports) port.close()
})

/** Threads that answer so; undefined: one that is busy. */
function stage(outcomes: readonly (boolean | undefined)[]) {
  const time = steppedTime(0)
  const desk = new ReloadDesk<string>(time.timers, PATIENCE_MS, () => {})
  const seen: string[] = []
  const threads = outcomes.map((isWhole, place) => {
    const { port1, port2 } = new MessageChannel()
    ports.push(port1, port2)
    const asker = new ReloadAsker(port2)
    port2.on('message', (message: ReloadOrder<string> | ReloadAnswer) => {
      if (message.kind === 'reload-done') return asker.take(message)
      seen.push(`${place} ${message.part} ${message.state}`)
      if (isWhole !== undefined) reportReload(port2, message.id, isWhole)
    })
    return { asker, leave: desk.add(port1, place === 0 ? () => 'less' : undefined) }
  })
  return { desk, seen, threads, time }
}

test('all are told, each what it needs, and all that is asked for is answered', async () => {
  const { desk, seen, threads } = stage([true, true])
  desk.onWanted = (part) => desk.tell('state', part)
  assert.equal(await threads[1]?.asker.ask('tls'), true)
  assert.deepEqual(seen.toSorted(), ['0 tls less', '1 tls state'])
})

test('one that goes on as before is told of, and so is one that is too busy or ends', async () => {
  assert.equal(await stage([true, false]).desk.tell('', undefined), false)
  const busy = stage([true, undefined])
  const late = busy.desk.tell('', undefined)
  await until(() => busy.seen.length === 2, 'both are told')
  await busy.time.advance(PATIENCE_MS)
  assert.equal(await late, false)
  const { desk, threads } = stage([true, undefined])
  const told = desk.tell('', 'audit')
  threads[1]?.leave()
  assert.equal(await told, false)
  assert.equal(await desk.tell('', 'audit'), true)
})

test('before there is anybody who can, what is asked for is not done', async () => {
  assert.equal(await stage([true]).threads[0]?.asker.ask('tls'), false)
})

test('A3: a thread that cannot be told counts as one that goes on as before, and the others are told', async () => {
  const lines: string[] = []
  const log: Log = (level, message, details) => void lines.push(`${level} ${message} ${details?.cause}`)
  // Nobody waits out the patience: it has no end.
  const desk = new ReloadDesk<unknown>(steppedTime(0).timers, 600_000, log)
  const told: unknown[] = []
  for (const place of [0, 1]) {
    const { port1, port2 } = new MessageChannel()
    ports.push(port1, port2)
    port2.on('message', (message: ReloadOrder<unknown>) => {
      told.push(message.state)
      reportReload(port2, message.id, true)
    })
    desk.add(port1, place === 0 ? () => () => 'a secret' : undefined)
  }
  assert.equal(await desk.tell('state', undefined), false)
  assert.deepEqual(told, ['state'])
  assert.match(lines.join(), /^error A thread could not be told of a reload DataCloneError/)
  assert.doesNotMatch(lines.join(), /secret/)
})

test('A3: a reload that throws, or that cannot be asked for, is no reason to wait for good', async () => {
  const { desk, threads } = stage([true])
  desk.onWanted = async () => {
    throw new Error('a secret')
  }
  assert.equal(await threads[0]?.asker.ask('tls'), false)
  await assert.rejects(threads[0]?.asker.ask((() => {}) as unknown as 'tls') ?? Promise.resolve())
})
