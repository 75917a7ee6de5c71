import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  NOW,
  outcome,
  primaryOfSet,
  RECEIVER,
  type SetCluster,
  THIEF,
  TTL_MS,
} from '../../../test/fixtures/set-cluster.ts'
import { admitSecondary, type Greeting, renewLeaf } from './admission.ts'
import { CLIENT_LIFE_MS, EARLY_MS, type KeyedCertificate, newLeaf, newLeafKey, publicKeyOf } from './certificates.ts'
import { clearHandingOver, noteHandingOver } from './handing-over-note.ts'
import { knownSecondaries, revokeSecondary } from './primary-operations.ts'
import { findSecondary } from './records.ts'

test('P-53: a secondary is let in once: claimed, confirmed, and the token is worth nothing afterwards', async () => {
  const { cluster, bundle } = await primaryOfSet(7)
  outcome(await cluster.admit(bundle), 'not_activated')
  outcome(await cluster.confirm(bundle), 'not_activated')
  outcome(await cluster.claim(bundle), 'admitted')
  outcome(await cluster.admit(bundle), 'not_activated')
  // A crash before it stored what it was given: it comes again.
  outcome(await cluster.claim(bundle), 'admitted')
  cluster.nowMs += TTL_MS
  // It stored that in time, and the right ended meanwhile.
  outcome(await cluster.confirm(bundle), 'admitted')
  // The answer was lost.
  outcome(await cluster.confirm(bundle), 'admitted')
  outcome(await cluster.admit(bundle), 'admitted')
  cluster.nowMs = NOW
  outcome(await cluster.claim(bundle), 'token_used')
  const entry = await cluster.run((tx) => findSecondary(tx, 'dr', 'site/b'))
  assert.deepEqual([entry?.state, entry?.activatedAtMs], ['active', NOW + TTL_MS])
})

test('a token lets no cluster in after its TTL, with another nonce, or for another key than the first', async () => {
  const { cluster, bundle } = await primaryOfSet(8)
  outcome(await cluster.claim(bundle, RECEIVER, Buffer.alloc(32)), 'token_unknown')
  outcome(await cluster.claim(bundle, RECEIVER, Buffer.alloc(0)), 'token_unknown')
  cluster.nowMs = NOW + TTL_MS
  outcome(await cluster.claim(bundle), 'token_ended')
  cluster.nowMs = NOW + TTL_MS - 1
  outcome(await cluster.claim(bundle), 'admitted')
  outcome(await cluster.claim(bundle, THIEF), 'token_taken')
  outcome(await cluster.confirm(bundle, THIEF), 'token_taken')
  outcome(await cluster.confirm(bundle, RECEIVER, Buffer.alloc(32)), 'token_unknown')
  outcome(await cluster.confirm(bundle), 'admitted')
  outcome(await cluster.claim(bundle, THIEF), 'token_taken')
  const known = await cluster.run((tx) => knownSecondaries(tx, 'dr'))
  assert.deepEqual(known, ['site/b'])
})

test('a peer is whom its leaf names: another set, family, id or role is refused, and a clock that is off', async () => {
  const { cluster, bundle, setId } = await primaryOfSet(11)
  await cluster.letIn(bundle)
  const { bundle: other } = await cluster.issue('dr', 'site/c')
  await cluster.letIn(other)
  const elsewhere = await primaryOfSet(12)
  const asks = (changed: Partial<Greeting>) =>
    cluster.run((tx) => admitSecondary(tx, { ...cluster.greeting(bundle), ...changed }))
  outcome(await asks({}), 'admitted')
  outcome(await asks({ says: other }), 'set_mismatch')
  outcome(await asks({ says: { ...bundle, family: 'performance' } }), 'set_mismatch')
  outcome(await asks({ says: elsewhere.bundle }), 'set_mismatch')
  outcome(await asks({ certificate: elsewhere.bundle.leaf, says: elsewhere.bundle }), 'set_mismatch')
  outcome(await asks({ certificate: Buffer.from('none') }), 'set_mismatch')
  const key = newLeafKey(cluster.random)
  const authority = await storedCa(cluster)
  const made = (role: 'primary' | 'secondary', id: string) =>
    newLeaf(authority, { setId, family: 'dr', role, id }, publicKeyOf(key), cluster)
  const node = made('primary', 'site/b')
  outcome(await asks({ certificate: node }), 'set_mismatch')
  // The authority signed it, and the registry does not know it.
  outcome(await asks({ certificate: made('secondary', 'site/b') }), 'revoked')
  outcome(await asks({ certificate: made('secondary', 'new'), says: { ...bundle, id: 'new' } }), 'revoked')
  outcome(await asks({ nowMs: NOW - EARLY_MS - 1 }), 'clock')
  outcome(await asks({ nowMs: NOW + CLIENT_LIFE_MS + 1_000 }), 'certificate_ended')
  outcome(await asks({ family: 'performance' }), 'not_primary')
})

