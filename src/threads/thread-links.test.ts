// Both ends over a port, in one thread: what the one says arrives at the other, however often the thread is replaced.
import assert from 'node:assert/strict'
import { createSecretKey, KeyObject } from 'node:crypto'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { steppedTime } from '../../test/fixtures/stepped-time.ts'
import { fail, Refusal } from '../api/errors.ts'
import type { LinkIdentity } from '../lib/links.ts'
import type { Arrival, Knock, LinkControl, LinkOwner, LinkState } from '../replication/link/link-sides.ts'
import { ProtocolFault } from '../replication/protocol/frames.ts'
import type { SinkBatch } from '../replication/sink/sink-parts.ts'
import { StorageFull } from '../storage/errors.ts'
import { NO_LINKS } from './late-links.ts'
import { STATUS_DEADLINE_MS, type StorePresence } from './link-calls.ts'
import { connectOwner } from './owner-link.ts'
import { ThreadLinks } from './thread-links.ts'

const buffer = (text: string): Buffer => Buffer.from(text)
const SET = { setId: '00000000-0000-4000-8000-000000000000', family: 'dr' } as const
const KEY = createSecretKey(Buffer.alloc(32, 7))
const newIdentity = (name: string): LinkIdentity => ({
  key: KEY,
  certificate: buffer(name),
  trusted: [buffer('authority')],
})
const FACTS = { version: '1.0.0', clusterId: 'c', clusterAddresses: ['https://n:8201'], apiAddress: 'https://n:8200' }
const stateOf = (identity: LinkIdentity): LinkState => ({
  facts: FACTS,
  listenAt: [{ host: '127.0.0.1', port: 8201 }],
  parts: [{ role: 'primary', set: SET, identity }],
})
const STATE = stateOf(newIdentity('leaf'))
const KNOCK: Knock = {
  set: SET,
  id: 'a',
  identity: newIdentity('knocks'),
  address: 'https://primary:8201',
  facts: FACTS,
  nonce: buffer('nonce'),
  receiver: buffer('receiver'),
  what: 'claim',
}
const ARRIVAL: Arrival = { set: SET, id: 'a', certificate: buffer('leaf of a') }
const PLACE = { historyId: buffer('history'), index: 9, chain: buffer('chain') }
const PAGES = [{ class: 'replicated', scope: 'root/system', page: 3, digests: buffer('digests') }] as const
const KEYS = [{ key: 'root/a', class: 'replicated', leaf: buffer('leaf') }] as const
const BUCKETS = [{ class: 'replicated', scope: 'root/system', page: 3, place: 4 }] as const
const BATCH: SinkBatch = {
  mode: 'redo',
  after: PLACE,
  records: [{ historyId: buffer('history'), record: buffer('record') }],
  at: PLACE,
  state: { entries: [{ key: 'k', value: buffer('v') } as never], gone: ['x'] },
  transfer: undefined,
}

type Spoken<S> = { readonly [N in keyof S]: S[N] extends (...input: infer I) => infer O ? [I, Awaited<O>] : never }

