// What peers with a good certificate send over links, made by chance from good messages: a primary and a secondary go
// on whatever comes, serve the others, and keep no seat for it. `npm run torture:fuzz` is the long form.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Link } from '../../src/lib/links.ts'
import { encodeMessage, type Message } from '../../src/replication/protocol/messages.ts'
import { LinkedCluster, LinkedClusters, partOf, serverIdentity } from '../fixtures/linked-clusters.ts'
import { mutated } from '../fixtures/mutated.ts'
import { type PseudoRandom, pseudoRandom } from '../fixtures/pseudo-random.ts'
import { MESSAGES } from '../fixtures/replication-messages.ts'
import { testSeed } from '../fixtures/seed.ts'

/** A link costs more than a message. */
const INPUTS = Math.ceil(Number(process.env.FUZZ_INPUTS ?? 10_000) / 100)
const STREAMS = MESSAGES.map((message) => Buffer.concat(encodeMessage(message)))
const bytesOf = (message: Message): Buffer => Buffer.concat(encodeMessage(message))
const ofKind = (...kinds: readonly Message['kind'][]): readonly Buffer[] =>
  MESSAGES.filter(({ kind }) => kinds.includes(kind)).map(bytesOf)

async function sendAll(link: Link, random: PseudoRandom, beginnings: readonly Buffer[]): Promise<void> {
  const good = random.chance(0.7) ? [random.pick(beginnings)] : []
  const others = Array.from({ length: 1 + random.int(4) }, () => random.pick(STREAMS))
  const parts = [...good, ...others].map((one) => (random.chance(0.4) ? mutated(random, one, STREAMS) : one))
  try {
    for (const part of parts) await link.send(Buffer.from(part))
  } catch {
    // The other end has hung up.
  }
}

test(`T98: ${INPUTS} peers that send a primary what they like are hung up on, and its secondary follows`, async (t) => {
  const random = pseudoRandom(testSeed(t))
  const clusters = await LinkedClusters.begin(61)
  await clusters.write(20)
  const s = await clusters.follow('s')
  await clusters.untilSame(s)
  const bundle = await clusters.issue('x')
  await clusters.registry.letIn(bundle)
  const { receiver, ...standing } = await s.owner.standing('dr')
  const speech = { oldest: 1, newest: 1, recordFormat: 2, version: '1.2.0', clusterId: 'x', secondaryId: 'x' }
  const hello = bytesOf({ kind: 'hello', ...speech, addresses: [], apiAddress: '', receiver, ...standing })
  const anew = { applied: undefined, transfer: undefined }
  const helloAnew = bytesOf({ kind: 'hello', ...speech, addresses: [], apiAddress: '', receiver, ...standing, ...anew })
  const knock = bytesOf({ kind: 'knock', ...speech, sentAtMs: 0 })
  for (let input = 0; input < INPUTS; input++) {
    const isFollowing = random.chance(0.6)
    const link = await clusters.dial(bundle, isFollowing ? 'rep-dr/1' : 'rep-boot/1')
    const sent = sendAll(link, random, isFollowing ? [hello, helloAnew] : [knock])
    await clusters.time.pass(random.int(100))
    if (random.chance(0.5)) link.destroy('it has enough')
    await clusters.time.until(sent)
  }
  await clusters.write(5)
  await clusters.untilSame(s)
  await clusters.requireSame(s)
  // Those that say no more are given up, and the seat is free.
  await clusters.time.pass(20_000)
  const { secondaries } = await clusters.primary.host.status()
  assert.deepEqual(
    secondaries.filter(({ isConnected }) => isConnected).map(({ id }) => id),
    ['s'],
  )
})

test(`T98: ${INPUTS} links on which a primary answers what it likes end, and another one is made`, async (t) => {
  const random = pseudoRandom(testSeed(t))
  const clusters = await LinkedClusters.begin(62, 'dr', { idleMs: 50, fullMs: 50, longestRetryMs: 50 })
  await clusters.write(20)
  const bundle = await clusters.issue('s')
  await clusters.registry.letIn(bundle)
  const identity = await serverIdentity(clusters.registry, clusters.set)
  const beginnings = ofKind('welcome')
  let answered = 0
  await clusters.network.host('liar').links.listen(
    { host: 'liar', port: 8_201 },
    {
      identities: () => identity,
      protocols: ['rep-dr/1', 'rep-boot/1'],
      accept: (link) => {
        answered++
        void sendAll(link, random, beginnings).then(() => link.end())
      },
    },
  )
  const s = new LinkedCluster(clusters, 's')
  await s.play({ parts: [{ ...partOf(bundle), addresses: ['https://liar:8201'] }] })
  for (let passed = 0; answered < INPUTS; passed++) {
    assert.ok(passed < INPUTS * 20, `${answered} links`)
    await clusters.time.pass(1_000)
  }
  await s.play({ parts: [partOf(bundle)] })
  // By chance something was right, and was taken: the true primary knows nothing of that place.
  if ((await s.store.position()).origins.length > 0) {
    await clusters.time.pass(10_000)
    assert.equal((await s.following()).idle?.reason, 'set_mismatch')
    return
  }
  await clusters.untilSame(s, 60_000)
  await clusters.requireSame(s)
})
