// A primary that hands over, where its disk fails, or where several ask and take it back at the worst moments.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryView } from '../../../test/fixtures/memory-view.ts'
import { steppedTime } from '../../../test/fixtures/stepped-time.ts'
import { isHandingOver } from '../../replication/set/handing-over-note.ts'
import { putState } from '../../replication/set/records.ts'
import { Sealed } from '../../storage/errors.ts'
import type { ViewTransaction } from '../../storage/sealed-storage.ts'
import { HandingOver, LEASE_MS } from './handing-over.ts'

const STATE = { mode: 'primary', setId: 's', epoch: 1, clusterAddress: '', isFenced: false, sinceMs: 0 } as const

/** The disk is full for one commit. */
function failOnce(view: MemoryView): void {
  view.beforeCommit = () => {
    view.beforeCommit = () => {}
    throw new Error('There is no room')
  }
}

/** A device that takes its time. */
class SlowView extends MemoryView {
  ready: Promise<unknown> = Promise.resolve()

  override async transaction<T>(work: (tx: ViewTransaction) => Promise<T>): Promise<T> {
    await this.ready
    return super.transaction(work)
  }
}

async function stage() {
  const view = new SlowView()
  await view.transaction(async (tx) => putState(tx, 'dr', STATE))
  const time = steppedTime(0)
  /** The server, started anew. */
  const started = async (): Promise<HandingOver> => {
    const handingOver = new HandingOver({
      view,
      logEnd: async () => 0,
      world: time,
      log: () => {},
      changed: async () => {},
    })
    await handingOver.goOn()
    return handingOver
  }
  return { view, time, started, isOn: () => view.transaction(isHandingOver) }
}

test('after a restart nobody knows who asked before: another one that takes it back does not end that', async () => {
  const { time, started, isOn } = await stage()
  const before = await started()
  await before.begin('two')
  before.drop()
  const handingOver = await started()
  await handingOver.begin('three')
  await handingOver.end('three')
  assert.equal(await isOn(), true, 'two counts on it')
  await time.advance(LEASE_MS)
  assert.equal(await isOn(), false)
})

test('one that asks while another one takes it back is not forgotten', async () => {
  const { time, started, isOn } = await stage()
  const handingOver = await started()
  await handingOver.begin('two')
  await Promise.all([handingOver.end('two'), handingOver.begin('three')])
  assert.deepEqual([await isOn(), handingOver.isOn], [true, true])
  await time.advance(LEASE_MS - 1)
  await Promise.all([time.advance(1), handingOver.begin('two')])
  assert.deepEqual([await isOn(), handingOver.isOn], [true, true])
})

test('a device on which the note takes longer than the lease: the lease begins when it is stored', async () => {
  for (const passedMs of [LEASE_MS - 1, LEASE_MS]) {
    const { view, time, started, isOn } = await stage()
    const handingOver = await started()
    const { promise, resolve } = Promise.withResolvers<void>()
    view.ready = promise
    const begun = handingOver.begin('two')
    await time.advance(passedMs)
    view.ready = Promise.resolve()
    resolve()
    await begun
    await time.advance(LEASE_MS - 1)
    assert.deepEqual([await isOn(), handingOver.isOn], [true, true])
    await time.advance(1)
    assert.deepEqual([await isOn(), handingOver.isOn], [false, false])
  }
})

test('where the note cannot be removed, that is tried again: it would write nothing for ever', async () => {
  const { view, time, started, isOn } = await stage()
  const handingOver = await started()
  await handingOver.begin('two')
  failOnce(view)
  await time.advance(LEASE_MS)
  assert.deepEqual([await isOn(), handingOver.isOn], [true, true])
  await time.advance(LEASE_MS)
  assert.deepEqual([await isOn(), handingOver.isOn], [false, false])
})

test('a server that is sealed tries nothing', async () => {
  const { view, time, started, isOn } = await stage()
  const handingOver = await started()
  await handingOver.begin('two')
  view.beforeCommit = () => {
    throw new Sealed()
  }
  await handingOver.end('two')
  assert.deepEqual([await isOn(), handingOver.isOn, time.waiting()], [true, false, []])
})
