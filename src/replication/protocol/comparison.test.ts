import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type PseudoRandom, pseudoRandom } from '../../../test/fixtures/pseudo-random.ts'
import { testSeed } from '../../../test/fixtures/seed.ts'
import { importSecret } from '../../crypto/primitives/secret-key.ts'
import type { TreeClass } from '../../storage/contract.ts'
import { bucketKeyOf, Tree } from '../../storage/log/tree.ts'
import type { ReplicationFamily } from '../../storage/peer-log.ts'
import { differingBuckets, differingPages, digestsOf, pagesOf, rootsOf } from './comparison.ts'
import { ProtocolFault } from './frames.ts'

const BUCKET_KEY = bucketKeyOf(importSecret(Buffer.alloc(32, 5)))
const MOUNTS = ['1', '2', '3'].map((digit) => `0000000${digit}-0000-4000-8000-000000000000`)

type Kept = { readonly class: TreeClass; readonly key: string; readonly leaf: Buffer }

function treeOf(entries: readonly Kept[]): Tree {
  const tree = new Tree()
  for (const { class: of, key, leaf } of entries) tree.add(of, key, leaf, BUCKET_KEY)
  return tree
}

function someEntries(random: PseudoRandom, count: number): Kept[] {
  return Array.from({ length: count }, (_, at) => ({
    class: random.pick(['replicated', 'local'] as const),
    key: `root/logical/${random.pick(MOUNTS)}/key-${at}`,
    leaf: Buffer.from(Array.from({ length: 16 }, () => random.int(256))),
  }))
}

const isAny = (_scope: string): boolean => true
const DR = { family: 'dr', isReached: isAny } as const

/** What the secondary finds by what goes over the link. */
function compared(secondary: Tree, primary: Tree, family: ReplicationFamily, isReached = isAny) {
  const pages = pagesOf(primary, { family, isReached }, rootsOf(secondary, { family, isReached }))
  return differingBuckets(secondary, digestsOf(primary, differingPages(secondary, pages)))
}

test('a secondary finds the very buckets in which the trees differ', (t) => {
  const random = pseudoRandom(testSeed(t))
  for (let run = 0; run < 60; run++) {
    const ours = someEntries(random, random.int(400))
    // Some entries are missing, some are others, some are there on one end alone, whole mounts among them.
    const kept = ours.filter(({ key }) => random.int(10) > 0 && !(run % 5 === 0 && key.includes(MOUNTS[0] as string)))
    const changed = kept.map((each) => (random.int(20) === 0 ? { ...each, leaf: Buffer.alloc(16, 1) } : each))
    const theirs = [...changed, ...(run % 3 === 0 ? [] : someEntries(random, 5).map(renamed))]
    const [secondary, primary] = [treeOf(ours), treeOf(theirs)]
    assert.deepEqual(sorted(compared(secondary, primary, 'dr')), sorted(secondary.differences(primary)), `run ${run}`)
    const shared = secondary.differences(primary).filter((bucket) => bucket.class === 'replicated')
    assert.deepEqual(sorted(compared(secondary, primary, 'performance')), sorted(shared), `run ${run}`)
  }
})

test('of equal trees no page is told, of equal scopes none of theirs', (t) => {
  const entries = someEntries(pseudoRandom(testSeed(t)), 200)
  const [secondary, primary] = [treeOf(entries), treeOf(entries)]
  assert.deepEqual(pagesOf(primary, DR, rootsOf(secondary, DR)), [])
  primary.add('local', `root/logical/${MOUNTS[1]}/one-more`, Buffer.alloc(16, 9), BUCKET_KEY)
  const told = pagesOf(primary, DR, rootsOf(secondary, DR))
  assert.deepEqual(
    told.map(({ class: of, scope }) => [of, scope]),
    [['local', `root/${MOUNTS[1]}`]],
  )
})

test('a scope that is not reached is told by neither end', (t) => {
  const random = pseudoRandom(testSeed(t))
  const [secondary, primary] = [treeOf(someEntries(random, 100)), treeOf(someEntries(random, 100))]
  const isReached = (scope: string): boolean => scope === `root/${MOUNTS[1]}`
  const narrow = { family: 'dr', isReached } as const
  const roots = rootsOf(secondary, narrow)
  assert.deepEqual([...new Set(roots.map(({ scope }) => scope))], [`root/${MOUNTS[1]}`])
  assert.ok(pagesOf(primary, narrow, rootsOf(secondary, DR)).every(({ scope }) => isReached(scope)))
  const differing = secondary.differences(primary).filter(({ scope }) => isReached(scope))
  assert.deepEqual(sorted(compared(secondary, primary, 'dr', isReached)), sorted(differing))
})

test('digests that no tree has are a fault of the peer', () => {
  const page = { class: 'local', scope: 'root/system', page: 3 } as const
  const twice = Buffer.concat([Buffer.alloc(17, 1), Buffer.alloc(17, 1)])
  for (const digests of [Buffer.alloc(16, 1), Buffer.alloc(17), twice]) {
    assert.throws(() => differingBuckets(new Tree(), [{ ...page, digests }]), ProtocolFault)
  }
})

const renamed = (entry: Kept): Kept => ({ ...entry, key: `${entry.key}-new` })
const sorted = (buckets: readonly object[]): string[] => buckets.map((bucket) => JSON.stringify(bucket)).sort()
