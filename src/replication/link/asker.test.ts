// A secondary hands requests to its primary over a link for that: real certificates, simulated network, virtual time.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { identityOf, LinkedCluster, LinkedClusters, serverIdentity } from '../../../test/fixtures/linked-clusters.ts'
import { RECEIVER } from '../../../test/fixtures/set-cluster.ts'
import { P256 } from '../../crypto/forms/ec-curves.ts'
import { loadScalar } from '../../crypto/forms/ec-private-key.ts'
import type { Link } from '../../lib/links.ts'
import { MAX_ANSWER_BYTES, MAX_ASK_BYTES, type Message, type MessageKind } from '../protocol/messages.ts'
import type { ActivationBundle } from '../set/activation-bundle.ts'
import { serverNameOf } from '../set/peer-name.ts'
import { MAX_ASKED, MAX_ASKED_BYTES } from './asking-limits.ts'
import { ASKING_PROTOCOL } from './link-protocols.ts'
import type { AskOutcome } from './link-sides.ts'
import { LINK_TIMES } from './link-times.ts'
import { MessageLink } from './message-link.ts'
import { ownSpeech } from './version-rule.ts'

const LINKED = 'This secondary can hand requests to its primary'
const UNLINKED = 'This secondary cannot hand requests to its primary'
const SILENT: AskOutcome = { kind: 'silent' }
const NO_LINK: AskOutcome = { kind: 'no-link' }
const BUSY: AskOutcome = { kind: 'busy' }
const BODY = Buffer.from('body')
const echo = async (call: string, body: Buffer, id: string): Promise<Buffer> =>
  Buffer.concat([Buffer.from(`${id} ${call} `), body])

const said = ({ lines }: LinkedCluster, message: string): readonly string[] =>
  lines.flatMap((line) => (line.message === message ? [line.why] : []))

/** Until the cluster has its link for so many times. */
const untilLinked = (clusters: LinkedClusters, s: LinkedCluster, times = 1): Promise<number> =>
  clusters.until(async () => said(s, LINKED).length >= times, 'it has a link')

async function linked(seed: number) {
  const clusters = await LinkedClusters.begin(seed, 'performance')
  const { primary } = clusters
  primary.owner.answers = echo
  await clusters.write(1)
  const s = await clusters.follow('s')
  await untilLinked(clusters, s)
  const ask = (body: Buffer = BODY): Promise<AskOutcome> => clusters.time.until(s.host.ask('carryOut', body))
  return { clusters, primary, s, ask }
}

/** Questions that the primary's owner has, until the test answers them. */
function held(primary: LinkedCluster) {
  const waiting: { readonly body: Buffer; readonly answer: (body: Buffer) => void }[] = []
  primary.owner.answers = (_call, body) => {
    const { promise, resolve } = Promise.withResolvers<Buffer>()
    waiting.push({ body, answer: resolve })
    return promise
  }
  return waiting
}

test('what a secondary asks comes to its primary as it was, and so does the answer', async () => {
  const { ask, primary } = await linked(1)
  assert.deepEqual(await ask(), { kind: 'answer', body: Buffer.from('s carryOut body') })
  assert.deepEqual(await ask(Buffer.alloc(0)), { kind: 'answer', body: Buffer.from('s carryOut ') })
  assert.equal(said(primary, 'A secondary hands requests over').length, 1)
})

test('a secondary for disaster recovery has no such link', async () => {
  const clusters = await LinkedClusters.begin(2)
  await clusters.write(1)
  const s = await clusters.follow('s')
  await clusters.untilSame(s)
  await clusters.time.pass(5_000)
  assert.deepEqual(await clusters.time.until(s.host.ask('carryOut', BODY)), NO_LINK)
  assert.equal(said(s, LINKED).length, 0)
})

test('answers come in any order, each to its question', async () => {
  const { clusters, primary, s } = await linked(3)
  const waiting = held(primary)
  const asked = ['a', 'b', 'c'].map((text) => s.host.ask('carryOut', Buffer.from(text)))
  await clusters.until(async () => waiting.length === 3, 'all have come')
  for (const { body, answer } of waiting.toReversed()) answer(Buffer.from(`answer ${body}`))
  const answers = await clusters.time.until(Promise.all(asked))
  const texts = answers.map((one) => (one.kind === 'answer' ? one.body.toString() : one.kind))
  assert.deepEqual(texts, ['answer a', 'answer b', 'answer c'])
})

