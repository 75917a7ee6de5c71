// What a primary hands to whom, asked as the links ask it.
import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { operationsOf } from '../../../test/fixtures/replicated-server.ts'
import { ReplicatedServers } from '../../../test/fixtures/replicated-servers.ts'
import { x25519Key } from '../../crypto/primitives/hpke.ts'
import type { LinkOwner } from '../../replication/link/link-sides.ts'
import type { ActivationBundle } from '../../replication/set/activation-bundle.ts'
import { openActivation, readActivationToken } from '../../replication/set/activation-token.ts'

const OWN = x25519Key(Buffer.alloc(32, 1)).publicKey
const OTHER = x25519Key(Buffer.alloc(32, 2)).publicKey

function bundleIn(text: string): ActivationBundle {
  const token = readActivationToken(text)
  if (token.kind !== 'bundle') return assert.fail('the text holds a bundle')
  return openActivation(token, { family: 'dr', seed: undefined })
}

/** A primary with a secondary that was let in with the key `OWN`. */
async function stage() {
  const servers = new ReplicatedServers(1)
  const primary = await servers.start('one')
  const operations = operationsOf(primary)
  const done = <T>(work: Promise<T>): Promise<T> => servers.simulation.time.until(work)
  await done(operations.enablePrimary('dr', ''))
  const { text } = await done(operations.secondaryToken('dr', { id: 'two', ttlMs: 60_000, publicKey: '' }))
  const { setId, family, id, leaf: certificate, nonce } = bundleIn(text)
  const arrival = { set: { setId, family }, id, certificate }
  const owner: LinkOwner = primary.server.node.replication.owner ?? assert.fail('it has links')
  const claim = { nonce: nonce.reveal(), receiver: OWN }
  await done(owner.claim(arrival, { ...claim, isLook: false }))
  assert.equal(await done(owner.confirm(arrival, claim)), 'confirmed')
  const { seal } = primary.server.node
  return { operations, owner, arrival, done, seal }
}

test('the seal is sealed for the key that was let in, and for no other', async () => {
  const { owner, arrival, done, seal } = await stage()
  assert.ok(await done(owner.sealFor(arrival, { key: OWN, sealId: 'another' })))
  assert.equal(await done(owner.sealFor(arrival, { key: OWN, sealId: seal.id })), undefined)
  // A copy of an activation token that was used has the certificate, which counts until it is renewed.
  for (const sealId of ['another', seal.id]) {
    await assert.rejects(done(owner.sealFor(arrival, { key: OTHER, sealId })), /another key/)
  }
})

test('who has the certificate of a secondary and not its key is not let in again', async () => {
  const { owner, arrival, done } = await stage()
  assert.deepEqual(Object.keys(await done(owner.admit(arrival, OWN, 0, 'b'))), [
    'epoch',
    'histories',
    'abandoned',
    'followed',
  ])
  const refused = await done(owner.admit(arrival, OTHER, 0, 'b'))
  assert.ok('refused' in refused && refused.refused === 'revoked', JSON.stringify(refused))
})

test('a revoked secondary gets no seal any more, whatever it still has under way', async () => {
  const { operations, owner, arrival, done } = await stage()
  await done(operations.revokeSecondary('dr', 'two'))
  await assert.rejects(done(owner.sealFor(arrival, { key: OWN, sealId: 'another' })), /revoked/)
})
