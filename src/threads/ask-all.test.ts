import { strict as assert } from 'node:assert'
import { after, test } from 'node:test'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { steppedTime } from '../../test/fixtures/stepped-time.ts'
import { until } from '../../test/fixtures/until.ts'
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
        : new Questioner<string>(port2, () => {
            given += 1
            return answer
          })
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