test('the longest question and the longest answer pass, and a longer answer is lost', async () => {
  const { clusters, primary, s } = await linked(4)
  const body = Buffer.alloc(MAX_ASK_BYTES, 'a')
  const answers = [Buffer.alloc(MAX_ANSWER_BYTES, 'b'), Buffer.alloc(MAX_ANSWER_BYTES + 1)]
  primary.owner.answers = async (_call, came) => {
    assert.ok(came.equals(body))
    return answers.shift() ?? assert.fail('it was asked too often')
  }
  const answer = await clusters.time.until(s.host.ask('carryOut', body))
  assert.ok(answer.kind === 'answer' && answer.body.equals(Buffer.alloc(MAX_ANSWER_BYTES, 'b')))
  assert.deepEqual(await clusters.time.until(s.host.ask('carryOut', body)), SILENT)
})

test('of a question that the owner rejects nothing is told, and the link stays', async () => {
  const { primary, s, ask } = await linked(5)
  primary.owner.answers = async () => {
    throw new Error('a defect')
  }
  assert.deepEqual(await ask(), SILENT)
  assert.deepEqual(said(primary, 'What a secondary asked has no answer'), ['a defect'])
  primary.owner.answers = echo
  assert.equal((await ask()).kind, 'answer')
  assert.equal(said(s, LINKED).length, 1)
})

test(`${MAX_ASKED} questions may wait, and one more is not asked`, async () => {
  const { clusters, primary, s, ask } = await linked(6)
  const waiting = held(primary)
  const asked = Array.from({ length: MAX_ASKED }, () => s.host.ask('carryOut', BODY))
  assert.deepEqual(await ask(), BUSY)
  await clusters.until(async () => waiting.length === MAX_ASKED, 'all have come')
  assert.deepEqual(await ask(), BUSY)
  waiting[0]?.answer(BODY)
  assert.equal((await clusters.time.until(Promise.race(asked))).kind, 'answer')
  const next = s.host.ask('carryOut', BODY)
  await clusters.until(async () => waiting.length === MAX_ASKED + 1, 'the next has come')
  for (const { answer } of waiting) answer(BODY)
  for (const one of await clusters.time.until(Promise.all([...asked, next]))) assert.equal(one.kind, 'answer')
})

test('questions may have so many bytes together, and what is above is not asked', async () => {
  const { clusters, primary, s, ask } = await linked(7)
  const waiting = held(primary)
  const first = s.host.ask('carryOut', Buffer.alloc(MAX_ASK_BYTES))
  const second = s.host.ask('carryOut', Buffer.alloc(MAX_ASKED_BYTES - MAX_ASK_BYTES))
  assert.deepEqual(await ask(Buffer.alloc(1)), BUSY)
  await clusters.until(async () => waiting.length === 2, 'both have come')
  for (const { answer } of waiting) answer(BODY)
  for (const one of await clusters.time.until(Promise.all([first, second]))) assert.equal(one.kind, 'answer')
  primary.owner.answers = echo
  assert.equal((await ask()).kind, 'answer')
})

test('a link that is cut leaves its questions without an answer at once; what comes then is not asked', async () => {
  const { clusters, primary, s, ask } = await linked(8)
  const waiting = held(primary)
  const asked = s.host.ask('carryOut', BODY)
  await clusters.until(async () => waiting.length === 1, 'it has come')
  clusters.network.cut('s', 'p')
  clusters.network.reset('p', 's')
  const atMs = clusters.time.nowMs
  assert.deepEqual(await clusters.time.until(asked), SILENT)
  assert.deepEqual(await ask(), NO_LINK)
  assert.ok(clusters.time.nowMs - atMs < 10)
  assert.equal(waiting.length, 1)
  // Its answer has nowhere to go.
  waiting[0]?.answer(BODY)
  clusters.network.heal('s', 'p')
  await untilLinked(clusters, s, 2)
  primary.owner.answers = echo
  assert.equal((await ask()).kind, 'answer')
})

