import { strict as assert } from 'node:assert'
import { after, test } from 'node:test'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { steppedTime } from '../../test/fixtures/stepped-time.ts'
import { until } from '../../test/fixtures/until.ts'
import type { Log } from '../lib/log.ts'
import { QuestionDesk, Questioner } from './ask-all.ts'

const ports: MessagePort[] = []
after(() => {
  for (const port of ports) port.close()
})

const PATIENCE_MS = 5_000

/** The time stands still until the test moves it. */
function stage(answers: readonly (string | undefined)[]) {
  const time = steppedTime(0)
  let given = 0
  const desk = new QuestionDesk<string>(time.timers, PATIENCE_MS)
  const threads = answers.map((answer) => {
    const { port1, port2 } = new MessageChannel()
    ports.push(port1, port2)
    const leave = desk.add(port1)
    // One that never answers is a thread that is busy.
    const questioner =
      answer === undefined
        ? undefined
        : new Questioner<string>(
            port2,
            () => {
              given += 1
              return answer
            },
            () => {},
          )
    return { leave, ask: () => questioner?.ask() }
  })
  /** The patience ends after so many answers were given, which have come by then. */
  const endPatience = async (answers: number): Promise<void> => {
    await until(() => given === answers, 'the answers')
    await time.advance(PATIENCE_MS - 1)
    await time.advance(1)
  }
  return { threads, endPatience }
}

test('everybody is asked, whoever asks', async () => {
  const { threads } = stage(['a', 'b', 'c'])
  for (const { ask } of threads) {
    const { answers = [], silent } = (await ask()) ?? {}
    assert.deepEqual([answers.toSorted(), silent], [['a', 'b', 'c'], 0])
  }
})

test('several questions at once get each its own answers', async () => {
  const [first, second] = stage(['a', 'b']).threads
  const found = await Promise.all(Array.from({ length: 10 }, (_, at) => (at % 2 === 0 ? first : second)?.ask()))
  for (const one of found) assert.deepEqual([one?.answers.length, one?.silent], [2, 0])
})

test('who does not answer in time is counted, and who has ended is not asked', async () => {
  const { endPatience, threads } = stage(['a', undefined])
  const [asker, busy] = threads
  const asked = asker?.ask()
  await endPatience(1)
  assert.deepEqual(await asked, { kind: 'answers', id: 1, answers: ['a'], silent: 1 })
  busy?.leave()
  assert.deepEqual(await asker?.ask(), { kind: 'answers', id: 2, answers: ['a'], silent: 0 })
})

test('questions that nobody answers do not pile up', async () => {
  const { endPatience, threads } = stage(['a', undefined])
  const asked = Array.from({ length: 40 }, () => threads[0]?.ask())
  await endPatience(16)
  const found = await Promise.all(asked)
  assert.equal(found.filter((one) => one?.answers.length === 1).length, 16)
  assert.equal(found.filter((one) => one?.answers.length === 0).length, 24)
})

test('A3: a thread whose answer cannot be sent is silent at once, says why, and answers again', async () => {
  const lines: string[] = []
  const log: Log = (level, message, details) => void lines.push(`${level} ${message} ${details?.cause}`)
  // The time stands still: who waited for the patience would wait for good.
  const desk = new QuestionDesk<unknown>(steppedTime(0).timers, PATIENCE_MS)
  const answers: (() => unknown)[] = [() => () => 'a secret', () => 'text']
  const questioners = [0, 1].map((place) => {
    const { port1, port2 } = new MessageChannel()
    ports.push(port1, port2)
    desk.add(port1)
    return new Questioner<unknown>(port2, () => (place === 0 ? answers.shift()?.() : 'other'), log)
  })
  const asked = await questioners[1]?.ask()
  assert.deepEqual([asked?.answers, asked?.silent], [['other'], 1])
  assert.match(lines.join(), /^error What this thread was asked it could not answer DataCloneError/)
  assert.doesNotMatch(lines.join(), /secret/)
  const again = await questioners[1]?.ask()
  assert.deepEqual([again?.answers.toSorted(), again?.silent], [['other', 'text'], 0])
})
