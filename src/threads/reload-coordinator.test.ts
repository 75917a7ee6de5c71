import { strict as assert } from 'node:assert'
import { after, test } from 'node:test'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { steppedTime } from '../../test/fixtures/stepped-time.ts'
import type { Log } from '../lib/log.ts'
import type { ReloadPart } from '../lib/reload.ts'
import { call } from '../rpc/calls.ts'
import { connectPeer } from '../rpc/peer.ts'
import { portChannel } from '../rpc/ports.ts'
import { ReloadCoordinator, type ReloadOrder } from './reload-coordinator.ts'

const TIMEOUT_MS = 10_000
const TOLD = { reload: call<ReloadOrder<unknown>, boolean>({ deadlineMs: TIMEOUT_MS }) }
const WANTED = { reload: call<ReloadPart, boolean>() }

const ports: MessagePort[] = []
after(() => {
  for (const port of ports) port.close()
})

/** Threads that answer so, undefined for one that is busy; the first is told `first` of every state. */
function stage(outcomes: readonly (boolean | undefined)[], first: unknown = 'less') {
  const time = steppedTime(0)
  const lines: string[] = []
  const log: Log = (level, message, details) => void lines.push(`${level} ${message} ${details?.cause}`)
  const coordinator = new ReloadCoordinator<unknown>(log)
  const seen: string[] = []
  const told = Promise.withResolvers<void>()
  const onFault = () => {}
  const threads = outcomes.map((isWhole, place) => {
    const { port1, port2 } = new MessageChannel()
    ports.push(port1, port2)
    const thread = connectPeer({
      channel: portChannel(port1),
      asks: TOLD,
      answers: WANTED,
      handlers: { reload: (part) => coordinator.wanted(part) },
      timers: time.timers,
      onFault,
    })
    const reload = ({ part, state }: ReloadOrder<unknown>): boolean | Promise<boolean> => {
      seen.push(`${place} ${part} ${state}`)
      if (seen.length === outcomes.length) told.resolve()
      return isWhole ?? new Promise(() => {})
    }
    const watcher = connectPeer({
      channel: portChannel(port2),
      asks: WANTED,
      answers: TOLD,
      handlers: { reload },
      onFault,
    })
    const leave = coordinator.add((order) => thread.call('reload', order), place === 0 ? () => first : undefined)
    return { want: (part: ReloadPart) => watcher.call('reload', part), leave, end: () => port2.close() }
  })
  return { coordinator, lines, seen, threads, time, told: told.promise }
}

test('all are told, each what it needs, and all that is asked for is answered', async () => {
  const { coordinator, seen, threads } = stage([true, true])
  coordinator.onWanted = (part) => coordinator.tell('state', part)
  assert.equal(await threads[1]?.want('tls'), true)
  assert.deepEqual(seen.toSorted(), ['0 tls less', '1 tls state'])
})

test('one that goes on as before is told of, and so is one that is too busy or ends', async () => {
  assert.equal(await stage([true, false]).coordinator.tell('', undefined), false)
  const busy = stage([true, undefined])
  const late = busy.coordinator.tell('', undefined)
  await busy.told
  await busy.time.advance(TIMEOUT_MS)
  assert.equal(await late, false)
  const { coordinator, threads, lines, told } = stage([true, undefined])
  const asked = coordinator.tell('', 'audit')
  await told
  threads[1]?.end()
  assert.equal(await asked, false)
  threads[1]?.leave()
  assert.equal(await coordinator.tell('', 'audit'), true)
  assert.deepEqual([...busy.lines, ...lines], [])
})

test('before there is anybody who can, what is asked for is not done', async () => {
  assert.equal(await stage([true]).threads[0]?.want('tls'), false)
})

test('A3: a thread that cannot be told counts as one that goes on as before, and the others are told', async () => {
  // Virtual time stands still, so no timeout ever ends.
  const { coordinator, seen, lines } = stage([true, true], () => 'a secret')
  assert.equal(await coordinator.tell('state', undefined), false)
  assert.deepEqual(seen, ['1 undefined state'])
  assert.match(lines.join(), /^error A thread could not be notified of a reload DataCloneError/)
  assert.doesNotMatch(lines.join(), /secret/)
})

test('A3: a reload that throws, or that cannot be asked for, is no reason to wait for good', async () => {
  const { coordinator, threads, lines } = stage([true])
  coordinator.onWanted = async () => {
    throw new Error('a secret')
  }
  assert.equal(await threads[0]?.want('tls'), false)
  assert.match(lines.join(), /^error A reload requested by a thread failed Error/)
  assert.doesNotMatch(lines.join(), /secret/)
  await assert.rejects(threads[0]?.want((() => {}) as unknown as 'tls') ?? Promise.resolve())
})
