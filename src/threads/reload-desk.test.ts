import { strict as assert } from 'node:assert'
import { after, test } from 'node:test'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { realWorld } from '../lib/world.ts'
import { type ReloadAnswer, ReloadAsker, ReloadDesk, type ReloadOrder, reportReload } from './reload-desk.ts'

const ports: MessagePort[] = []
after(() => {
  for (const port of ports) port.close()
})

/** Threads that answer so; undefined: one that is busy. */
function stage(outcomes: readonly (boolean | undefined)[], patienceMs: number) {
  const desk = new ReloadDesk<string>(realWorld().timers, patienceMs)
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
  return { desk, seen, threads }
}

test('all are told, each what it needs, and all that is asked for is answered', async () => {
  const { desk, seen, threads } = stage([true, true], 5_000)
  desk.onWanted = (part) => desk.tell('state', part)
  assert.equal(await threads[1]?.asker.ask('tls'), true)
  assert.deepEqual(seen.toSorted(), ['0 tls less', '1 tls state'])
})

test('one that goes on as before is told of, and so is one that is too busy or ends', async () => {
  assert.equal(await stage([true, false], 5_000).desk.tell('', undefined), false)
  assert.equal(await stage([true, undefined], 50).desk.tell('', undefined), false)
  const { desk, threads } = stage([true, undefined], 600_000)
  const told = desk.tell('', 'audit')
  threads[1]?.leave()
  assert.equal(await told, false)
  assert.equal(await desk.tell('', 'audit'), true)
})

test('before there is anybody who can, what is asked for is not done', async () => {
  assert.equal(await stage([true], 5_000).threads[0]?.asker.ask('tls'), false)
})
