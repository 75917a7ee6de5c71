// A whole server in each role, with everything due that a server does by itself, for 30 days of its own time.

import { strict as assert } from 'node:assert'
import { test } from 'node:test'
import { coarseTime } from '../../test/fixtures/coarse-time.ts'
import { type MemoryServer, START_MS, startMemoryServer } from '../../test/fixtures/memory-server.ts'
import { ROOT } from '../api/namespace.ts'
import {
  ACTIVE_PRIMARY,
  type DataOwner,
  FOLLOWS_NONE,
  mayChange,
  type NodeRole,
  type RoleState,
} from '../api/node-role.ts'
import { AUDIT_ORIGIN } from '../audit/state-origin.ts'
import { realWorld, type World } from '../lib/world.ts'
import { putState, SETS_FOLDER } from '../replication/set/records.ts'
import { putTakenOver } from '../replication/set/taken-over.ts'
import { type MayWrite, type StorageClass, type Store, systemScope } from '../storage/contract.ts'
import { VERSION } from '../version.ts'
import { ownWork } from './own-work.ts'

const HOUR_MS = 3_600_000
const STEP_HOURS = 2
const DAYS = 30
const OWNERS = { replicated: 'set', local: 'cluster', ignored: 'node' } as const

const TENANTS = {
  shared: '11111111-1111-4111-8111-111111111111',
  local: '22222222-2222-4222-8222-222222222222',
} as const

/** A device that writes nothing. */
const DECLARED = { path: 'declared/', type: 'file', description: '', local: true, options: { file_path: 'discard' } }
const AUDIT = { settings: { declared: [DECLARED], allowsApi: true } }

/** What a server did in its days. */
type Doings = {
  /** Classes that were written, as the log has them. */
  readonly written: Set<StorageClass>
  /** Classes that the gate refused to write. */
  readonly refused: Set<StorageClass>
  /** Tenants whose cloud was asked. */
  readonly asked: Set<string>
  /** Keys that were written. */
  readonly keys: Set<string>
}

