// what a program with a good certificate can do to a primary that is no secondary of ours: little.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LinkedClusters } from '../../../test/fixtures/linked-clusters.ts'
import type { Link, LinkEnd } from '../../lib/links.ts'
import { framesOf } from '../protocol/frames.ts'
import { encodeMessage, type Message, type MessageKind } from '../protocol/messages.ts'
import { LINK_TIMES } from './link-times.ts'
import { MessageLink } from './message-link.ts'
import { MAX_LETTING_IN } from './primary-end.ts'
import { MAX_FOLLOWING } from './served-links.ts'
import { ownSpeech } from './version-rule.ts'

const FOLLOWING = 'rep-dr/1'
const ACTIVATION = 'rep-boot/1'
const ANSWERS: ReadonlySet<MessageKind> = new Set(['refused', 'fault', 'welcome'])

const knock = (id: string): Message<'knock'> => ({
  kind: 'knock',
  ...ownSpeech('1.2.0'),
  clusterId: 'x',
  secondaryId: id,
  sentAtMs: 0,
})

/** The last message that came over the link, or its end. */
async function answerOver(clusters: LinkedClusters, link: Link): Promise<Message | Error> {
  const { clock, timers } = clusters.time.newThread()
  const messages = new MessageLink(link, { world: { clock, timers }, times: LINK_TIMES, count: () => {} }, ANSWERS)
  const next = messages.next().then(
    ({ message }) => message,
    (cause: Error) => cause,
  )
  return clusters.time.until(next)
}

test('what comes before the greeting is read no further than its head', async () => {
  const clusters = await LinkedClusters.begin(1)
  const bundle = await clusters.issue('s')
  const long = framesOf(7, [Buffer.alloc(2 << 20)])[0] ?? Buffer.alloc(0)
  const beginnings: readonly (readonly [string, string, Buffer, RegExp])[] = [
    ['a piece', FOLLOWING, long.subarray(0, 6), /A message "piece" has no place here/],
    ['an activation', FOLLOWING, encodeMessage(knock('s'))[0] ?? long, /A message "knock" has no place here/],
    ['a claim', ACTIVATION, Buffer.from([0, 0, 0, 66, 25, 0]), /A message "claim" has no place here/],
    ['no frame', ACTIVATION, Buffer.from('GET / HTTP/1.1\r\n\r\n'), /A frame says that it has \d+ bytes/],
    ['an unknown type', FOLLOWING, Buffer.from([0, 0, 0, 3, 99, 0]), /unknown type 99/],
    ['a hello that is too long', FOLLOWING, Buffer.from([0, 4, 0, 3, 1, 0]), /more than 262144 bytes/],
  ]
  for (const [what, protocol, bytes, sentence] of beginnings) {
    const link = await clusters.dial(bundle, protocol)
    await link.send(Buffer.from(bytes))
    const answer = await answerOver(clusters, link)
    assert.ok(answer instanceof Error && answer.name === 'PeerHungUp', `${what}: ${String(answer)}`)
    assert.match(answer.message, sentence)
    const end: LinkEnd = await clusters.time.until(link.closed)
    assert.ok(end.how === 'lost' || end.how === 'ended', what)
  }
})

test('who does not greet is waited for 10 seconds', async () => {
  const clusters = await LinkedClusters.begin(2)
  const bundle = await clusters.issue('s')
  const links = [await clusters.dial(bundle, FOLLOWING), await clusters.dial(bundle, ACTIVATION)]
  const ends = links.map((link) => answerOver(clusters, link))
  const startedMs = clusters.time.nowMs
  for (const end of ends) assert.ok((await end) instanceof Error)
  const waitedMs = clusters.time.nowMs - startedMs
  assert.ok(waitedMs > 9_900 && waitedMs < 10_100, String(waitedMs))
})

test('who is welcomed to an activation and claims nothing is waited for 10 seconds', async () => {
  const clusters = await LinkedClusters.begin(3)
  const bundle = await clusters.issue('s')
  const link = await clusters.dial(bundle, ACTIVATION)
  for (const frame of encodeMessage(knock('s'))) await link.send(frame)
  const welcome = await answerOver(clusters, link)
  assert.ok(!(welcome instanceof Error) && welcome.kind === 'welcome')
  assert.deepEqual([welcome.epoch, welcome.histories], [0, []], 'nothing is told of the log')
  const startedMs = clusters.time.nowMs
  await clusters.time.until(link.closed)
  assert.ok(clusters.time.nowMs - startedMs < 10_100)
})

