import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { EDITIONS, FEATURES, featuresOf, requireFeature, requireReplication } from './edition.ts'

test('each edition has exactly the features that are not refused in it', () => {
  for (const edition of EDITIONS) {
    const allowed = FEATURES.filter((feature) => {
      try {
        requireFeature(edition, feature)
        return true
      } catch {
        return false
      }
    })
    assert.deepEqual(featuresOf(edition), allowed, edition)
  }
  assert.deepEqual(featuresOf('enterprise'), FEATURES)
})

test('plus lacks disaster recovery, community replication, managed keys and entropy of the seal', () => {
  const lacking = (edition: (typeof EDITIONS)[number]) =>
    FEATURES.filter((feature) => !featuresOf(edition).includes(feature))
  assert.deepEqual(lacking('plus'), ['DR Replication'])
  assert.deepEqual(lacking('community'), [
    'DR Replication',
    'Entropy Augmentation',
    'Managed Keys',
    'Performance Replication',
  ])
})

test('a refusal is a 400 that names feature and edition', () => {
  assert.throws(() => requireFeature('community', 'Managed Keys'), {
    status: 400,
    message: 'Managed Keys is not licensed: the edition of this server is "community"',
  })
})

test('4.4: each family of replication needs its feature, and the refusal names that and the edition', () => {
  for (const family of ['dr', 'performance'] as const) requireReplication('enterprise', family)
  requireReplication('plus', 'performance')
  const refuses = (edition: 'plus' | 'community', family: 'dr' | 'performance', feature: string) =>
    assert.throws(() => requireReplication(edition, family), {
      status: 400,
      message: `${feature} is not licensed: the edition of this server is "${edition}"`,
    })
  refuses('plus', 'dr', 'DR Replication')
  refuses('community', 'dr', 'DR Replication')
  refuses('community', 'performance', 'Performance Replication')
})
