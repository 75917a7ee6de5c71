import assert from 'node:assert/strict'
import { test } from 'node:test'
import { JobForgotten, Overloaded } from '../lib/slow-work.ts'
import type { Timers } from '../lib/world.ts'
import { DeviceLink } from './device-link.ts'
import { type DevicePort, type DeviceProcess, DeviceQueue } from './device-queue.ts'
import type { DeviceOrder, FromDevices, ToDevices } from './orders.ts'

const random = (count: number): DeviceOrder => ({ do: 'random', library: 'hsm', count })

/** Two ends that hand messages over in the next microtask. */
function ports(): [DevicePort, DevicePort] {
  const listeners = [newEnd(), newEnd()]
  const end = (own: number): DevicePort => ({
    postMessage: (message) =>
      queueMicrotask(() => {
        for (const hear of listeners[1 - own]?.message ?? []) hear(structuredClone(message))
      }),
    on: (event, listener) => listeners[own]?.[event].push(listener),
    close: () => {
      for (const one of listeners) for (const hear of one.close) hear(undefined)
    },
  })
  return [end(0), end(1)]
}
const newEnd = (): Record<'message' | 'close', ((message: unknown) => void)[]> => ({ message: [], close: [] })

class FakeProcess implements DeviceProcess {
  readonly sent: ToDevices[] = []
  readonly ends: string[] = []
  tell: (message: FromDevices) => void = () => {}
  die: (reason: string) => void = () => {}
  send(message: ToDevices): void {
    this.sent.push(message)
  }
  async end(how: 'politely' | 'now'): Promise<void> {
    this.ends.push(how)
  }
  readonly onMessage = (listener: (message: FromDevices) => void): void => {
    this.tell = listener
  }
  readonly onEnd = (listener: (reason: string) => void): void => {
    this.die = listener
  }
  /** Numbers of the orders that the process got. */
  get orders(): readonly number[] {
    return this.sent.flatMap((message) => (message.kind === 'order' ? [message.id] : []))
  }
}

function newQueue() {
  const started: FakeProcess[] = []
  const due: (() => void)[] = []
  const timers: Timers = {
    after: (_ms, work) => {
      due.push(work)
      return { cancel: () => due.splice(due.indexOf(work), 1) }
    },
    sleep: async () => {},
  }
  const queue = new DeviceQueue({
    libraries: { hsm: '/lib/hsm.so' },
    start: () => {
      const one = new FakeProcess()
      started.push(one)
      return one
    },
    timers,
    pinSalt: '00',
    log: () => {},
  })
  const join = (): DeviceLink => {
    const [own, theirs] = ports()
    queue.addThread(own)
    return new DeviceLink(theirs, ['hsm'])
  }
  return { queue, started, due, join }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const bytes = (id: number): FromDevices => ({ kind: 'outcome', id, outcome: { bytes: new Uint8Array([id]) } })

test('orders go to one process one by one, in their order, each answered to who asked', async () => {
  const { started, join } = newQueue()
  const [first, second] = [join(), join()]
  const asked = [first.ask(random(1)), second.ask(random(2)), first.ask(random(3))]
  await turn()
  assert.equal(started.length, 1)
  const [process] = started
  assert.deepEqual(process?.sent[0], {
    kind: 'begin',
    libraries: { hsm: '/lib/hsm.so' },
    pinSalt: '00',
    refusedPins: [],
  })
  for (const id of [1, 2, 3]) {
    assert.deepEqual(process?.orders.at(-1), id, 'no further order before the answer')
    process?.tell(bytes(id))
    await turn()
  }
  assert.deepEqual(
    await Promise.all(asked),
    [1, 2, 3].map((id) => ({ bytes: new Uint8Array([id]) })),
  )
})

test('no process is started before the first order', () => {
  const { started, join } = newQueue()
  join().forgive()
  assert.equal(started.length, 0)
})

test('a device that does not answer is ended, its caller told, and the next order has another process', async () => {
  const { started, due, join } = newQueue()
  const link = join()
  const asked = [link.ask(random(1)), link.ask(random(2))]
  await turn()
  due[0]?.()
  assert.deepEqual(await asked[0], { fault: 'failed', detail: 'the device did not answer in time' })
  assert.deepEqual(started[0]?.ends, ['now'])
  await turn()
  started[0]?.tell(bytes(1))
  started[1]?.tell(bytes(2))
  assert.deepEqual(await asked[1], { bytes: new Uint8Array([2]) })
})

test('a process that ends fails what it did, and nothing else', async () => {
  const { started, join } = newQueue()
  const link = join()
  const asked = [link.ask(random(1)), link.ask(random(2))]
  await turn()
  started[0]?.die('SIGSEGV')
  assert.deepEqual(await asked[0], { fault: 'failed', detail: 'the process of the devices ended' })
  await turn()
  started[1]?.tell(bytes(2))
  assert.deepEqual(await asked[1], { bytes: new Uint8Array([2]) })
})

test('what was refused of PINs is told to the next process, until an operator writes one', async () => {
  const { started, join } = newQueue()
  const link = join()
  const asked = link.ask(random(1))
  await turn()
  started[0]?.tell({ kind: 'pin-refused', tag: 'abc' })
  started[0]?.die('SIGKILL')
  await asked
  void link.ask(random(1))
  await turn()
  const [begin] = started[1]?.sent ?? []
  assert.deepEqual(begin?.kind === 'begin' && begin.refusedPins, ['abc'])
  link.forgive()
  await turn()
  assert.deepEqual(started[1]?.sent.at(-1), { kind: 'forgive' })
})

test('at seal what waits is forgotten, the process is let end, and only then is it confirmed', async () => {
  const { started, join } = newQueue()
  const link = join()
  const asked = [link.ask(random(1)), link.ask(random(2))]
  await turn()
  let release = (): void => {}
  const process = started[0] as FakeProcess
  process.end = (how) => {
    process.ends.push(how)
    return new Promise((resolve) => {
      release = resolve
    })
  }
  let isDone = false
  const forgotten = link.forget().then(() => {
    isDone = true
  })
  for (const one of asked) await assert.rejects(one, JobForgotten)
  await turn()
  assert.deepEqual([process.ends, isDone], [['politely'], false])
  release()
  await forgotten
})

test('more than may wait is refused at once', async () => {
  const { join } = newQueue()
  const link = join()
  const asked = Array.from({ length: 402 }, () => link.ask(random(1)))
  const last = asked.at(-1)
  await assert.rejects(last as Promise<unknown>, Overloaded)
})

test('a thread that is gone leaves no orders behind', async () => {
  const { queue, started, join } = newQueue()
  const [first, second] = [join(), join()]
  const [own, theirs] = ports()
  queue.addThread(own)
  const dying = new DeviceLink(theirs, ['hsm'])
  void first.ask(random(1))
  await turn()
  const lost = dying.ask(random(2))
  await turn()
  theirs.close?.()
  assert.deepEqual(await lost, { fault: 'failed', detail: 'the process of the devices ended' })
  const asked = second.ask(random(3))
  await turn()
  started[0]?.tell(bytes(1))
  await turn()
  assert.deepEqual(started[0]?.orders, [1, 2])
  started[0]?.tell(bytes(2))
  assert.deepEqual(await asked, { bytes: new Uint8Array([2]) })
})