for (const [protocol, most] of [
  [FOLLOWING, MAX_FOLLOWING],
  [ACTIVATION, MAX_LETTING_IN],
] as const) {
  test(`${most} secondaries may be there at once over ${protocol}, and one more is told to come again`, async () => {
    const clusters = await LinkedClusters.begin(4)
    const links: Link[] = []
    for (let each = 0; each < most; each++) {
      links.push(await clusters.dial(await clusters.issue(`s${each}`), protocol))
    }
    const further = await clusters.issue('further')
    const answer = await answerOver(clusters, await clusters.dial(further, protocol))
    assert.ok(!(answer instanceof Error) && answer.kind === 'refused', String(answer))
    assert.deepEqual([answer.code, answer.retryAfterMs], ['busy', 5_000])
    links[0]?.destroy('it goes away')
    await clusters.time.pass(10)
    const next = clusters.dial(further, protocol)
    const kept = answerOver(clusters, await next)
    assert.ok((await kept) instanceof Error, 'it is waited for')
  })
}

for (const protocol of [FOLLOWING, ACTIVATION]) {
  test(`old certificates of one id do not keep other ids out over ${protocol}`, async () => {
    const clusters = await LinkedClusters.begin(7)
    const answers: Awaited<ReturnType<typeof answerOver>>[] = []
    for (let each = 0; each < 6; each++) {
      const link = await clusters.dial(await clusters.issue('s'), protocol)
      if (each >= 4) answers.push(await answerOver(clusters, link))
    }
    for (const answer of answers) {
      assert.ok(!(answer instanceof Error) && answer.kind === 'refused' && answer.code === 'busy', String(answer))
    }
    const startedMs = clusters.time.nowMs
    await answerOver(clusters, await clusters.dial(await clusters.issue('t'), protocol))
    assert.ok(clusters.time.nowMs - startedMs > 9_000, 'it is waited for')
  })
}

test('a secondary that comes again before it has greeted has one link', async () => {
  const clusters = await LinkedClusters.begin(5)
  const bundle = await clusters.issue('s')
  const first = await clusters.dial(bundle, FOLLOWING)
  const second = await clusters.dial(bundle, FOLLOWING)
  await clusters.time.pass(10)
  assert.equal((await clusters.time.until(first.closed)).how, 'lost')
  const startedMs = clusters.time.nowMs
  await answerOver(clusters, second)
  assert.ok(clusters.time.nowMs - startedMs > 9_000)
})

/** Greets as this secondary. */
async function greet(clusters: LinkedClusters, link: Link, id: string): Promise<void> {
  const { receiver, ...standing } = await clusters.primary.owner.standing('dr')
  const hello = { ...knock(id), kind: 'hello', addresses: [], apiAddress: '', receiver, ...standing } as const
  const { sentAtMs: _, ...sent } = hello
  for (const frame of encodeMessage(sent)) await link.send(frame)
}

test('a hello in the name of another secondary is refused', async () => {
  const clusters = await LinkedClusters.begin(6)
  const [s, t] = [await clusters.issue('s'), await clusters.issue('t')]
  for (const bundle of [s, t]) await clusters.registry.letIn(bundle)
  const link = await clusters.dial(s, FOLLOWING)
  await greet(clusters, link, 't')
  const answer = await answerOver(clusters, link)
  assert.ok(!(answer instanceof Error) && answer.kind === 'refused' && answer.code === 'other-set', String(answer))
})

test('a secondary that says whom it trusts without being asked is hung up on, and nothing is stored', async () => {
  const clusters = await LinkedClusters.begin(8)
  const bundle = await clusters.issue('s')
  await clusters.registry.letIn(bundle)
  const link = await clusters.dial(bundle, FOLLOWING)
  await greet(clusters, link, 's')
  await clusters.time.pass(100)
  const before = String(await clusters.registry.view.get('dr/secondary/s'))
  for (const frame of encodeMessage({ kind: 'trusts', fingerprints: [Buffer.alloc(32, 7)] })) await link.send(frame)
  await clusters.time.pass(100)
  assert.ok(clusters.primary.lines.some(({ why }) => /without being asked/.test(why)))
  assert.equal(String(await clusters.registry.view.get('dr/secondary/s')), before)
})
