// A thread that joins while the store is being replaced: it waits, and what was lent is given back before it is said.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { startMemoryServer } from '../../test/fixtures/memory-server.ts'
import { until } from '../../test/fixtures/until.ts'
import { FOLLOWS_NONE } from '../api/node-role.ts'
import type { SealState } from '../assembly/seal-state.ts'
import { realWorld } from '../lib/world.ts'
import type { ReadStore } from '../storage/contract.ts'
import { StorageClosed } from '../storage/errors.ts'
import { createMemoryStore } from '../storage/memory-store.ts'
import { ReplaceableReader } from '../storage/replaceable-store.ts'
import { ServingLinks } from '../threads/serving-links.ts'
import { WriterLink, type WriterService } from '../threads/writer-link.ts'
import { ServingState } from './serving-state.ts'

/** Resolves when all that waits only for promises and messages within this thread has arrived; no clock decides it. */
const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate)
}

const SERVICE: WriterService = {
  handle: async () => ({ status: 200, body: undefined }),
  answer: async () => undefined,
  log: () => {},
}

/** A link whose news are taken over by `state`, in the order in which they come. */
function linked(port: MessagePort, state: ServingState): Promise<void>[] {
  const taken: Promise<void>[] = []
  const take = (news: SealState): Promise<void> => {
    const done = state.take(news)
    taken.push(done)
    return done
  }
  new WriterLink<SealState>(port, take, () => {})
  return taken
}

/** A serving thread without its thread: it says what it does with the store. */
function stage(options: { readonly opening?: Promise<void>; readonly fails?: () => boolean } = {}) {
  const did: string[] = []
  const store = new ReplaceableReader()
  const { random, clock } = realWorld()
  const openStore = async (): Promise<ReadStore> => {
    did.push('open')
    await options.opening
    if (options.fails?.() === true) throw new Error('no store')
    const opened = createMemoryStore({ random, clock })
    return Object.assign(Object.create(opened) as ReadStore, {
      close: async () => {
        did.push('close')
      },
      lastIndex: async () => 0,
    })
  }
  const state = new ServingState({
    store,
    gate: { open: async () => void did.push('unsealed'), close: () => void did.push('sealed') },
    openStore,
    onStore: async () => void did.push('follow'),
    onLost: () => did.push('lost'),
  })
  return { did, store, state }
}

async function sealedStatus() {
  const { node } = await startMemoryServer({ shares: 0 })
  return node.seal.status()
}

test('a thread that joins while the store is away opens it only when it is back', async (context) => {
  const status = await sealedStatus()
  let place: 'attached' | 'detached' = 'detached'
  const links = new ServingLinks<SealState>(SERVICE, () => ({
    status,
    role: FOLLOWS_NONE,
    keyring: undefined,
    store: place,
  }))
  const { port1, port2 } = new MessageChannel()
  context.after(() => port1.close())
  const { did, store, state } = stage()
  const taken = linked(port1, state)
  let isReady = false
  void state.ready.then(() => {
    isReady = true
  })
  links.add(port2)
  await until(() => taken.length === 1, 'the thread is told')
  await taken[0]
  await settle()
  assert.deepEqual([did, isReady], [['sealed'], false])
  await assert.rejects(store.lastIndex(), StorageClosed)
  place = 'attached'
  await links.tell({ status, role: FOLLOWS_NONE, keyring: undefined, store: place })
  await state.ready
  assert.deepEqual(did, ['sealed', 'open', 'follow', 'sealed'])
  assert.equal(await store.lastIndex(), 0)
})

test('a store that is just being opened when it is wanted back is closed before that is confirmed', async (context) => {
  const status = await sealedStatus()
  const { promise: opening, resolve } = Promise.withResolvers<void>()
  const { did, state } = stage({ opening })
  const links = new ServingLinks<SealState>(SERVICE, () => ({
    status,
    role: FOLLOWS_NONE,
    keyring: undefined,
    store: 'attached',
  }))
  const { port1, port2 } = new MessageChannel()
  context.after(() => port1.close())
  const taken = linked(port1, state)
  links.add(port2)
  let isConfirmed = false
  const away = links.tell({ status, role: FOLLOWS_NONE, keyring: undefined, store: 'detached' }).then(() => {
    isConfirmed = true
  })
  await until(() => taken.length === 2, 'the thread is told that it is wanted back')
  await settle()
  assert.deepEqual([did, isConfirmed], [['open'], false])
  resolve()
  await away
  assert.deepEqual(did, ['open', 'follow', 'sealed', 'close', 'sealed'])
})

test('the first store that does not open fails the start; a later one ends the thread', async () => {
  const status = await sealedStatus()
  const first = stage({ fails: () => true })
  await assert.rejects(
    first.state.take({ status, role: FOLLOWS_NONE, keyring: undefined, store: 'attached' }),
    /no store/,
  )
  await assert.rejects(first.state.ready, /no store/)
  let fails = false
  const later = stage({ fails: () => fails })
  await later.state.take({ status, role: FOLLOWS_NONE, keyring: undefined, store: 'attached' })
  fails = true
  await assert.rejects(
    later.state.take({ status, role: FOLLOWS_NONE, keyring: undefined, store: 'attached' }),
    /no store/,
  )
  assert.equal(later.did.at(-1), 'lost')
})
