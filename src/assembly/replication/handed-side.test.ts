// Requests of a performance secondary, from its listener to the pipeline of its primary and back, as the bytes that a
// link carries. The link itself is that of the test: those of real hosts are in src/replication/link/asker.test.ts.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Called, type MemoryServerOptions, startMemoryServer } from '../../../test/fixtures/memory-server.ts'
import { simulatedPrimaryApi } from '../../../test/fixtures/simulated-primary-api.ts'
import { ACTIVE_PRIMARY, type NodeRole } from '../../api/node-role.ts'
import type { LogLevel } from '../../lib/log.ts'
import type { AskOutcome } from '../../replication/link/link-sides.ts'
import { MAX_ASK_BYTES } from '../../replication/protocol/messages.ts'
import { packed } from '../../rpc/packed.ts'
import { unpackedAnswer } from '../../rpc/packed-answer.ts'
import { NO_LINKS } from '../../threads/late-links.ts'

const PRIMARY_ADDRESS = 'https://primary.test:8200'
const ARRIVAL = { set: { setId: 's', family: 'performance' }, id: 'east', certificate: Buffer.alloc(0) } as const

type Ask = (call: string, body: Buffer) => Promise<AskOutcome>
type Line = { readonly level: LogLevel; readonly message: string; readonly fields: Readonly<Record<string, unknown>> }

/** A server whose links carry nothing but questions to its primary. */
async function server(role: Partial<NodeRole>, ask: Ask) {
  const lines: Line[] = []
  const links: NonNullable<MemoryServerOptions['links']> = {
    primaryApi: simulatedPrimaryApi(() => undefined, { nowMs: () => 0 }),
    listenAt: [{ host: 'one.test', port: 8_201 }],
    clusterAddress: () => 'https://one.test:8201',
    host: () => ({
      play: async () => {},
      disconnect: async () => {},
      knock: async () => ({ kind: 'no-link', reason: 'unreachable', sentence: 'Nothing is there' }),
      handOver: async () => ({ kind: 'no-link' }),
      takeBack: async () => {},
      ask,
      sealChanged: () => {},
      recover: async () => {},
      compareAgain: async () => {},
      status: async () => NO_LINKS,
      close: async () => {},
    }),
  }
  const log = (level: LogLevel, message: string, fields = {}): void => void lines.push({ level, message, fields })
  const started = await startMemoryServer({ links, log })
  await started.node.changeRole({ role: { ...ACTIVE_PRIMARY, ...role }, primaryAddress: PRIMARY_ADDRESS })
  const { owner } = started.node.replication
  assert.ok(owner !== undefined)
  return { ...started, lines, owner }
}

/** A secondary that hands over to a primary, whose mounts it knows by the same UUIDs as that: those of `sys/`. */
async function pair() {
  const primary = await server({ performance: 'primary' }, async () => ({ kind: 'no-link' }))
  const asked: string[] = []
  const ask: Ask = async (call, body) => {
    asked.push(call)
    return { kind: 'answer', body: await primary.owner.handed(ARRIVAL, call, body) }
  }
  const secondary = await server({ performance: 'secondary' }, ask)
  return { primary, secondary, asked }
}

const policy = { policy: 'path "a" { capabilities = ["read"] }' }
const errorsOf = ({ body }: Called): string => String(body.errors ?? '')

test('a refusal of the primary comes to the caller with its status', async () => {
  const { secondary, asked } = await pair()
  // The mount at sys/ has another UUID in each server that was not copied.
  assert.equal((await secondary.call('POST', 'sys/policies/acl/p', policy)).status, 404)
  assert.deepEqual(asked, ['carryOut'])
})

test('what is asked is refused unread if it has more lists and objects than any request', async () => {
  const { primary } = await pair()
  const asked = async (extra: unknown) => {
    const body = packed({ of: 'cluster', namespace: 'none', entityId: '', extra })
    return unpackedAnswer('ensureEntity', await primary.owner.handed(ARRIVAL, 'ensureEntity', body))
  }
  const names = Object.fromEntries(Array.from({ length: 90_000 }, (_, at) => [`n${at}`, 'x']))
  await assert.rejects(asked(names), { name: 'Refusal' })
  await assert.rejects(asked(Array(2_000).fill({})), { name: 'CallFailed, for PackedError' })
})

const POWERLESS: readonly Partial<NodeRole>[] = [
  { performance: 'primary', isFenced: true },
  { performance: 'primary', isHandingOver: true },
  { performance: 'secondary' },
]
for (const role of POWERLESS) {
  test(`a primary that may not write refuses what is handed over: ${JSON.stringify(role)}`, async () => {
    const { primary, secondary } = await pair()
    await primary.node.changeRole({ role: { ...ACTIVE_PRIMARY, ...role }, primaryAddress: 'https://other.test:8200' })
    const refused = await secondary.call('POST', 'sys/policies/acl/p', policy)
    assert.equal(refused.status, 503)
    assert.match(errorsOf(refused), /its primary does, at https:\/\/other\.test:8200/)
    await primary.node.changeRole({ role: { ...ACTIVE_PRIMARY, ...role }, primaryAddress: '' })
    const nobody = await secondary.call('POST', 'sys/policies/acl/p', policy)
    assert.equal(nobody.status, 503)
    assert.match(errorsOf(nobody), /^The primary, at https:\/\/primary\.test:8200, is one no more, or is about/)
  })
}

