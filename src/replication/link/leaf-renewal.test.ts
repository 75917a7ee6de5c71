import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LinkedClusters, partOf } from '../../../test/fixtures/linked-clusters.ts'
import { P256 } from '../../crypto/forms/ec-curves.ts'
import { loadScalar } from '../../crypto/forms/ec-private-key.ts'
import { readCertificate } from '../../crypto/signatures/certificate.ts'
import { beginAuthorityChange } from '../set/authority-change.ts'
import { publicKeyOf, renewalDueMs } from '../set/certificates.ts'
import { LINK_TIMES } from './link-times.ts'

const DAY_MS = 86_400_000
const RENEWAL_MS = 60_000
const RENEWED = 'The certificate of this secondary was renewed'

async function nearRenewal(seed: number, renewalMs = RENEWAL_MS) {
  const clusters = await LinkedClusters.begin(seed, 'dr', { renewalMs })
  await clusters.write(1)
  const bundle = await clusters.issue('s')
  await clusters.registry.letIn(bundle)
  const part = partOf(bundle)
  const s = await clusters.followWith(bundle, 's')
  await clusters.untilSame(s)
  return { clusters, s, part }
}

test('T34: a leaf that is due is renewed over the link, which is then made anew with it', async () => {
  const { clusters, s, part } = await nearRenewal(1)
  const keys: Buffer[] = []
  s.owner.onRenewed = ({ certificate, key }) => {
    keys.push(key)
    assert.deepEqual(readCertificate(certificate).spki, publicKeyOf(key))
    const identity = { ...part.identity, certificate, key: loadScalar(P256, key) }
    const renewalMs = renewalDueMs(readCertificate(certificate))
    void s.host.play({ facts: s.facts, listenAt: [], parts: [{ ...part, identity, renewalDueMs: renewalMs }] })
  }
  await clusters.leap(part.renewalDueMs - clusters.time.nowMs - 60_000)
  await clusters.untilSame(s)
  await clusters.time.pass(50_000)
  assert.equal(keys.length, 0)
  await clusters.time.pass(15_000)
  await clusters.untilSame(s)
  assert.deepEqual(keys, [Buffer.alloc(32)], 'its owner has wiped the key')
  const entry = await clusters.registry.view.get('dr/secondary/s')
  assert.match(String(entry), /"renewed":null/, 'the new leaf is in use')
  // It holds long after the first one has ended.
  await clusters.leap(50 * DAY_MS)
  await clusters.untilSame(s)
  assert.equal(s.lines.filter(({ message }) => message === RENEWED).length, 1)
})

test('a leaf from before another authority was begun comes before the word of that, however late', async () => {
  const { clusters, s, part } = await nearRenewal(3)
  const { owner } = clusters.primary
  const { registry, time } = clusters
  const renew = owner.renew.bind(owner)
  const gate = Promise.withResolvers<void>()
  owner.renew = async (...asked) => {
    const renewed = await renew(...asked)
    await gate.promise
    return renewed
  }
  const came: number[] = []
  s.owner.onRenewed = ({ trusted }) => void came.push(trusted.length)
  s.owner.onTrust = async (trusted = []) => void came.push(trusted.length)
  await clusters.leap(part.renewalDueMs - time.nowMs + 1_000)
  await clusters.untilSame(s)
  await time.pass(2_000)
  await registry.run((tx) => beginAuthorityChange(tx, 'dr', registry))
  await clusters.leap(0)
  await time.pass(5_000)
  assert.deepEqual(came, [], 'the leaf is on its way')
  gate.resolve()
  await time.pass(5_000)
  assert.deepEqual(came, [1, 2])
})

test('a leaf that was not kept is asked for again later, and not at once', async () => {
  const { clusters, s, part } = await nearRenewal(2)
  let asked = 0
  s.owner.onRenewed = () => {
    asked++
    throw new Error('The store does not take it')
  }
  await clusters.leap(part.renewalDueMs - clusters.time.nowMs + 1_000)
  await clusters.untilSame(s)
  await clusters.time.pass(2_000)
  clusters.network.reset('p', 's')
  await clusters.time.pass(RENEWAL_MS / 2)
  assert.equal(asked, 1)
  await clusters.time.pass(RENEWAL_MS / 2 + 2_000)
  assert.equal(asked, 2)
  assert.ok(s.lines.some(({ why }) => why === 'The store does not take it'))
})

test('a question whose answer is lost with its link is asked again two minutes later, over the next one', async () => {
  const { clusters, s, part } = await nearRenewal(4, LINK_TIMES.renewalMs)
  const { owner } = clusters.primary
  const renew = owner.renew.bind(owner)
  const gate = Promise.withResolvers<void>()
  let asked = 0
  owner.renew = async (...question) => {
    asked++
    if (asked === 1) await gate.promise
    return renew(...question)
  }
  let came = 0
  s.owner.onRenewed = () => void came++
  await clusters.leap(part.renewalDueMs - clusters.time.nowMs + 1_000)
  await clusters.untilSame(s)
  await clusters.time.pass(2_000)
  assert.deepEqual([asked, came], [1, 0])
  clusters.network.reset('p', 's')
  gate.resolve()
  // A primary that fails at the question would otherwise end one link after the other.
  await clusters.time.pass(2 * LINK_TIMES.healthyMs - 5_000)
  await clusters.untilSame(s)
  assert.deepEqual([asked, came], [1, 0])
  await clusters.time.pass(10_000)
  assert.deepEqual([asked, came], [2, 1])
  clusters.network.reset('p', 's')
  await clusters.time.pass(LINK_TIMES.renewalMs / 2)
  assert.deepEqual([asked, came], [2, 1])
})