/** The store, with a note of each class that its gate refuses. */
function watched(store: Store, refused: Set<StorageClass>): Store {
  const setWritable = (mayWrite: MayWrite): Promise<void> =>
    store.setWritable((storageClass, key) => {
      const isAllowed = mayWrite(storageClass, key)
      if (!isAllowed) refused.add(storageClass)
      return isAllowed
    })
  return new Proxy(store, {
    get: (target, name) => {
      if (name === 'setWritable') return setWritable
      const member: unknown = Reflect.get(target, name)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
}

const roleOf = (role: Partial<NodeRole>): RoleState => ({ ...FOLLOWS_NONE, role: { ...ACTIVE_PRIMARY, ...role } })

type Stage = {
  readonly server: MemoryServer
  readonly doings: Doings
  pass(hours: number): Promise<void>
}

const OK = new Set([200, 204])

/** Leaves something to do for each line of the list, now or within days, and the store `without` some entries. */
async function fill({ node, call }: MemoryServer, role: Partial<NodeRole>, without: readonly string[]): Promise<void> {
  const must = async (path: string, body: object): Promise<void> => {
    const { status, body: answer } = await call('POST', path, body)
    assert.ok(OK.has(status), `${path}: ${status} ${JSON.stringify(answer)}`)
  }
  for (const which of ['shared', 'local'] as const) {
    const local = which === 'local'
    for (const name of ['transit', 'gone']) {
      await must(`sys/mounts/${name}-${which}`, { type: 'transit', local })
      await must(`${name}-${which}/keys/k`, { auto_rotate_period: '24h' })
    }
    await must(`sys/auth/cloud-${which}`, { type: 'cloud', local })
    const secret = { client_id: '33333333-3333-4333-8333-333333333333', client_secret: 'a secret' }
    const resource = 'https://management.azure.com/'
    const config = { tenant_id: TENANTS[which], resource, ...secret, rotation_period: '24h' }
    await must(`auth/cloud-${which}/config`, config)
  }
  await must('auth/token/create', { ttl: '1h' })
  await must('sys/policies/acl/short', { policy: 'path "x" { capabilities = ["read"] }', ttl: '24h' })
  await must('sys/rotate/config', { interval: '24h' })
  const core = node.storage.view(systemScope, 'root/core/')
  for (const [folder, removing] of [
    ['mounts/', 'unmounting/'],
    ['local-mounts/', 'local-unmounting/'],
  ] as const) {
    await core.transaction(async (tx) => {
      for (const { key, value } of await tx.scan(folder, '', 100)) {
        const { path } = JSON.parse(String(value)) as { readonly path: string }
        // Cut off in the middle of being unmounted, and never made.
        if (path.startsWith('gone-')) tx.put(removing + key.split('/').at(-1), value)
        else if (path !== 'identity/' && path !== 'cubbyhole/') continue
        tx.delete(folder + key.split('/').at(-1))
      }
    })
  }
  // Cut off in the middle of being deleted.
  await must('sys/namespaces/leaving', {})
  await core.transaction(async (tx) => {
    const value = await tx.get('namespace/root/leaving')
    assert.ok(value)
    tx.put('leaving-namespace/root/leaving', value)
    tx.delete('namespace/root/leaving')
  })
  for (const made of ['wrapping-key', 'audit-history', 'index-key', `version/${VERSION}`, ...without])
    await core.transaction(async (tx) => tx.delete(made))
  // As an earlier release left it.
  await core.transaction(async (tx) =>
    tx.put('audit-origin', AUDIT_ORIGIN.encode({ history: '00', restored: undefined, promoted: undefined })),
  )
  const sets = node.storage.view(systemScope, SETS_FOLDER)
  await sets.transaction(async (tx) =>
    putTakenOver(tx, { epoch: 2, atMs: START_MS, takesPlace: true, isHandedOver: false }),
  )
  // What a promotion leaves to do follows from what the cluster is in its sets, before it is in that role.
  const { performance: mode = 'disabled' } = role
  const state = { setId: 'set', epoch: 1, clusterAddress: '', isFenced: false, sinceMs: START_MS }
  if (mode !== 'disabled') await sets.transaction(async (tx) => putState(tx, 'performance', { mode, ...state }))
  const tokens = node.storage.view(systemScope, 'root/sys/token/')
  await tokens.transaction(async (tx) => tx.delete('indexed'))
}

/** A server in the role, over a store with something due for each line of the list, just unsealed. */
async function stage(role: Partial<NodeRole>, without: readonly string[] = []): Promise<Stage> {
  const time = coarseTime(START_MS)
  const doings: Doings = { written: new Set(), refused: new Set(), asked: new Set(), keys: new Set() }
  const request: World['outbound']['request'] = async ({ url }) => {
    doings.asked.add(Object.values(TENANTS).find((each) => String(url).includes(each)) ?? String(url))
    throw new Error('There is no network')
  }
  const world = { ...time, outbound: { request } }
  const first = await startMemoryServer({ world })
  await fill(first, role, without)
  await first.node.operations.seal()
  const { store } = first
  let seen = await store.lastIndex()
  const [key = Buffer.alloc(0)] = first.shares
  const firstRole = roleOf(role)
  const server = await startMemoryServer({ store: watched(store, doings.refused), key, world, firstRole, audit: AUDIT })
  doings.asked.clear()
  return {
    server,
    doings,
    pass: async (hours) => {
      for (let hour = 0; hour < hours; hour += STEP_HOURS) await time.step(HOUR_MS * STEP_HOURS)
      for (const { index, operations } of await store.changesSince(seen, 100_000)) {
        seen = index
        for (const { class: written, key: name } of operations) {
          doings.written.add(written)
          doings.keys.add(name)
        }
      }
    },
  }
}

/** True if a key of the mount was written, which only its rotation does here. */
async function hasRotated({ server, doings }: Stage, which: 'shared' | 'local'): Promise<boolean> {
  const { uuid } = server.node.mounts.list(ROOT).find(({ path }) => path === `transit-${which}/`) ?? assert.fail(which)
  return [...doings.keys].some((key) => key.startsWith(`root/logical/${uuid}/key/`))
}

const ROLES: readonly { readonly name: string; readonly role: Partial<NodeRole> }[] = [
  { name: 'the primary', role: { dr: 'primary', performance: 'primary' } },
  { name: 'a performance secondary', role: { performance: 'secondary', dr: 'primary' } },
  { name: 'a secondary for disaster recovery', role: { dr: 'secondary' } },
  { name: 'one whose copy is not whole', role: { performance: 'bootstrapping' } },
  { name: 'a fenced primary', role: { dr: 'primary', isFenced: true } },
  { name: 'a standby', role: { isStandby: true } },
]

/** While it is copied, a performance secondary does nothing by itself with what is its own. */
const does = (role: NodeRole, owner: DataOwner): boolean =>
  mayChange(role, owner) && (owner === 'node' || role.performance !== 'bootstrapping')

for (const { name, role } of ROLES) {
  test(`in 30 days ${name} writes nothing that its role forbids, and asks no cloud that is not its own`, async () => {
    const staged = await stage(role)
    const { doings, pass, server } = staged
    await pass(DAYS * 24)
    const may = { ...ACTIVE_PRIMARY, ...role }
    const allowed = (Object.keys(OWNERS) as StorageClass[]).filter((each) => does(may, OWNERS[each]))
    assert.deepEqual([...doings.refused], [])
    assert.deepEqual([...doings.written].sort(), allowed.toSorted())
    const mounts = (['shared', 'local'] as const).filter((each) =>
      allowed.includes(each === 'local' ? each : 'replicated'),
    )
    assert.deepEqual([...doings.asked].sort(), mounts.map((each) => TENANTS[each]).toSorted())
    for (const which of ['shared', 'local'] as const)
      assert.equal(await hasRotated(staged, which), mounts.includes(which), which)
    await server.node.operations.seal()
  })
}

/** Lines of the list that ask for the role once more: a wrong owner there still does no harm. */
const ASKED_TWICE = [
  'upkeep of',
  'what engines of',
  'what the primary has to know of mounts',
  'writes that were lost to the set',
]
/** Lines that find nothing to do in this store; the tests of their rooms leave them something. */
const NOTHING_TO_DO = [
  'leftovers of mounts',
  'what is left here of deleted namespaces',
  'memberships of earlier releases',
  'aliases without an entity',
  'what a filter keeps from this cluster',
]

test('a line of the list that ran on a secondary against its owner would meet the gate, each of them', async () => {
  const { server, doings, pass } = await stage({ dr: 'secondary' }, ['audit-key'])
  const { node, store } = server
  const { random } = realWorld()
  const list = ownWork({ ...node, auth: node, rotation: node.operations.rotation, store, random, log: () => {} })
  for (const line of list.filter(({ changes }) => changes !== 'node')) {
    await Promise.resolve(line.begin()).catch(() => {})
    await pass(48)
    line.end?.()
    const isSafe = [...ASKED_TWICE, ...NOTHING_TO_DO].some((each) => line.name.includes(each))
    const refused = [...doings.refused]
    // The first write is refused. A line of the set may begin with what this cluster keeps of the same thing.
    if (isSafe) assert.deepEqual(refused, [], line.name)
    else assert.ok(refused.length === 1 && (line.changes === 'set' || refused[0] === 'local'), line.name)
    assert.deepEqual([...doings.asked], [], line.name)
    doings.refused.clear()
  }
  await node.operations.seal()
})

test('a role that changes while the server is open ends and begins its work, whatever came between', async () => {
  const staged = await stage({})
  const { server, doings, pass } = staged
  const { node } = server
  const become = (role: Partial<NodeRole>): Promise<void> => node.changeRole(roleOf(role))
  const rotatedIn = async (hours: number): Promise<boolean> => {
    doings.asked.clear()
    doings.keys.clear()
    await pass(hours)
    const isRotated = await hasRotated(staged, 'shared')
    assert.equal(doings.asked.has(TENANTS.shared), isRotated)
    return isRotated
  }
  assert.equal(await rotatedIn(48), true)
  await become({ isFenced: true })
  assert.equal(await rotatedIn(48), false)
  await become({ performance: 'secondary' })
  assert.equal(await rotatedIn(48), false)
  // Sealed and opened in the middle: it comes back in the role that it has.
  await node.operations.seal()
  await become({ dr: 'secondary' })
  for (const share of server.shares) await node.operations.unseal(share)
  assert.equal(await rotatedIn(48), false)
  assert.deepEqual([...doings.refused], [])
  // Two at once, in the order in which they were asked for. What the first one begins may meet the gate of the second.
  await Promise.all([become({}), become({ isStandby: true })])
  assert.equal(node.role.role.isStandby, true)
  await pass(STEP_HOURS)
  doings.refused.clear()
  assert.equal(await rotatedIn(48), false)
  await Promise.all([become({ isFenced: true }), become({})])
  assert.equal(await rotatedIn(48), true)
  assert.deepEqual([...doings.refused], [])
  await node.operations.seal()
})