test('a primary that is sealed is one that cannot be reached', async () => {
  const { primary, secondary } = await pair()
  await primary.call('POST', 'sys/seal')
  const refused = await secondary.call('POST', 'sys/policies/acl/p', policy)
  assert.equal(refused.status, 503)
  assert.match(errorsOf(refused), /primary\.test:8200, cannot be reached: nothing was written/)
})

test('only a performance secondary that is whole asks', async () => {
  for (const role of [{ performance: 'bootstrapping' }, { isFenced: true }, { isHandingOver: true }] as const) {
    const one = await server(role, async () => assert.fail('nothing is asked'))
    assert.equal((await one.call('POST', 'sys/policies/acl/p', policy)).status, 503, JSON.stringify(role))
  }
  const primary = await server({ performance: 'primary' }, async () => assert.fail('nothing is asked'))
  assert.equal((await primary.call('POST', 'sys/policies/acl/p', policy)).status, 204)
})

const OUTCOMES: readonly (readonly [AskOutcome, RegExp])[] = [
  [{ kind: 'no-link' }, /primary\.test:8200, cannot be reached: nothing was written/],
  [{ kind: 'busy' }, /primary\.test:8200, has as much to do .* nothing was written/],
  [{ kind: 'silent' }, /primary\.test:8200, gave no answer .* is not known/],
]
for (const [outcome, sentence] of OUTCOMES) {
  test(`a question that ends as "${outcome.kind}" is a 503 that says what may have been done`, async () => {
    const secondary = await server({ performance: 'secondary' }, async () => outcome)
    const refused = await secondary.call('POST', 'sys/policies/acl/p', policy)
    assert.equal(refused.status, 503)
    assert.match(errorsOf(refused), sentence)
  })
}

test('an answer is what the caller gets, and members of another version are left out', async () => {
  const answer = { data: { name: 'p' }, warnings: ['w'], auth: { client_token: 't' }, later: { more: 1 } }
  const body = packed({ answer: { answer, written: undefined, later: 1 } })
  const secondary = await server({ performance: 'secondary' }, async () => ({ kind: 'answer', body }))
  const got = await secondary.call('POST', 'sys/policies/acl/p', policy)
  assert.deepEqual([got.status, got.body.data, got.body.warnings, got.body.auth], [200, { name: 'p' }, ['w'], null])
})

const UNREADABLE: readonly unknown[] = [
  undefined,
  null,
  [],
  'text',
  { status: 'ok' },
  { status: 99 },
  { data: 'text' },
  { login: {} },
  { headers: { a: 1 } },
  { lease: { id: 1 } },
  { wrapAs: { ttlSeconds: 1, form: 'other' } },
]
test('an answer that cannot be read is an internal error, and ends nothing', async () => {
  let body: Buffer = Buffer.alloc(0)
  const secondary = await server({ performance: 'secondary' }, async () => ({ kind: 'answer', body }))
  const unreadable = UNREADABLE.flatMap((answer) => [packed({ answer }), packed({ answer: { answer } })])
  const unplaced = packed({ answer: { answer: {}, written: { historyId: 1, index: 2 } } })
  const bodies = [Buffer.alloc(0), Buffer.from('text'), packed({}), ...unreadable, unplaced]
  for (const each of bodies) {
    body = each
    const refused = await secondary.call('POST', 'sys/policies/acl/p', policy)
    assert.deepEqual([refused.status, errorsOf(refused)], [500, 'internal error'], each.toString())
  }
})

test('a request that is too long for the link is refused before it is asked', async () => {
  const secondary = await server({ performance: 'secondary' }, async () => assert.fail('nothing is asked'))
  const refused = await secondary.call('POST', 'sys/policies/acl/p', { policy: 'a'.repeat(MAX_ASK_BYTES) })
  assert.equal(refused.status, 413)
})

test('what a secondary sends that is no call is answered, and is no defect of the primary', async () => {
  const { primary } = await pair()
  const calls = [
    ['carryOut', Buffer.from('text')],
    ['carryOut', packed({ id: 1 })],
    ['later', packed({})],
    ['__proto__', packed({})],
    ['constructor', packed({})],
    ['ensureEntity', packed(null)],
    ['askMount', packed([])],
  ] as const
  for (const [call, body] of calls) await primary.owner.handed(ARRIVAL, call, body)
  assert.deepEqual(
    primary.lines.filter(({ level }) => level === 'error'),
    [],
  )
})