// FILTERS=1 SEED=820010889: a secondary was let in behind the end of what the DR secondary of its primary had, which
// was promoted then, and knew nothing of it.
test('while a primary hands over it lets in nobody new for performance, and makes no certificate', async () => {
  for (const family of ['performance', 'dr'] as const) {
    const { cluster, bundle } = await primaryOfSet(14, family)
    const { bundle: other } = await cluster.issue(family, 'site/c')
    const handsOver = (): Promise<void> => cluster.run((tx) => noteHandingOver(tx, cluster.nowMs))
    const goesOn = (): Promise<void> => cluster.run(async (tx) => clearHandingOver(tx))
    const refused = (code: string, of: Awaited<ReturnType<typeof cluster.claim>>): void =>
      outcome(of, family === 'dr' ? 'admitted' : code)
    await cluster.letIn(bundle)
    await handsOver()
    refused('hands_over', await cluster.claim(other))
    outcome(await cluster.admit(bundle), 'admitted')
    await goesOn()
    outcome(await cluster.claim(other), 'admitted')
    await handsOver()
    refused('hands_over', await cluster.confirm(other))
    await goesOn()
    outcome(await cluster.confirm(other), 'admitted')
    cluster.nowMs = NOW - EARLY_MS + Math.floor(((CLIENT_LIFE_MS + EARLY_MS) * 2) / 3)
    await handsOver()
    refused('not_due', await cluster.renew(bundle))
  }
})

async function storedCa(cluster: SetCluster): Promise<KeyedCertificate> {
  const [certificate, key] = ['dr/authority', 'dr/authority-key'].map((path) => cluster.view.entries.get(path))
  return { certificate: certificate ?? assert.fail(), key: key ?? assert.fail() }
}

test('a renewed leaf counts beside the one before until its first use, and alone from then on', async () => {
  const { cluster, bundle } = await primaryOfSet(13)
  outcome(await cluster.renew(bundle), 'not_activated')
  await cluster.letIn(bundle)
  const dueMs = NOW - EARLY_MS + Math.floor(((CLIENT_LIFE_MS + EARLY_MS) * 2) / 3)
  cluster.nowMs = dueMs - 1_000
  outcome(await cluster.renew(bundle), 'not_due')
  cluster.nowMs = dueMs
  const lost = await cluster.renew(bundle)
  const kept = await cluster.renew(bundle)
  assert.ok('certificate' in lost && 'certificate' in kept)
  outcome(await cluster.admit(bundle), 'admitted')
  outcome(await cluster.admit(bundle, lost.certificate), 'revoked')
  outcome(await cluster.admit(bundle, kept.certificate), 'admitted')
  outcome(await cluster.admit(bundle), 'revoked')
  outcome(await cluster.admit(bundle, kept.certificate), 'admitted')
  outcome(await cluster.renew(bundle, kept.certificate), 'not_due')
  const badKey = await cluster.run((tx) =>
    renewLeaf(
      tx,
      { ...cluster.greeting(bundle, kept.certificate), nowMs: dueMs + CLIENT_LIFE_MS },
      Buffer.alloc(9),
      cluster,
    ),
  )
  outcome(badKey, 'bad_key')
  await cluster.run((tx) => revokeSecondary(tx, 'dr', 'site/b'))
  outcome(await cluster.admit(bundle, kept.certificate), 'revoked')
})
