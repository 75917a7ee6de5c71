// S6 on whole servers in virtual time: a performance secondary seals with the keys of the set by itself, and the sum
// over the set keeps its bound. The limits are small, so that a test can reach them.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { ROOT } from '../../src/api/namespace.ts'
import { MESSAGE_LIMITS, MOST_CLUSTERS } from '../../src/engines/transit/budget/message-limits.ts'
import { SMALL_LIMITS } from '../fixtures/cluster-set.ts'
import type { ReplicatedServer } from '../fixtures/replicated-server.ts'
import { performanceServers } from '../fixtures/replicated-servers.ts'

const plaintext = 'YQ=='
const BATCH = 50
const batch = { batch_input: Array(BATCH).fill({ plaintext }) }
const { most, block } = SMALL_LIMITS

const real = { ...MESSAGE_LIMITS }
before(() => void Object.assign(MESSAGE_LIMITS, SMALL_LIMITS))
after(() => void Object.assign(MESSAGE_LIMITS, real))

/** A set whose secondary has been named in the mount of a key. */
async function started(seed: number) {
  const { servers, primary, secondary } = await performanceServers(seed)
  const level = async () => {
    await servers.level(primary, secondary, 60_000, 'performance')
    // The primary hears of it a moment later.
    await servers.time.pass(200)
  }
  await primary.must('POST', 'sys/mounts/transit', { type: 'transit' })
  await primary.must('POST', 'transit/keys/k')
  await servers.time.pass(12_000)
  await level()
  return { servers, primary, secondary, level }
}

/** Seals until that is refused, at most so often; returns the messages, and the refusal. */
async function seal(cluster: ReplicatedServer, batches: number, between = async () => {}) {
  let messages = 0
  for (let turn = 0; turn < batches; turn++) {
    const { status, body } = await cluster.call('POST', 'transit/encrypt/k', batch)
    if (status !== 200) return { messages, refusal: { status, text: String(body.errors) } }
    messages += BATCH
    await between()
  }
  return { messages, refusal: undefined }
}

/** Questions that a primary answers to the engines of its secondaries. */
function askedOf({ server }: ReplicatedServer): unknown[] {
  const asked: unknown[] = []
  const uuid = server.node.mounts.find(ROOT, 'transit/')?.uuid ?? assert.fail('the mount is there')
  const engine = server.node.mounts.engineOf(uuid) ?? assert.fail('the mount is there')
  const answer = engine.handleClusterCall?.bind(engine) ?? assert.fail('it answers')
  engine.handleClusterCall = (question, from) => {
    asked.push((question as { readonly kind: string }).kind)
    return answer(question, from)
  }
  return asked
}

test('S6: a secondary that never sealed with a mount does so while its link is down', async () => {
  const { servers, primary, secondary } = await started(1)
  const later = await servers.start('later')
  await servers.activate(primary, later, 'later', 'performance')
  await servers.level(primary, later, 60_000, 'performance')
  await servers.giveRootToken(primary, later)
  await servers.time.pass(12_000)
  for (const cluster of [secondary, later]) {
    servers.cut(primary, cluster)
    await servers.time.pass(20_000)
    const sealed = await cluster.must('POST', 'transit/encrypt/k', { plaintext })
    const { ciphertext } = sealed.body.data ?? {}
    assert.equal((await cluster.must('POST', 'transit/decrypt/k', { ciphertext })).body.data?.plaintext, plaintext)
    assert.equal((await primary.must('POST', 'transit/decrypt/k', { ciphertext })).body.data?.plaintext, plaintext)
  }
})

test('S6: secondaries that were revoked leave their places in a mount to others', async () => {
  const { servers, primary } = await started(8)
  const uuid = primary.server.node.mounts.find(ROOT, 'transit/')?.uuid ?? ''
  const engine = primary.server.node.mounts.engineOf(uuid)
  for (let at = 2; at < MOST_CLUSTERS; at++) {
    const question = { kind: 'join', cluster: String(at).padStart(16, '0') }
    const asked = engine?.handleClusterCall?.(question, `revoked-${at}`) ?? assert.fail('it answers')
    assert.deepEqual(await servers.time.until(asked), { isGranted: true })
    await servers.time.pass(1_000)
  }
  const later = await servers.start('later')
  await servers.activate(primary, later, 'later', 'performance')
  await servers.level(primary, later, 60_000, 'performance')
  await servers.giveRootToken(primary, later)
  await servers.time.pass(12_000)
  servers.cut(primary, later)
  await later.must('POST', 'transit/encrypt/k', { plaintext })
})