test('T22: a link that is half-open is noticed by both ends within 15 seconds', async () => {
  for (const [from, to] of [
    ['p', 's'],
    ['s', 'p'],
  ] as const) {
    const { clusters, primary, s } = await linked(9)
    held(primary)
    const atMs = clusters.time.nowMs
    clusters.network.cut(from, to)
    assert.deepEqual(await clusters.time.until(s.host.ask('carryOut', BODY)), SILENT)
    assert.ok(clusters.time.nowMs - atMs <= 15_000)
    await clusters.time.pass(Math.max(0, atMs + 15_000 - clusters.time.nowMs))
    const ended = said(primary, 'A secondary hands no requests over any more')
    assert.equal(ended.length, 1, `${from} to ${to}: ${ended}`)
    clusters.network.heal(from, to)
    await untilLinked(clusters, s, 2)
  }
})

test('a secondary that is revoked is cut off within a second, and nothing is asked for it any more', async () => {
  const { clusters, primary, s, ask } = await linked(10)
  const waiting = held(primary)
  const asked = s.host.ask('carryOut', BODY)
  await clusters.until(async () => waiting.length === 1, 'it has come')
  await clusters.revoke('s')
  // What is on its way when the operator revokes comes too late.
  const late = s.host.ask('carryOut', BODY)
  await clusters.time.until(primary.host.disconnect('performance', 's'))
  await clusters.time.pass(1_000)
  assert.deepEqual(await clusters.time.until(Promise.all([asked, late])), [SILENT, SILENT])
  assert.equal(waiting.length, 1)
  assert.deepEqual(await ask(), NO_LINK)
  assert.ok(said(s, UNLINKED).some((why) => why.includes('revoked')))
  await clusters.time.pass(60_000)
  assert.deepEqual([await ask(), said(s, LINKED).length, waiting.length], [NO_LINK, 1, 1])
})

test('a cluster that is no primary any more, or is sealed, asks nothing for its secondaries', async () => {
  for (const change of [{ parts: [] }, { listenAt: [] }] as const) {
    const { clusters, primary, s, ask } = await linked(11)
    const waiting = held(primary)
    const asked = s.host.ask('carryOut', BODY)
    await clusters.until(async () => waiting.length === 1, 'it has come')
    const before = primary.state
    await primary.play(change)
    await clusters.time.pass(100)
    assert.deepEqual([await clusters.time.until(asked), await ask()], [SILENT, NO_LINK])
    await primary.play(before)
    primary.owner.answers = echo
    await untilLinked(clusters, s, 2)
    assert.equal((await ask()).kind, 'answer')
  }
})

test('a cluster that follows no more has no link, and what waited has no answer', async () => {
  const { clusters, primary, s, ask } = await linked(12)
  const waiting = held(primary)
  const asked = s.host.ask('carryOut', BODY)
  await clusters.until(async () => waiting.length === 1, 'it has come')
  await s.play({ parts: [] })
  assert.deepEqual([await clusters.time.until(asked), await ask()], [SILENT, NO_LINK])
  await clusters.time.pass(20_000)
  assert.equal(said(s, LINKED).length, 1)
})

test('of two clusters with one identity the one that comes later has the link', async () => {
  const { clusters } = await linked(13)
  const bundle = await clusters.issue('t')
  await clusters.registry.letIn(bundle)
  const one = await clusters.followWith(bundle, 'one')
  await untilLinked(clusters, one)
  const other = await clusters.followWith(bundle, 'other')
  await untilLinked(clusters, other)
  await clusters.time.pass(1_000)
  const outcomes = [one, other].map(({ host }) => clusters.time.until(host.ask('carryOut', BODY)))
  assert.deepEqual(
    (await Promise.all(outcomes)).map(({ kind }) => kind),
    ['no-link', 'answer'],
  )
})

test('a copy that fills the network holds up no question', async () => {
  const { clusters, s, ask } = await linked(14)
  clusters.network.set('p', 's', { bytesPerSecond: 1_000_000 })
  for (let each = 0; each < 20; each++) await clusters.write(10, 100_000)
  await clusters.time.pass(1_000)
  const atMs = clusters.time.nowMs
  assert.equal((await ask()).kind, 'answer')
  const tookMs = clusters.time.nowMs - atMs
  assert.ok(tookMs < 1_000, `${tookMs} ms`)
  const copyMs = await clusters.untilSame(s, 60_000)
  assert.ok(copyMs > 10_000, `all came within ${copyMs} ms`)
})

