import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { newStore } from '../../../test/fixtures/followed-pair.ts'
import { systemScope } from '../../storage/contract.ts'
import { ProtocolFault } from '../protocol/frames.ts'
import type { Message } from '../protocol/messages.ts'
import type { SecondaryStanding } from './decision.ts'
import { LogSource } from './source.ts'
import { sourceKeeper } from './source-keeper.ts'
import { SecondaryRefused, SOURCE_LIMITS } from './source-parts.ts'

async function begun(
  standing: SecondaryStanding = {
    applied: undefined,
    isParted: false,
    transfer: undefined,
  },
) {
  const store = newStore(4)
  await store.transaction(async (tx) => tx.put(systemScope, 'root/core/rotation', Buffer.from('1')))
  const sent: Message[] = []
  const send = async (message: Message): Promise<void> => {
    sent.push(message)
  }
  const keeper = sourceKeeper(store, 'dr', 'one')
  let source: LogSource | undefined
  const served = LogSource.serve(
    {
      family: 'dr',
      store,
      keeper,
      send,
      limits: { ...SOURCE_LIMITS, holdStep: 3 },
      abandoned: [],
      followed: [],
      count: () => {},
    },
    standing,
    (made) => {
      source = made
    },
  )
  const kinds = () => sent.map(({ kind }) => kind)
  served.catch(() => {})
  await until(() => source !== undefined)
  return { store, sent, kinds, served, source: source ?? assert.fail('it was made') }
}

async function until(isSo: () => boolean): Promise<void> {
  for (let turns = 0; !isSo(); turns++) {
    assert.ok(turns < 1_000)
    await turn()
  }
}

test('a secondary that acknowledges what it was not sent is at fault', async () => {
  const { source, kinds } = await begun()
  await until(() => kinds().includes('complete'))
  assert.deepEqual(kinds(), ['course', 'piece', 'piece', 'complete'])
  source.received({ kind: 'ack', handled: 2, durable: 1 }, 0)
  const wrong = [
    { kind: 'ack', handled: 1, durable: 1 },
    { kind: 'ack', handled: 3, durable: 1 },
    { kind: 'ack', handled: 2, durable: 2 },
  ] as const
  for (const message of wrong) assert.throws(() => source.received(message, 0), ProtocolFault)
})

test('a question of another course is not answered, one of a comparison that is not running is a fault', async () => {
  const { source, kinds, served } = await begun()
  await until(() => kinds().includes('complete'))
  for (const course of [0, 2]) source.received({ kind: 'roots', course, scopes: [] }, 0)
  source.tellRoot()
  await until(() => kinds().filter((kind) => kind === 'complete').length === 2)
  assert.equal(kinds().includes('pages'), false)
  source.received({ kind: 'roots', course: 1, scopes: [] }, 0)
  await assert.rejects(served, ProtocolFault)
})

test('a secondary may have eight questions waiting, and no more', async () => {
  const { source } = await begun()
  for (let count = 0; count < 8; count++) source.received({ kind: 'root-wanted', course: 1 }, 0)
  assert.throws(() => source.received({ kind: 'root-wanted', course: 1 }, 0), ProtocolFault)
})

test('questions of a secondary that wait have 32 MiB, and one more', async () => {
  const { source } = await begun()
  const ask = (bytes: number): void => source.received({ kind: 'values-wanted', course: 1, keys: [] }, bytes)
  for (const bytes of [16, 16, 80]) ask(bytes * 1024 * 1024)
  assert.throws(() => ask(1), /more than 33554432 bytes/)
})

test('a secondary of a stranger is refused, with nothing sent', async () => {
  const applied = { historyId: Buffer.alloc(16, 1), index: 1, chain: Buffer.alloc(16, 2) }
  const store = newStore(4)
  const keeper = sourceKeeper(store, 'dr', 'one')
  const send = () => assert.fail('nothing is sent')
  const parts = {
    family: 'dr',
    store,
    keeper,
    send,
    limits: SOURCE_LIMITS,
    abandoned: [],
    followed: [],
    count: () => {},
  } as const
  const served = LogSource.serve(parts, { applied, isParted: false, transfer: undefined }, () => {})
  await assert.rejects(served, (cause) => cause instanceof SecondaryRefused && cause.code === 'other-set')
})