/** What the link thread asks, and what it is answered. */
const ASKED: Spoken<LinkOwner> = {
  admit: [
    [ARRIVAL, buffer('receiver'), 1, 'cluster'],
    { epoch: 2, histories: [{ id: buffer('h') } as never], abandoned: ['01'], followed: [] },
  ],
  claim: [
    [ARRIVAL, { nonce: buffer('n'), receiver: buffer('r'), isLook: false }],
    { seal: buffer('s'), keyring: buffer('k'), leafKey: buffer('l'), epoch: 2 },
  ],
  confirm: [[ARRIVAL, { nonce: buffer('n'), receiver: buffer('r') }], 'confirmed'],
  renew: [[ARRIVAL, buffer('spki')], { certificate: buffer('new'), trusted: [buffer('old'), buffer('newer')] }],
  trustFor: [[ARRIVAL], [buffer('ca'), buffer('next ca')]],
  trusts: [[ARRIVAL, [buffer('print'), buffer('next print')]], undefined],
  note: [[ARRIVAL, { acknowledged: undefined, addresses: ['https://a:8201'], api: '' }], undefined],
  sealFor: [[ARRIVAL, { key: buffer('key'), sealId: 'three' }], buffer('sealed')],
  hold: [[ARRIVAL, { kind: 'copy', from: 7 }], undefined],
  tree: [[], { index: 5, pages: PAGES }],
  keysIn: [[BUCKETS], { index: 5, keys: KEYS }],
  reachOf: [
    [ARRIVAL],
    { index: 5, reach: { mounts: new Set(['m']), namespaces: new Map([['root', '']]), lacksNothing: false } },
  ],
  root: [['dr', undefined], { index: 5, root: buffer('root') }],
  handed: [[ARRIVAL, 'carryOut', buffer('asked')], buffer('answered')],
  differs: [[ARRIVAL], undefined],
  reached: [
    [
      [
        ['site-b', 7, 'two'],
        ['site-c', undefined, 'one'],
      ],
    ],
    undefined,
  ],
  standing: [
    ['dr'],
    { epoch: 1, histories: [], receiver: buffer('r'), sealId: 'one', instance: 0, reach: undefined } as never,
  ],
  shown: [['performance'], { receiver: buffer('r'), instance: 1 }],
  unconfirmed: [['performance'], { nonce: buffer('n'), receiver: buffer('r') }],
  confirmed: [['dr', buffer('n')], undefined],
  primaryIsAt: [['dr', ['https://p:8201'], 'https://p:8200'], undefined],
  renewed: [['dr', { certificate: buffer('c'), key: buffer('k'), trusted: [buffer('t')] }], undefined],
  trustCame: [['dr', [buffer('ca'), buffer('next ca')]], undefined],
  sealCame: [['dr', buffer('sealed'), 'one'], 'two'],
  take: [['dr', BATCH], { kind: 'adopted', index: 12 }],
  ownTree: [[], PAGES],
  ownKeysIn: [[BUCKETS], KEYS],
  ownReach: [['performance'], { mounts: new Set(['m']), namespaces: new Map([['root', '']]), lacksNothing: true }],
  ownRoot: [['dr'], buffer('root')],
  drain: [[ARRIVAL], { grantsNothing: true }],
  resume: [[ARRIVAL], undefined],
  tookOver: [
    [
      ARRIVAL,
      {
        epoch: 2,
        historyId: buffer('h'),
        receiver: buffer('r'),
        followed: { historyId: buffer('f'), index: 3, chain: buffer('c') },
        before: [buffer('b')],
        clusterId: 'c',
        apiAddress: '',
      },
    ],
    'fenced',
  ],
  takeoverKnown: [['dr', { logsOf: [buffer('h')] }], undefined],
  conflict: [['dr', buffer('h'), 'Another one'], undefined],
  mend: [['dr'], undefined],
}

/** What the writing thread says, and what it is answered. */
const SAID: Spoken<
  Pick<
    LinkControl,
    'play' | 'disconnect' | 'recover' | 'compareAgain' | 'knock' | 'handOver' | 'takeBack' | 'ask' | 'status'
  >
> = {
  play: [[STATE], undefined],
  disconnect: [['dr', 'a'], undefined],
  recover: [['performance'], undefined],
  compareAgain: [['dr'], undefined],
  knock: [
    [KNOCK],
    {
      kind: 'package',
      package: { seal: buffer('s'), keyring: buffer('k'), leafKey: buffer('l'), epoch: 1 },
      clockSkewMs: 3,
    },
  ],
  handOver: [['dr', 5_000], { kind: 'drained', grantsNothing: true }],
  takeBack: [['dr'], undefined],
  ask: [['carryOut', buffer('asked')], { kind: 'answer', body: buffer('answered') }],
  status: [[], { ...NO_LINKS, ports: [8201], faults: ['a fault'] }],
}

type Heard = { readonly verb: string; readonly input: readonly unknown[] }

/** A side that notes what it is asked, and answers from the table unless it is told how. */
function sideOf<S>(table: object, given: Partial<S>) {
  const heard: Heard[] = []
  const verbs = Object.entries(table as Readonly<Record<string, [unknown, unknown]>>).map(([verb, [, answer]]) => [
    verb,
    async (...input: unknown[]) => {
      heard.push({ verb, input })
      return answer
    },
  ])
  return { heard, side: { ...Object.fromEntries(verbs), ...given } as S }
}