test('a secondary that has not told its primary of its activation yet has a link soon behind that', async () => {
  const clusters = await LinkedClusters.begin(15, 'performance')
  clusters.primary.owner.answers = echo
  const bundle = await clusters.issue('s')
  const claim = { nonce: bundle.nonce.reveal(), receiver: RECEIVER, isLook: false }
  const arrival = { set: clusters.set, id: 's', certificate: bundle.leaf }
  assert.ok('keyring' in ((await clusters.time.until(clusters.primary.owner.claim(arrival, claim))) as object))
  const s = new LinkedCluster(clusters, 's')
  // As an activation leaves it: the first link of the log confirms it.
  s.owner.toConfirm = { nonce: bundle.nonce.reveal(), receiver: RECEIVER }
  await s.followToken(bundle)
  assert.ok((await untilLinked(clusters, s)) < 2_000)
  assert.equal((await clusters.time.until(s.host.ask('carryOut', BODY))).kind, 'answer')
})

test('P-55 T9: an older secondary hands nothing over, and a newer one does', async () => {
  const { clusters } = await linked(16)
  const older = await clusters.follow('older', { version: '1.1.9' })
  const newer = await clusters.follow('newer', { version: '1.3.0' })
  await untilLinked(clusters, newer)
  await clusters.time.pass(1_000)
  assert.equal(said(older, LINKED).length, 0)
  assert.ok(said(older, UNLINKED).some((why) => why.includes('upgrade the secondary first')))
})

test('a primary that comes back has the links of its secondaries soon', async () => {
  const { clusters, primary, s, ask } = await linked(17)
  primary.kill()
  await clusters.time.pass(40_000)
  assert.deepEqual(await ask(), NO_LINK)
  await primary.restart()
  await clusters.time.pass(15_000)
  assert.equal(said(s, LINKED).length, 2)
  assert.equal((await ask()).kind, 'answer')
})

test('with a renewed certificate there is a new link, and the one before is given up', async () => {
  const { clusters, primary, s, ask } = await linked(22)
  const [part] = s.state.parts
  assert.ok(part?.role === 'secondary')
  s.owner.onRenewed = ({ certificate, key }) => {
    const identity = { ...part.identity, certificate, key: loadScalar(P256, Buffer.from(key)) }
    void s.host.play({ facts: s.facts, ...s.state, parts: [{ ...part, identity, renewalDueMs: Infinity }] })
  }
  const waiting = held(primary)
  await clusters.leap(part.renewalDueMs - clusters.time.nowMs - 30_000)
  await clusters.time.pass(15_000)
  const links = said(s, LINKED).length
  const asked = s.host.ask('carryOut', BODY)
  await clusters.until(async () => waiting.length === 1, 'it has come')
  assert.deepEqual(await clusters.time.until(asked), SILENT)
  primary.owner.answers = echo
  assert.ok((await untilLinked(clusters, s, links + 1)) < 1_000)
  assert.equal((await ask()).kind, 'answer')
  // The new leaf is in use: the one before is not taken any more.
  assert.match(String(await clusters.registry.view.get('performance/secondary/s')), /"renewed":null/)
})

const KINDS: ReadonlySet<MessageKind> = new Set(['welcome', 'refused', 'answered', 'beat', 'fault'])

/** A link of a program of the test's own, which has greeted. */
async function greeted(clusters: LinkedClusters, bundle: ActivationBundle) {
  const link: Link = await clusters.dial(bundle, ASKING_PROTOCOL)
  const { clock, timers } = clusters.time.newThread()
  const messages = new MessageLink(link, { world: { clock, timers }, times: LINK_TIMES, count: () => {} }, KINDS)
  const hello: Message<'hello'> = {
    kind: 'hello',
    ...ownSpeech('1.2.0'),
    clusterId: 'x',
    secondaryId: bundle.id,
    epoch: 0,
    histories: [],
    applied: undefined,
    isParted: false,
    reach: undefined,
    transfer: undefined,
    addresses: [],
    apiAddress: '',
    receiver: RECEIVER,
    sealId: '',
    instance: 0,
  }
  await clusters.time.until(messages.send(hello))
  return { link, messages }
}

async function stranger(seed: number) {
  const clusters = await LinkedClusters.begin(seed, 'performance')
  const bundle = await clusters.issue('x')
  await clusters.registry.letIn(bundle)
  const { messages, link } = await greeted(clusters, bundle)
  const { message } = await clusters.time.until(messages.next())
  assert.deepEqual([message.kind, (message as Message<'welcome'>).histories], ['welcome', []])
  return { clusters, messages, link }
}