test('the log is held behind what the secondary has, and one hold at a time is asked for', async () => {
  const { store, source, kinds } = await begun()
  await until(() => kinds().includes('complete'))
  const held = async () => (await store.retained()).holds.map(({ kind, from }) => [kind, from])
  for (let turns = 0; turns < 20; turns++) await turn()
  assert.deepEqual(await held(), [['secondary', 1]])
  for (let count = 0; count < 5; count++) {
    await store.transaction(async (tx) => tx.put(systemScope, 'root/core/rotation', Buffer.from(`${count}`)))
  }
  await until(() => kinds().filter((kind) => kind === 'run').length > 0 && source.sentIndex === 6)
  assert.deepEqual(await held(), [['secondary', 1]], 'what is sent may be lost on its way')
  source.received({ kind: 'ack', handled: 3, durable: 4 }, 0)
  source.received({ kind: 'ack', handled: 4, durable: 3 }, 0)
  for (let turns = 0; turns < 20; turns++) await turn()
  assert.deepEqual(await held(), [['secondary', 4]])
  source.received({ kind: 'ack', handled: 5, durable: 5 }, 0)
  for (let turns = 0; turns < 20; turns++) await turn()
  assert.deepEqual(await held(), [['secondary', 4]], 'a move is a durable write, and has its step')
  source.tellRoot()
  for (let turns = 0; turns < 20; turns++) await turn()
  assert.deepEqual(await held(), [['secondary', 5]], 'and follows now and then')
})

test('no more is under way than the window and one message', async () => {
  const store = newStore(4)
  for (let count = 0; count < 50; count++) {
    const value = Buffer.alloc(1_000, count)
    await store.transaction(async (tx) => tx.put(systemScope, `root/sys/policy/p-${count}`, value))
  }
  const limits = { fullBytes: 2_000, windowBytes: 5_000, keysListed: 5, holdStep: 1 }
  const keeper = sourceKeeper(store, 'dr', 'one')
  const made: LogSource[] = []
  let [handled, underWay, most] = [0, 0, 0]
  const kinds: Message['kind'][] = []
  const send = async (message: Message): Promise<void> => {
    kinds.push(message.kind)
    if (message.kind === 'values' || message.kind === 'piece') underWay++
    most = Math.max(most, underWay)
  }
  const parts = { family: 'dr', store, keeper, send, limits, abandoned: [], followed: [], count: () => {} } as const
  LogSource.serve(parts, { applied: undefined, isParted: false, transfer: undefined }, (one) => made.push(one)).catch(
    () => {},
  )
  const keys = Array.from({ length: 50 }, (_, count) => `root/sys/policy/p-${count}`)
  await until(() => underWay === 3)
  const [source] = made
  source?.received({ kind: 'values-wanted', course: 1, keys }, 0)
  for (let turns = 0; turns < 3_000 && kinds.filter((kind) => kind === 'values').length < 25; turns++) {
    await turn()
    if (turns % 10 !== 0 || underWay === 0) continue
    underWay--
    source?.received({ kind: 'ack', handled: ++handled, durable: 1 }, 0)
  }
  assert.equal(kinds.filter((kind) => kind === 'values').length, 25)
  assert.ok(most <= 4, `${most} messages of 2,000 bytes`)
})

test('a copy names no key of an entry that is not for the secondary, not even as its place', async () => {
  const store = newStore(5)
  const keys = ['core/rotation', 'core/reload/a', 'sys/policy/a', 'sys/token/a', 'core/version/a']
  for (const key of keys) await store.transaction(async (tx) => tx.put(systemScope, `root/${key}`, Buffer.from('1')))
  const sent: Message[] = []
  const send = async (message: Message): Promise<void> => {
    sent.push(message)
  }
  const keeper = sourceKeeper(store, 'performance', 'one')
  const parts = {
    family: 'performance',
    store,
    keeper,
    send,
    limits: { ...SOURCE_LIMITS, fullBytes: 1 },
    abandoned: [],
    followed: [],
    count: () => {},
  } as const
  const standing = { applied: undefined, isParted: false, transfer: undefined }
  LogSource.serve(parts, standing, () => {}).catch(() => {})
  await until(() => sent.at(-1)?.kind === 'complete')
  const pieces = sent.filter((message) => message.kind === 'piece')
  const places = pieces.map(({ after, upTo }) => [after, upTo])
  const [first, second] = ['root/core/rotation', 'root/sys/policy/a']
  assert.deepEqual(places, [
    ['', first],
    [first, second],
    [second, undefined],
  ])
})