type Thread = {
  readonly owner: LinkOwner
  /** What was asked of it. */
  readonly heard: Heard[]
  readonly stores: StorePresence[]
  /** What the thread handed over, of each message. */
  readonly moved: number[]
  /** The thread ends; resolves when the other end can know. */
  die(): Promise<void>
}

function stage(context: TestContext, given: Partial<LinkOwner> = {}) {
  const time = steppedTime(0)
  const faults: string[] = []
  const log = (_level: string, _message: string, fields: object = {}) => void faults.push(JSON.stringify(fields))
  const { heard, side } = sideOf<LinkOwner>(ASKED, given)
  const links = new ThreadLinks({ owner: () => side, timers: time.timers, log })
  const open: MessagePort[] = []
  context.after(() => {
    for (const port of open) port.close()
  })
  const start = (control: Partial<LinkControl> = {}): Thread => {
    const { port1, port2 } = new MessageChannel()
    open.push(port1, port2)
    const own = sideOf<LinkControl>(SAID, {
      sealChanged: (sealId) => void own.heard.push({ verb: 'sealChanged', input: [sealId] }),
      ...control,
    })
    const stores: StorePresence[] = []
    const moved: number[] = []
    const post = port2.postMessage.bind(port2) as (message: unknown, moves: readonly unknown[]) => void
    Object.assign(port2, {
      postMessage: (message: unknown, moves: readonly ArrayBuffer[]) => {
        moved.push(moves.reduce((sum, { byteLength }) => sum + byteLength, 0))
        post(message, moves)
      },
    })
    const takeStore = async (presence: StorePresence) => void stores.push(presence)
    const owner = connectOwner(port2, { control: own.side, takeStore, log })
    links.join(port1)
    const die = async (): Promise<void> => {
      const gone = once(port1, 'close')
      port2.close()
      await gone
    }
    return { owner, heard: own.heard, stores, moved, die }
  }
  return { links, start, heard, faults, time }
}

/** Compares kinds of bytes too: deepEqual takes any view for a buffer only if it is one. */
const same = (actual: unknown, expected: unknown): void => assert.deepStrictEqual(actual, expected)

test('each verb of the owner is asked as it was, and answers what it returned, bytes as buffers', async (context) => {
  const { start, heard } = stage(context)
  const { owner } = start()
  for (const [verb, [input, answer]] of Object.entries(ASKED)) {
    const given = structuredClone(input)
    const asked = (owner as unknown as Record<string, (...input: unknown[]) => Promise<unknown>>)[verb]
    // The key of a leaf is wiped where it came from.
    const own = { certificate: buffer('c'), key: buffer('k'), trusted: [buffer('t')] }
    same(await asked?.(...(verb === 'renewed' ? ['dr', own] : input)), answer)
    const last = heard.at(-1)
    assert.equal(last?.verb, verb)
    assert.equal(last?.input.length, given.length)
    same(last?.input, input)
  }
})

test('each verb of the links likewise, and keys pass', async (context) => {
  const { links, start } = stage(context)
  const { heard } = start()
  for (const [verb, [input, answer]] of Object.entries(SAID)) {
    const asked = (links as unknown as Record<string, (...input: unknown[]) => Promise<unknown>>)[verb]
    same(await asked?.call(links, ...input), answer)
    const last = heard.at(-1) ?? assert.fail()
    assert.equal(last.verb, verb)
    if (verb === 'play' || verb === 'knock') {
      const identity =
        verb === 'play' ? (last.input[0] as LinkState).parts[0]?.identity : (last.input[0] as Knock).identity
      assert.ok(identity?.key instanceof KeyObject && identity.key.equals(KEY))
      assert.ok(Buffer.isBuffer(identity.certificate) && Buffer.isBuffer(identity.trusted[0]))
    } else same(last.input, input)
  }
  links.sealChanged('one')
  await links.status()
  assert.deepEqual(
    heard.slice(-2).map(({ verb, input }) => [verb, ...input]),
    [['sealChanged', 'one'], ['status']],
  )
})

