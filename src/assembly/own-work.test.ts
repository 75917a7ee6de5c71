import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { quickWork } from '../../test/fixtures/quick-work.ts'
import { ACTIVE_PRIMARY, FOLLOWS_NONE, type NodeRole } from '../api/node-role.ts'
import { realWorld } from '../lib/world.ts'
import type { Store } from '../storage/contract.ts'
import { createMemoryStore } from '../storage/memory-store.ts'
import { VERSION } from '../version.ts'
import { type OwnWork, ownWork, RunningWork } from './own-work.ts'
import { assembleWriting, type WritingNode } from './writing-node.ts'

const world = realWorld()
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/

const nodeOver = (store: Store, role: Partial<NodeRole> = {}): Promise<WritingNode> =>
  assembleWriting({
    role: 'all',
    store,
    world,
    slow: quickWork(world),
    log: () => {},
    facts: { reportedVersion: '1.21.0', storageType: 'inmem', apiAddress: '', clusterName: '' },
    tokenLimits: { defaultTtlSeconds: 3600, maxTtlSeconds: 3600 },
    firstRole: { ...FOLLOWS_NONE, role: { ...ACTIVE_PRIMARY, ...role } },
  })

/** A store that was initialised and never opened, and the key that opens it. */
async function newStore(): Promise<{ readonly store: Store; readonly key: Buffer }> {
  const store = createMemoryStore({ random: world.random, clock: world.clock })
  const { shares } = await (await nodeOver(store)).initialise({ shares: 1, threshold: 1 }, '', {})
  return { store, key: shares[0] as Buffer }
}

const listOf = (node: WritingNode, store: Store): readonly OwnWork[] =>
  ownWork({ ...node, auth: node, rotation: node.operations.rotation, store, random: world.random, log: () => {} })

const OF_A_SET = [
  'what a promotion in the set leaves to do',
  'writes that were lost to the set',
  'keys of the set',
  'new terms of the keyring',
  'shared mounts that are missing',
  'unmounting of shared mounts that was cut off',
  'memberships of earlier releases',
  'the key of wrapping tokens',
  'the deletion of namespaces',
  'the end of policies',
  'the upkeep of shared mounts',
  'what engines of shared mounts begin',
]
const OF_A_CLUSTER = [
  'keys of this cluster',
  'what a promotion leaves to do',
  'audit entries of earlier releases',
  'local mounts that are missing',
  'unmounting of local mounts that was cut off',
  'leftovers of mounts',
  'what the primary has to know of mounts',
  'what is left here of deleted namespaces',
  'indexes of tokens',
  'the end of tokens',
  'aliases without an entity',
  'the upkeep of local mounts',
  'what engines of local mounts begin',
  'what a filter keeps from this cluster',
]
const OF_A_NODE = [
  'whom writes wait for',
  'declared audit devices',
  'the history that audit knows',
  'uses of the data key',
  'the version of this program',
  'links to other clusters',
]

const ROLES: readonly { readonly name: string; readonly role: Partial<NodeRole>; readonly does: readonly string[] }[] =
  [
    { name: 'the active primary', role: {}, does: [...OF_A_SET, ...OF_A_CLUSTER, ...OF_A_NODE] },
    { name: 'a performance secondary', role: { performance: 'secondary' }, does: [...OF_A_CLUSTER, ...OF_A_NODE] },
    { name: 'a secondary for disaster recovery', role: { dr: 'secondary' }, does: OF_A_NODE },
    {
      name: 'a performance secondary whose copy is not whole',
      role: { performance: 'bootstrapping' },
      does: ['keys of this cluster', 'what a filter keeps from this cluster', ...OF_A_NODE],
    },
    { name: 'a DR secondary whose copy is not whole', role: { dr: 'bootstrapping' }, does: OF_A_NODE },
    { name: 'a standby', role: { isStandby: true }, does: OF_A_NODE },
    {
      name: 'a standby of a performance secondary',
      role: { isStandby: true, performance: 'secondary' },
      does: OF_A_NODE,
    },
    { name: 'a fenced primary', role: { isFenced: true, dr: 'primary' }, does: OF_A_NODE },
  ]

/** The list with lines that only tell what they are asked to do. */
function notedList(list: readonly OwnWork[]): { readonly list: readonly OwnWork[]; readonly did: string[] } {
  const did: string[] = []
  const noted = list.map((line) => ({
    ...line,
    begin: () => void did.push(line.name),
    ...(line.end === undefined ? {} : { end: () => void did.push(`no more: ${line.name}`) }),
  }))
  return { list: noted, did }
}