test('a secondary that asks more than it may is given up', async () => {
  for (const [count, bytes] of [
    [2 * MAX_ASKED + 1, 0],
    [2, MAX_ASK_BYTES],
  ] as const) {
    const { clusters, messages } = await stranger(18)
    const waiting = held(clusters.primary)
    const body = Buffer.alloc(bytes)
    for (let number = 1; number <= count; number++)
      void messages.send({ kind: 'ask', number, call: 'carryOut', body }).catch(() => {})
    const last = async (): Promise<Error> => {
      for (;;) {
        const came = await messages.next().catch((cause: Error) => cause)
        if (came instanceof Error) return came
      }
    }
    assert.match((await clusters.time.until(last())).message, /more than may be asked at once/)
    assert.ok(waiting.length < count)
  }
})

test('for a secondary that reads no answers little is kept, and nothing more is done', async () => {
  const { clusters, messages } = await stranger(19)
  let done = 0
  const answer = Buffer.alloc(20 << 20)
  clusters.primary.owner.answers = async () => {
    done++
    return answer
  }
  for (let number = 1; number <= 20; number++) {
    await clusters.time.until(messages.send({ kind: 'ask', number, call: 'carryOut', body: BODY }))
    await clusters.time.pass(50)
  }
  assert.ok(done <= 5, `${done} answers of 20 MiB`)
  const kinds: string[] = []
  while (kinds.filter((kind) => kind !== 'beat').length < 20) {
    const { message } = await clusters.time.until(messages.next())
    kinds.push(message.kind === 'answered' ? message.how : message.kind)
  }
  const hows = kinds.filter((kind) => kind !== 'beat')
  assert.deepEqual(hows, [...Array(done).fill('answer'), ...Array(20 - done).fill('busy')])
})

test('what has no place on the link ends it, and the peer is told why', async () => {
  const ack: Message = { kind: 'ack', handled: 1, durable: 1 }
  const { clusters, messages } = await stranger(20)
  await clusters.time.until(messages.send(ack))
  const next = async (): Promise<Error> => {
    for (;;) {
      const came = await messages.next().catch((cause: Error) => cause)
      if (came instanceof Error) return came
    }
  }
  assert.match((await clusters.time.until(next())).message, /A message "ack" has no place here/)
})

test('a certificate of another id, of another family or of no set gets no link', async () => {
  const { clusters, primary } = await linked(21)
  const waiting = held(primary)
  const refusal = async (bundle: ActivationBundle): Promise<string> => {
    const { messages } = await greeted(clusters, bundle)
    const { message } = await clusters.time.until(messages.next())
    return message.kind === 'refused' ? message.code : message.kind
  }
  const pending = await clusters.issue('pending')
  assert.equal(await refusal(pending), 'not-activated')
  const other = await clusters.issue('other')
  await clusters.registry.letIn(other)
  assert.equal(await refusal({ ...other, id: 's' }), 'other-set')

  const setId = await clusters.registry.begin('dr')
  const dr = { setId, family: 'dr' } as const
  const part = { role: 'primary', set: dr, identity: await serverIdentity(clusters.registry, dr) } as const
  await primary.play({ parts: [...primary.state.parts, part] })
  const { bundle } = await clusters.registry.issue('dr', 'd')
  await clusters.registry.letIn(bundle)
  // Under the name of its own set it is let through to be told that there is no such service.
  const links = clusters.network.host('d').links
  const as = { identity: identityOf(bundle), protocol: ASKING_PROTOCOL }
  const to = { host: 'p', port: 8_201 }
  const link = await clusters.time.until(links.dial(to, { ...as, serverName: serverNameOf(dr) }))
  const { clock, timers } = clusters.time.newThread()
  const messages = new MessageLink(link, { world: { clock, timers }, times: LINK_TIMES, count: () => {} }, KINDS)
  const { message } = await clusters.time.until(messages.next())
  assert.deepEqual([message.kind, (message as Message<'refused'>).sentence], ['refused', 'This set does not use fwd/1'])
  await assert.rejects(clusters.time.until(links.dial(to, { ...as, serverName: serverNameOf(clusters.set) })), {
    name: 'LinkFailed',
  })
  assert.equal(waiting.length, 0)
})