test('a large batch is moved in one piece, and what it was cut from stays whole', async (context) => {
  const message = Buffer.alloc(4 << 20, 5)
  const records = Array.from({ length: 64 }, (_, at) => ({
    historyId: message.subarray(0, 16),
    record: message.subarray(16 + at * 60_000, 16 + (at + 1) * 60_000),
  }))
  const { start, heard } = stage(context)
  const { owner, moved } = start()
  await owner.take('dr', { ...BATCH, records })
  const taken = heard.at(-1)?.input[1] as SinkBatch
  const memories = new Set(taken.records.flatMap(({ historyId, record }) => [historyId.buffer, record.buffer]))
  assert.equal(memories.size, 1, 'all are views of what was moved')
  assert.equal(Math.max(...moved), [...memories][0]?.byteLength, 'and all of it was moved')
  same(taken.records, records)
  assert.equal(message.byteLength, 4 << 20)
})

test('the key of a renewed leaf is wiped where it came from', async (context) => {
  const { start, heard } = stage(context)
  const { owner } = start()
  const leaf = { certificate: buffer('c'), key: buffer('secret'), trusted: [] }
  const renewed = owner.renewed('dr', leaf)
  same(leaf.key, Buffer.alloc(6))
  await renewed
  same(heard.at(-1)?.input, ['dr', { certificate: buffer('c'), key: buffer('secret'), trusted: [] }])
})

test('what the other end decides by is thrown as it was; of a defect only the name is told', async (context) => {
  const thrown = [
    new StorageFull('no space'),
    new ProtocolFault('version', 'newer'),
    fail('changed_meanwhile', ['x']),
    new RangeError('a secret'),
  ]
  let next = 0
  const { start, faults } = stage(context, {
    take: async () => {
      throw thrown[next++]
    },
  })
  const { owner } = start()
  const take = () => owner.take('dr', BATCH)
  await assert.rejects(take, (cause) => cause instanceof StorageFull && cause.message === 'no space')
  await assert.rejects(take, (cause) => cause instanceof ProtocolFault && cause.reason === 'version')
  await assert.rejects(take, (cause) => cause instanceof Refusal && cause.code === 'changed_meanwhile')
  assert.equal(faults.length, 0)
  await assert.rejects(take, { name: 'CallFailed, for RangeError' })
  assert.equal(faults.length, 1)
  assert.ok(!faults[0]?.includes('secret'))
})

test('a leaf that has not changed is the same object in each state', async (context) => {
  const { links, start } = stage(context)
  const { heard } = start()
  await links.play(STATE)
  await links.play(stateOf(newIdentity('leaf')))
  await links.play(stateOf(newIdentity('another')))
  const [first, second, third] = heard.map(({ input }) => (input[0] as LinkState).parts[0]?.identity)
  assert.equal(first, second)
  assert.notEqual(second, third)
})

test('before its thread is there, a state is taken at once, and told to it first of all', async (context) => {
  const { links, start } = stage(context)
  await links.play(STATE)
  await links.disconnect('dr', 'a')
  assert.equal(await links.status(), NO_LINKS)
  assert.equal((await links.knock(KNOCK)).kind, 'no-link')
  const { heard, stores } = start()
  await links.status()
  assert.deepEqual(stores, ['attached'])
  assert.deepEqual(
    heard.map(({ verb }) => verb),
    ['play', 'status'],
  )
})

test('a thread that is not there when the store is put away hears of that when it comes', async (context) => {
  const { links, start } = stage(context)
  const first = start()
  await links.tellStore('detached')
  assert.deepEqual(first.stores, ['attached', 'detached'])
  await first.die()
  const second = start()
  await links.status()
  assert.deepEqual(second.stores, ['detached'])
  await links.tellStore('attached')
  assert.deepEqual(second.stores, ['detached', 'attached'])
})

test('after its thread has died nothing is linked, and a state waits for the next thread', async (context) => {
  const { links, start } = stage(context)
  await start().die()
  assert.deepEqual(await links.status(), { ...NO_LINKS, isSilent: true })
  links.sealChanged('one')
  await links.tellStore('attached')
  const knocked = await links.knock(KNOCK)
  assert.ok(knocked.kind === 'no-link' && knocked.reason === 'unreachable')
  assert.match(knocked.sentence, /https:\/\/primary:8201/)
  const order: string[] = []
  const played = links.play(STATE).then(() => order.push('played'))
  const cut = links.disconnect('dr', 'a').then(() => order.push('cut off'))
  await new Promise(setImmediate)
  assert.deepEqual(order, [])
  const { heard } = start()
  await Promise.all([played, cut])
  assert.ok(heard.every(({ verb }) => verb === 'play' || verb === 'disconnect'))
  assert.equal(heard[0]?.verb, 'play')
})