for (const { name, role, does } of ROLES) {
  test(`${name} begins by itself what its role allows, in the order of the list, and ends all of it`, async () => {
    const { store } = await newStore()
    const list = listOf(await nodeOver(store), store)
    const noted = notedList(list)
    const work = new RunningWork(noted.list, () => {})
    const whole = { ...ACTIVE_PRIMARY, ...role }
    await work.begin(whole, 'before serving')
    await work.begin(whole)
    const begun = list.filter((line) => does.includes(line.name))
    assert.deepEqual(
      noted.did,
      begun.map((line) => line.name),
    )
    assert.equal(begun.length, does.length)
    noted.did.length = 0
    work.end()
    work.end()
    const ended = begun.filter(({ end }) => end !== undefined)
    assert.deepEqual(
      noted.did,
      ended.map((line) => `no more: ${line.name}`),
    )
  })
}

test('a role that changes ends and begins exactly what it forbids and allows', async () => {
  const line = (name: string, changes: OwnWork['changes']): OwnWork => ({
    name,
    changes,
    begin: () => {},
    end: () => {},
  })
  const { list, did } = notedList([line('S', 'set'), line('C', 'cluster'), line('N', 'node')])
  const work = new RunningWork(list, () => {})
  const become = async (role: Partial<NodeRole>): Promise<string[]> => {
    const whole = { ...ACTIVE_PRIMARY, ...role }
    work.keepTo(whole)
    await work.begin(whole)
    return did.splice(0)
  }
  assert.deepEqual(await become({}), ['S', 'C', 'N'])
  assert.deepEqual(await become({ dr: 'primary' }), [])
  assert.deepEqual(await become({ dr: 'primary', isFenced: true }), ['no more: S', 'no more: C'])
  assert.deepEqual(await become({ dr: 'secondary' }), [])
  assert.deepEqual(await become({ performance: 'secondary' }), ['C'])
  assert.deepEqual(await become({}), ['S'])
  work.end()
  assert.deepEqual(did.splice(0).toSorted(), ['no more: C', 'no more: N', 'no more: S'])
  assert.deepEqual(await become({ performance: 'secondary' }), ['C', 'N'])
})

test('work that cannot begin holds up no other, is ended, and is begun by the next call alone', async () => {
  const did: string[] = []
  let isBroken = true
  const line = (name: string): OwnWork => ({
    name,
    changes: 'node',
    begin: () => {
      did.push(name)
      if (name === 'second' && isBroken) throw new Error('no space')
    },
    end: () => void did.push(`no more: ${name}`),
  })
  const work = new RunningWork([line('first'), line('second'), line('third')], () => {})
  await assert.rejects(work.begin(ACTIVE_PRIMARY), /no space/)
  assert.deepEqual(did.splice(0), ['first', 'second', 'no more: second', 'third'])
  isBroken = false
  await work.begin(ACTIVE_PRIMARY)
  assert.deepEqual(did.splice(0), ['second'])
})

test('a node that is opened writes nothing that its role leaves to others', async () => {
  const writtenAtOpening = async (role: Partial<NodeRole>): Promise<string[]> => {
    const { store, key } = await newStore()
    const before = await store.lastIndex()
    const node = await nodeOver(store, role)
    await node.unsealWith(key)
    const changes = await store.changesSince(before, 1_000)
    await node.operations.seal()
    return changes.flatMap(({ operations }) => operations.map((each) => each.key.replace(UUID, 'UUID'))).sort()
  }
  const ofThisNode = ['root/core/audit-history', 'root/core/key-use', `root/core/version/${VERSION}`]
  const ofItsCluster = ['root/core/local-mounts/UUID']
  const ofTheSet = ['root/core/mounts/UUID', 'root/core/wrapping-key', 'root/sys/identity/login-groups-moved']
  assert.deepEqual(await writtenAtOpening({}), [...ofThisNode, ...ofItsCluster, ...ofTheSet].sort())
  const secondary = [...ofThisNode, ...ofItsCluster].sort()
  assert.deepEqual(await writtenAtOpening({ performance: 'secondary' }), secondary)
  const others: readonly Partial<NodeRole>[] = [{ dr: 'secondary' }, { isStandby: true }, { isFenced: true }]
  for (const role of others) assert.deepEqual(await writtenAtOpening(role), ofThisNode, JSON.stringify(role))
})
