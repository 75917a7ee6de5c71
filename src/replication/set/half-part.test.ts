import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pseudoRandom } from '../../../test/fixtures/pseudo-random.ts'
import { NOW, primaryOfSet, RECEIVER, SetCluster } from '../../../test/fixtures/set-cluster.ts'
import { readAuthorities } from './authorities.ts'
import { newAuthority, publicKeyOf, readAuthority, readLeaf } from './certificates.ts'
import { changePrimary, leavePrimary, promotePrimary, readParted } from './changing-hands.ts'
import { type Mended, mendHalfPart } from './half-part.ts'
import { readState } from './records.ts'
import { becomeSecondary, copyIsWhole, ownIdentity } from './secondary-operations.ts'

const family = 'performance' as const

/** Halves of each two members. */
const DRAWN = 8

type Records = ReadonlyMap<string, Buffer>

async function recordsOf(seed: number, ...steps: readonly ((cluster: SetCluster) => Promise<unknown>)[]) {
  const cluster = new SetCluster(seed)
  for (const step of steps) await step(cluster)
  return new Map(cluster.view.entries)
}

/** What members of one set keep of it, and one of another set. */
async function members(): Promise<Readonly<Record<string, Records>>> {
  const { cluster, bundle, setId } = await primaryOfSet(21, family)
  const { bundle: later } = await cluster.issue(family, 'site/c')
  const kept = { bundle, receiver: RECEIVER }
  const follow = (into: SetCluster) => into.run((tx) => becomeSecondary(tx, kept, NOW))
  const serve = (into: SetCluster) => into.run((tx) => copyIsWhole(tx, family, NOW))
  const change = (into: SetCluster) =>
    into.run((tx) => changePrimary(tx, { bundle: later, receiver: Buffer.alloc(32, 3) }, true))
  const promote = async (into: SetCluster) => {
    const authority = newAuthority({ setId, family }, into)
    const promotion = { family, authority, clusterAddress: '', historyId: Buffer.alloc(16, 9), nowMs: NOW }
    await into.run((tx) => promotePrimary(tx, { ...promotion, followed: undefined }))
  }
  return {
    primary: new Map(cluster.view.entries),
    'primary of another set': (await primaryOfSet(22, family)).cluster.view.entries,
    'promoted one': await recordsOf(23, follow, serve, promote),
    'secondary that is being copied': await recordsOf(24, follow),
    secondary: await recordsOf(25, follow, serve),
    'secondary with another token': await recordsOf(26, follow, serve, change),
    'secondary without a primary': await recordsOf(27, follow, serve, (into) =>
      into.run((tx) => leavePrimary(tx, family, false)),
    ),
    'cluster in no set': new Map(),
  }
}

/** Takes half of what they have, by the bits of `taken`: the rest is as it was here. */
function half(ours: Records, theirs: Records, paths: readonly string[], taken: number): SetCluster {
  const cluster = new SetCluster(28)
  paths.forEach((path, at) => {
    const value = (taken & (1 << at) ? theirs : ours).get(path)
    if (value !== undefined) cluster.view.plant(path, value)
  })
  return cluster
}

function mend(cluster: SetCluster): Promise<Mended> {
  const authorities = new Map<string, ReturnType<typeof newAuthority>>()
  return cluster.run((tx) =>
    mendHalfPart(tx, (set) => {
      const made = authorities.get(set.setId) ?? newAuthority(set, cluster)
      authorities.set(set.setId, made)
      return { ...made, key: Buffer.from(made.key) }
    }),
  )
}

/** What each kind of member must be able to do with its records, as the operations of a set see them. */
async function requireUsable(cluster: SetCluster): Promise<void> {
  const state = await cluster.run((tx) => readState(tx, family))
  const paths = [...cluster.view.entries.keys()]
  if (state === undefined) return assert.deepEqual(paths, [])
  const has = (pattern: RegExp): boolean => paths.some((path) => pattern.test(path))
  const identity = await cluster.run((tx) => ownIdentity(tx, family))
  if (state.mode === 'primary') {
    // A registry whose filters are not here would let everything out.
    assert.ok(!has(/identity|leaf-key|receiver|parted|secondary\/|filter\//), paths.join())
    const { bundle } = await cluster.issue(family, 'site/new')
    const { present } = await cluster.run((tx) => readAuthorities(tx, family))
    const authority = readAuthority({ setId: state.setId, family }, present)
    return assert.equal(readLeaf(authority, bundle.leaf).peer.id, 'site/new')
  }
  assert.ok(!has(/authority|secondary\//), paths.join())
  if (identity === undefined) return assert.notEqual(await cluster.run((tx) => readParted(tx, family)), undefined)
  assert.ok(has(/\/receiver$/), paths.join())
  assert.deepEqual(identity.leaf.spki, publicKeyOf(identity.own.key))
}

// The simulator found it with PERFORMANCE=1 SEED=810017709: promoted by force in the middle of a comparison, a cluster
// was the primary of its set, and had no authority.
test('of half a part in a performance set what fits together stays, whichever half it is', async () => {
  const random = pseudoRandom(29)
  const all = Object.entries(await members())
  const outcomes = new Map<string, number>()
  for (const [our, ours] of all)
    for (const [their, theirs] of all) {
      const paths = [...new Set([...ours.keys(), ...theirs.keys()])].filter((path) => path.startsWith(`${family}/`))
      const most = 2 ** paths.length - 1
      for (const taken of new Set([0, most, ...Array.from({ length: DRAWN }, () => random.int(most + 1))])) {
        const cluster = half(ours, theirs, paths, taken)
        const before = new Map(cluster.view.entries)
        const outcome = await mend(cluster)
        const what = `${taken} of ${paths.join()}: ${their} over ${our}`
        if (outcome === 'whole') assert.deepEqual(cluster.view.entries, before, what)
        await requireUsable(cluster).catch((cause) => assert.fail(`${what}: ${cause}`))
        const isAll = taken === 0 || taken === most
        const isPrimary = (await cluster.run((tx) => readState(tx, family)))?.mode === 'primary'
        const whole = before.size === 0 ? 'none' : isPrimary ? 'new authority' : 'whole'
        if (isAll) assert.equal(outcome, whole, what)
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
      }
    }
  assert.deepEqual([...outcomes.keys()].sort(), ['new authority', 'no primary', 'none', 'whole'])
})