test('calls that are under way when their thread dies go to the next, with the state of then', async (context) => {
  const { links, start } = stage(context)
  const never = () => new Promise<never>(() => {})
  const first = start({ play: never, knock: never, status: never })
  const played = links.play(STATE)
  const [knocked, status] = [links.knock(KNOCK), links.status()]
  await first.die()
  assert.deepEqual(await status, { ...NO_LINKS, isSilent: true })
  const answer = await knocked
  assert.ok(answer.kind === 'no-link' && answer.reason === 'cut')
  const again = links.play(stateOf(newIdentity('another')))
  const { heard } = start()
  await Promise.all([played, again])
  for (const { input } of heard) same((input[0] as LinkState).parts[0]?.identity.certificate, buffer('another'))
})

test('a thread that dies while it is told is like one that was never there', async (context) => {
  const { links, start, faults } = stage(context)
  await links.play(STATE)
  const first = start({ play: () => new Promise<never>(() => {}) })
  const told = links.tellStore('detached')
  const played = links.play(STATE)
  await first.die()
  await told
  const { heard, stores } = start()
  await played
  assert.equal(heard[0]?.verb, 'play')
  assert.deepEqual(stores, ['detached'])
  assert.deepEqual(faults, [])
})

test('once no thread will come any more, nothing waits for one', async (context) => {
  const { links, start } = stage(context)
  await start().die()
  const played = links.play(STATE)
  links.end()
  await played
  await links.disconnect('dr', 'a')
})

test('a failure of the thread is one of the state that was played', async (context) => {
  const { links, start, faults } = stage(context)
  start({
    play: async () => {
      throw new TypeError('a defect')
    },
  })
  await assert.rejects(links.play(STATE), { name: 'CallFailed, for TypeError' })
  assert.equal(faults.length, 1)
})

test('a thread that does not say what it does in time is told of in status', async (context) => {
  const { links, start, time } = stage(context)
  start({ status: () => new Promise<never>(() => {}) })
  const status = links.status()
  await time.advance(STATUS_DEADLINE_MS)
  assert.deepEqual(await status, { ...NO_LINKS, isSilent: true })
})

test('without an owner, what the thread asks fails', async (context) => {
  const { port1, port2 } = new MessageChannel()
  context.after(() => port1.close())
  const links = new ThreadLinks({ owner: () => undefined, timers: steppedTime(0).timers, log: () => {} })
  links.join(port1)
  const { side } = sideOf<LinkControl>(SAID, {})
  const owner = connectOwner(port2, { control: side, takeStore: async () => {}, log: () => {} })
  await assert.rejects(owner.tree(), { name: 'CallFailed, for Unreachable' })
})

test('a question is not asked without a thread, and has no answer from one that ends', async (context) => {
  const { links, start } = stage(context)
  same(await links.ask('carryOut', buffer('body')), { kind: 'no-link' })
  const asked = Promise.withResolvers<void>()
  const first = start({
    ask: () => {
      asked.resolve()
      return new Promise(() => {})
    },
  })
  const waiting = links.ask('carryOut', buffer('body'))
  await asked.promise
  await first.die()
  same(await waiting, { kind: 'silent' })
  same(await links.ask('carryOut', buffer('body')), { kind: 'no-link' })
  start()
  same(await links.ask('carryOut', buffer('body')), { kind: 'answer', body: buffer('answered') })
})

test('the bytes of a question and of its answer are moved, not cloned', async (context) => {
  const body = Buffer.alloc(4 << 20, 7)
  const { links, start } = stage(context)
  const { moved, heard } = start({ ask: async (_call, came) => ({ kind: 'answer', body: came }) })
  const answer = await links.ask('carryOut', body)
  assert.ok(answer.kind === 'answer' && answer.body.equals(body))
  assert.ok(moved.some((bytes) => bytes === body.length))
  assert.equal(heard.length, 0)
})