test('S6: messages that a batch seals with a new key are stored with it by the primary, whoever is asked', async () => {
  const { primary, secondary, level } = await started(9)
  for (const [cluster, key] of [
    [primary, 'there'],
    [secondary, 'here'],
  ] as const) {
    const { batch_results: sealed } = (await cluster.must('POST', `transit/encrypt/${key}`, batch)).body.data ?? {}
    assert.equal((sealed as unknown[]).length, BATCH)
  }
  await primary.must('POST', 'transit/keys/unused')
  await level()
  const {
    rootToken,
    server: { shares },
  } = primary
  primary.kill()
  await primary.restart()
  await primary.must('POST', 'sys/unseal', { key: shares[0]?.toString('hex') }, '')
  primary.rootToken = rootToken
  const countOf = async (key: string): Promise<number> => {
    const { encryption_counts: counts } = (await primary.must('GET', `transit/keys/${key}`)).body.data ?? {}
    return (counts as Readonly<Record<string, number>>)['1'] ?? 0
  }
  // All that a cluster may have sealed by then counts too, as with a key that has sealed nothing.
  const unused = await countOf('unused')
  assert.deepEqual([await countOf('there'), await countOf('here')], [unused + BATCH, unused + BATCH])
})

test('S6: a secondary asks for a block when half of its last one is gone, and for nothing else', async () => {
  const { primary, secondary, level } = await started(2)
  const asked = askedOf(primary)
  const { messages, refusal } = await seal(secondary, 30, level)
  assert.equal(refusal, undefined)
  assert.ok(asked.every((kind) => kind === 'block'))
  // What it had at first is a part of a block, and the last one that came may be unused.
  assert.ok(asked.length >= messages / block - 1 && asked.length <= messages / block + 2, `${asked.length}`)
})

test('S6: with its link down a secondary seals as long as its blocks last, and goes on with the link', async () => {
  const { servers, primary, secondary, level } = await started(3)
  servers.cut(primary, secondary)
  const { messages, refusal } = await seal(secondary, 100)
  assert.deepEqual(refusal?.status, 503)
  assert.match(refusal?.text ?? '', /used up the messages that its primary granted it.*decryption goes on/)
  assert.ok(messages >= block / 2 && messages <= 2 * block, `${messages}`)
  servers.heal(primary, secondary)
  await servers.time.pass(20_000)
  await level()
  assert.equal((await seal(secondary, 3, level)).refusal, undefined)
})

test('S6: the owner waits with a second block until its secondaries have the first, or are revoked', async () => {
  const { servers, primary, secondary } = await started(4)
  servers.cut(primary, secondary)
  const { messages, refusal } = await seal(primary, 100)
  assert.equal(refusal?.status, 503)
  assert.match(refusal?.text ?? '', /before those that follow it have caught up, or are revoked: decryption goes on/)
  assert.ok(messages >= block, `${messages}`)
  await primary.must('POST', 'sys/replication/performance/primary/revoke-secondary', { id: 'two' })
  assert.equal((await seal(primary, 10)).refusal, undefined)
})

test('S6: while its secondaries follow, the owner seals as many messages as a version may', async () => {
  const { servers, primary } = await started(5)
  const { messages, refusal } = await seal(primary, 400, () => servers.time.pass(6_000))
  assert.equal(refusal?.status, 400)
  assert.match(refusal?.text ?? '', /rotate the key/)
  assert.ok(messages > most / 2 && messages <= most, `${messages}`)
})

test('S6: through a promotion that is forced the sum over the set stays below the limit', async () => {
  const { servers, primary, secondary, level } = await started(6)
  let sum = 0
  const add = ({ messages }: { readonly messages: number }) => {
    sum += messages
  }
  add(await seal(secondary, 6, level))
  servers.cut(primary, secondary)
  // What each does while it hears nothing of the other, until nothing is granted any more.
  add(await seal(primary, 100))
  add(await seal(secondary, 100))
  await secondary.must('POST', 'sys/replication/performance/secondary/promote', { force: true })
  add(await seal(secondary, 200))
  // The former primary knows of nothing, and goes on.
  add(await seal(primary, 200))
  assert.ok(sum > most / 2 && sum <= most, `${sum} of ${most}`)
})
