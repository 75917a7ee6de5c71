import { strict as assert } from 'node:assert'
import { after, test } from 'node:test'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { realWorld } from '../lib/world.ts'
import { QuestionDesk, Questioner } from './ask-all.ts'

const ports: MessagePort[] = []
after(() => {
  for (const port of ports) port.close()
})

function stage(answers: readonly (string | undefined)[], patienceMs: number) {
  const desk = new QuestionDesk<string>(realWorld().timers, patienceMs)
  return answers.map((answer) => {
    const { port1, port2 } = new MessageChannel()
    ports.push(port1, port2)
    const leave = desk.add(port1)
    // One that never answers is a thread that is busy.
    const questioner = answer === undefined ? undefined : new Questioner<string>(port2, () => answer)
    return { leave, ask: () => questioner?.ask() }
  })
}

test('everybody is asked, whoever asks', async () => {
  const threads = stage(['a', 'b', 'c'], 5_000)
  for (const { ask } of threads) {
    const { answers = [], silent } = (await ask()) ?? {}
    assert.deepEqual([answers.toSorted(), silent], [['a', 'b', 'c'], 0])
  }
})

test('several questions at once get each its own answers', async () => {
  const [first, second] = stage(['a', 'b'], 5_000)
  const found = await Promise.all(Array.from({ length: 10 }, (_, at) => (at % 2 === 0 ? first : second)?.ask()))
  for (const one of found) assert.deepEqual([one?.answers.length, one?.silent], [2, 0])
})

test('who does not answer in time is counted, and who has ended is not asked', async () => {
  const [asker, busy] = stage(['a', undefined], 50)
  assert.deepEqual(await asker?.ask(), { kind: 'answers', id: 1, answers: ['a'], silent: 1 })
  busy?.leave()
  assert.deepEqual(await asker?.ask(), { kind: 'answers', id: 2, answers: ['a'], silent: 0 })
})

test('questions that nobody answers do not pile up', async () => {
  const [asker] = stage(['a', undefined], 300)
  const asked = Array.from({ length: 40 }, () => asker?.ask())
  const found = await Promise.all(asked)
  assert.equal(found.filter((one) => one?.answers.length === 1).length, 16)
  assert.equal(found.filter((one) => one?.answers.length === 0).length, 24)
})
