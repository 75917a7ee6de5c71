import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { quickWork } from '../../test/fixtures/quick-work.ts'
import { ACTIVE_PRIMARY, type NodeRole } from '../api/node-role.ts'
import { realWorld } from '../lib/world.ts'
import type { Store } from '../storage/contract.ts'
import { createMemoryStore } from '../storage/memory-store.ts'
import { VERSION } from '../version.ts'
import { assembleNode } from './node.ts'
import { beginWork, endWork, type OwnWork, ownWork } from './own-work.ts'
import type { WritingNode } from './writing-node.ts'

const world = realWorld()
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/

const nodeOver = (store: Store, nodeRole: () => NodeRole = () => ACTIVE_PRIMARY): Promise<WritingNode> =>
  assembleNode({
    role: 'all',
    store,
    world,
    slow: quickWork(world),
    log: () => {},
    facts: { reportedVersion: '1.21.0', storageType: 'inmem', apiAddress: '', clusterName: '' },
    tokenLimits: { defaultTtlSeconds: 3600, maxTtlSeconds: 3600 },
    nodeRole,
  })

/** A store that was initialised and never opened, and the key that opens it. */
async function newStore(): Promise<{ readonly store: Store; readonly key: Buffer }> {
  const store = createMemoryStore({ random: world.random, clock: world.clock })
  const { shares } = await (await nodeOver(store)).initialise({ shares: 1, threshold: 1 }, '', {})
  return { store, key: shares[0] as Buffer }
}

const OF_A_SET = [
  'keys of the set',
  'mounts that are missing',
  'unmounting that was cut off',
  'memberships of earlier releases',
  'the key of wrapping tokens',
  'the end of policies',
]
const OF_A_CLUSTER = [
  'keys of this cluster',
  'local mounts that are missing',
  'leftovers of mounts',
  'audit entries of earlier releases',
  'indexes of tokens',
  'the end of tokens',
  'aliases without an entity',
]
const OF_A_NODE = ['the version of this program']
const OF_EACH_MOUNT = ['the upkeep of mounts', 'what engines begin']

const ROLES: readonly { readonly name: string; readonly role: Partial<NodeRole>; readonly does: readonly string[] }[] =
  [
    { name: 'the active primary', role: {}, does: [...OF_A_SET, ...OF_A_CLUSTER, ...OF_A_NODE, ...OF_EACH_MOUNT] },
    {
      name: 'a performance secondary',
      role: { performance: 'secondary' },
      does: [...OF_A_CLUSTER, ...OF_A_NODE, ...OF_EACH_MOUNT],
    },
    {
      name: 'a secondary for disaster recovery',
      role: { dr: 'secondary' },
      does: [...OF_A_NODE, ...OF_EACH_MOUNT],
    },
    { name: 'a standby', role: { isStandby: true }, does: [...OF_A_NODE, ...OF_EACH_MOUNT] },
    {
      name: 'a standby of a performance secondary',
      role: { isStandby: true, performance: 'secondary' },
      does: [...OF_A_NODE, ...OF_EACH_MOUNT],
    },
  ]

for (const { name, role, does } of ROLES) {
  test(`${name} begins by itself what its role allows, in the order of the list, and ends all of it`, async () => {
    const { store } = await newStore()
    const node = await nodeOver(store)
    const list = ownWork({ auth: node, ...node, store, random: world.random, log: () => {} })
    const did: string[] = []
    const noted: OwnWork[] = list.map((work) => ({
      ...work,
      begin: () => void did.push(work.name),
      ...(work.end === undefined ? {} : { end: () => void did.push(`no more: ${work.name}`) }),
    }))
    await beginWork(noted, { ...ACTIVE_PRIMARY, ...role })
    assert.deepEqual(
      did,
      list.map((work) => work.name).filter((each) => does.includes(each)),
    )
    assert.equal(did.length, does.length)
    did.length = 0
    endWork(noted)
    assert.deepEqual(did, [
      'no more: the end of tokens',
      'no more: the end of policies',
      'no more: aliases without an entity',
      'no more: the upkeep of mounts',
    ])
  })
}

test('a node that is opened writes nothing that its role leaves to others', async () => {
  const writtenAtOpening = async (role: Partial<NodeRole>): Promise<string[]> => {
    const { store, key } = await newStore()
    const before = await store.lastIndex()
    const node = await nodeOver(store, () => ({ ...ACTIVE_PRIMARY, ...role }))
    await node.unsealWith(key)
    const changes = await store.changesSince(before, 1_000)
    await node.operations.seal()
    return changes.flatMap(({ operations }) => operations.map((each) => each.key.replace(UUID, 'UUID'))).sort()
  }
  const ofThisNode = ['root/core/audit-history', 'root/core/key-use', `root/core/version/${VERSION}`]
  const ofOthersToo = ['root/core/local-mounts/UUID', 'root/core/mounts/UUID', 'root/core/wrapping-key']
  assert.deepEqual(await writtenAtOpening({}), [...ofThisNode, ...ofOthersToo].sort())
  const roles: readonly Partial<NodeRole>[] = [{ dr: 'secondary' }, { isStandby: true }]
  for (const role of roles) assert.deepEqual(await writtenAtOpening(role), ofThisNode, JSON.stringify(role))
  const ofItsCluster = [...ofThisNode, 'root/core/local-mounts/UUID'].sort()
  assert.deepEqual(await writtenAtOpening({ performance: 'secondary' }), ofItsCluster)
})
