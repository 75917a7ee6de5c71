import { strict as assert } from 'node:assert'
import { after, test } from 'node:test'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { steppedTime } from '../../test/fixtures/stepped-time.ts'
import { until } from '../../test/fixtures/until.ts'
import type { Log } from '../lib/log.ts'
import { connectPeer } from '../rpc/peer.ts'
import { portChannel } from '../rpc/ports.ts'
import type { InFlightView } from '../telemetry/in-flight-requests.ts'
import { faultLog } from '../threads/fault-log.ts'
import {
  askInFlight,
  IN_FLIGHT_TIMEOUT_MS,
  inFlightOfAll,
  MOST_IN_FLIGHT_ASKED,
  SERVING_CALLS,
  type ServingPeer,
  WATCHER_CALLS,
} from './thread-calls.ts'

const ports: MessagePort[] = []
after(() => {
  for (const port of ports) port.close()
})

const inFlight = (id: string) => ({ id }) as unknown as InFlightView

/** Threads that answer so, undefined for one that is busy. The time stands still until the test moves it. */
function stage(answers: readonly ((() => unknown) | undefined)[], log: Log = () => {}) {
  const time = steppedTime(0)
  const peers = new Set<ServingPeer>()
  let given = 0
  const threads = answers.map((answer) => {
    const { port1, port2 } = new MessageChannel()
    ports.push(port1, port2)
    const peer = connectPeer({
      channel: portChannel(port1),
      asks: SERVING_CALLS,
      answers: WATCHER_CALLS,
      handlers: { allInFlight: () => inFlightOfAll(peers) },
      timers: time.timers,
      onFault: () => {},
    })
    peers.add(peer)
    const watcher = connectPeer({
      channel: portChannel(port2),
      asks: WATCHER_CALLS,
      answers: SERVING_CALLS,
      handlers: {
        inFlight: () => {
          given += 1
          return (answer === undefined ? new Promise(() => {}) : answer()) as InFlightView[]
        },
        reload: () => true,
        renewTls: () => {},
        stop: () => {},
      },
      onFault: faultLog(log),
    })
    return { leave: () => peers.delete(peer), end: () => port2.close(), ask: () => askInFlight(watcher) }
  })
  /** The timeout ends after so many were asked, whose answers have come by then. */
  const endTimeouts = async (asked: number): Promise<void> => {
    await until(() => given === asked, 'the questions')
    await time.advance(IN_FLIGHT_TIMEOUT_MS - 1)
    await time.advance(1)
  }
  return { threads, endTimeouts }
}

const says = (id: string) => () => [inFlight(id)]
const idsOf = ({ requests }: { readonly requests: readonly InFlightView[] }) => requests.map(({ id }) => id).toSorted()

test('everybody is asked, whoever asks', async () => {
  const { threads } = stage([says('a'), says('b'), says('c')])
  for (const { ask } of threads) {
    const found = await ask()
    assert.deepEqual([idsOf(found), found.silent], [['a', 'b', 'c'], 0])
  }
})

test('several questions at once get each its own answers', async () => {
  const [first, second] = stage([says('a'), says('b')]).threads
  const asked = Array.from({ length: 10 }, (_, at) => (at % 2 === 0 ? first : second)?.ask())
  for (const one of await Promise.all(asked)) assert.deepEqual([one?.requests.length, one?.silent], [2, 0])
})

test('who does not answer in time is counted, and who has ended is not asked', async () => {
  const { endTimeouts, threads } = stage([says('a'), undefined])
  const [asker, busy] = threads
  const asked = asker?.ask()
  await endTimeouts(2)
  assert.deepEqual(await asked, { requests: [inFlight('a')], silent: 1 })
  busy?.leave()
  assert.deepEqual(await asker?.ask(), { requests: [inFlight('a')], silent: 0 })
})

test('who ends while it is asked is counted at once', async () => {
  // The time stands still: who waited for the timeout would wait for good.
  const [asker, ends] = stage([says('a'), () => new Promise(() => {})]).threads
  const asked = asker?.ask()
  ends?.end()
  assert.deepEqual(await asked, { requests: [inFlight('a')], silent: 1 })
})

test('questions that nobody answers do not pile up', async () => {
  const { endTimeouts, threads } = stage([says('a'), undefined])
  const asked = Array.from({ length: MOST_IN_FLIGHT_ASKED + 1 }, () => threads[0]?.ask())
  assert.deepEqual(await asked.at(-1), { requests: [], silent: 1 })
  await endTimeouts(2 * MOST_IN_FLIGHT_ASKED)
  const found = await Promise.all(asked)
  assert.equal(found.filter((one) => one?.requests.length === 1).length, MOST_IN_FLIGHT_ASKED)
})

test('A3: a thread whose answer cannot be sent is silent at once, says why, and answers again', async () => {
  const lines: string[] = []
  const log: Log = (level, message, details) => void lines.push(`${level} ${message} ${details?.cause}`)
  const answers: (() => unknown)[] = [() => [() => 'a secret'], says('text')]
  const { threads } = stage([() => answers.shift()?.(), says('other')], log)
  const asked = await threads[1]?.ask()
  assert.deepEqual(asked, { requests: [inFlight('other')], silent: 1 })
  assert.match(lines.join(), /^error An internal call to this thread failed DataCloneError/)
  assert.doesNotMatch(lines.join(), /secret/)
  const again = await threads[1]?.ask()
  assert.deepEqual(again && [idsOf(again), again.silent], [['other', 'text'], 0])
})
