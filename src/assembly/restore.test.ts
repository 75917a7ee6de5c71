// A restore beside the work of others: who writes goes on, and who seals the server stops it.
import { strict as assert } from 'node:assert'
import { createReadStream, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { copyTo } from '../../test/fixtures/copied-store.ts'
import { forgedSnapshot } from '../../test/fixtures/forged-snapshot.ts'
import { wireRequest } from '../../test/fixtures/memory-server.ts'
import { temporaryDirectory } from '../../test/fixtures/server-process.ts'
import { primaryOfSet } from '../../test/fixtures/set-cluster.ts'
import type { ByteStream } from '../api/request.ts'
import { inlineWork } from '../lib/slow-work.ts'
import { realWorld } from '../lib/world.ts'
import { verifyAudit } from '../offline/audit-verification.ts'
import { leavingStore, restorableStore } from '../process/restorable-store.ts'
import { noteSecondary } from '../replication/set/admission.ts'
import { putFilter, readFilter, removeFilter } from '../replication/set/paths-filter.ts'
import { revokeSecondary } from '../replication/set/primary-operations.ts'
import { EVERYTHING, encodeReach, findSecondary, readState, SETS_FOLDER, setPath } from '../replication/set/records.ts'
import { TRANSFER_NOTE, transferPath } from '../replication/set/transfer-note.ts'
import { systemScope } from '../storage/contract.ts'
import { storageIn, storeLocation } from '../storage/drivers.ts'
import { encodeKeyring, firstKeyring, type Keyring, replacedBy } from '../storage/keyring.ts'
import { MAX_KNOWN_EPOCH, MAX_KNOWN_INDEX } from '../storage/log/histories.ts'
import { ReplaceableStore } from '../storage/replaceable-store.ts'
import type { SnapshotHeader } from '../storage/snapshot/snapshot-format.ts'
import { readSnapshot } from '../storage/snapshot/snapshot-stream.ts'
import type { AutoSeal } from '../system/seal/auto-seal.ts'
import { KEYRING, putFormerKeys, putRecord } from '../system/seal/seal-records.ts'
import { emptied } from './emptied-store.ts'
import type { Restorable } from './restore.ts'
import type { SealState } from './seal-state.ts'
import { staticSeal } from './static-seal.ts'
import { assembleWriting, type WritingNode } from './writing-node.ts'

const POLICY = { policy: 'path "a" { capabilities = ["read"] }' }

type Opened = { readonly node: Pick<WritingNode, 'operations'> }

/** What is told to other threads, and how long the groups of the store wait for more. */
type Seams = {
  readonly announce?: (news: SealState) => Promise<void>
  readonly next?: () => Promise<void>
}

async function turns(count: number): Promise<void> {
  for (let each = 0; each < count; each++) await turn()
}

/** A server on a store of its own, all but its threads and sockets; `wrap` may look at what the restore asks for. */
async function start(
  t: TestContext,
  wrap: (restorable: Restorable) => Restorable = (same) => same,
  autoSeal?: AutoSeal,
  { announce = async () => {}, next = turn }: Seams = {},
) {
  const { path, cleanUp } = temporaryDirectory()
  const world = realWorld()
  const { random, clock } = world
  const onFatal = (cause: Error): never => {
    throw cause
  }
  const storage = storageIn(path)
  const location = storeLocation(storage)
  const ticks = { ...world.ticks, next }
  const open = () => location.open({ random, clock, ticks, onFatal })
  const store = new ReplaceableStore(await open())
  const node = await assembleWriting({
    role: 'all',
    store,
    world,
    slow: inlineWork(world),
    log: () => {},
    facts: { reportedVersion: '1.21.0', storageType: storage.type, apiAddress: '', clusterName: '' },
    tokenLimits: { defaultTtlSeconds: 3600, maxTtlSeconds: 3600 },
    restorable: wrap(restorableStore(storage, store, open)),
    ...(autoSeal === undefined ? {} : { autoSeal }),
    channels: { announce },
  })
  t.after(async () => {
    await node.operations.seal()
    await store.close()
    cleanUp()
  })
  const { shares } = await node.initialise({ shares: 1, threshold: 1 }, '', { rootToken: 'root' })
  /** With the key of this node, another one that has its store. */
  const unseal = (opened: Opened = { node }) => opened.node.operations.unseal(Buffer.from(shares[0] as Buffer))
  if (autoSeal === undefined) await unseal()
  else await node.openByItself()
  const call = async (method: string, rest: string, body?: unknown) =>
    (await node.core.handle(wireRequest(method, rest, body, 'root'))).status
  return { node, store, shares, call, unseal, path, leaveOnly: leavingStore(location, store, open) }
}

type Started = Awaited<ReturnType<typeof start>>
type OptionsOfStart = Parameters<typeof start> extends [TestContext, ...infer Rest] ? Rest : never

async function save({ node }: Started): Promise<Buffer> {
  const { stream } = await node.core.handle(wireRequest('GET', 'sys/storage/snapshot', undefined, 'root'))
  const parts: Uint8Array[] = []
  for await (const part of stream as ByteStream) parts.push(part)
  return Buffer.concat(parts)
}

test('writes are answered while a snapshot is being checked', async (t) => {
  let isChecking = false
  const server = await start(t, (restorable) => ({
    ...restorable,
    check: async (staged) => {
      isChecking = true
      try {
        await restorable.check(staged)
      } finally {
        isChecking = false
      }
    },
  }))
  for (let i = 0; i < 1000; i++) assert.equal(await server.call('POST', `sys/policies/acl/p${i}`, POLICY), 204)
  const snapshot = await save(server)
  let isOver = false
  const restoring = server.node.operations.restore(ReadableStream.from([snapshot]), false).finally(() => {
    isOver = true
  })
  let during = 0
  for (let i = 0; !isOver; i++) {
    const before = isChecking
    const status = await server.call('POST', `sys/policies/acl/during${i}`, POLICY)
    if (before && isChecking) {
      assert.equal(status, 204)
      during++
    } else assert.ok([204, 503].includes(status), String(status))
    await new Promise((resolve) => setImmediate(resolve))
  }
  assert.equal((await restoring).isSealChecked, true)
  assert.ok(during >= 3, `${during} writes were answered during the check`)
})

test('a server that was sealed and opened again during the upload does not take the snapshot', async (t) => {
  const server = await start(t)
  const snapshot = await save(server)
  assert.equal(await server.call('POST', 'sys/policies/acl/after', POLICY), 204)
  async function* slow(): AsyncGenerator<Uint8Array> {
    yield snapshot.subarray(0, snapshot.length >> 1)
    await server.node.operations.seal()
    await server.unseal()
    yield snapshot.subarray(snapshot.length >> 1)
  }
  await assert.rejects(server.node.operations.restore(ReadableStream.from(slow()), false), /sealed while the snapshot/)
  assert.equal(await server.call('GET', 'sys/policies/acl/after'), 200)
})

for (const when of ['before', 'behind'] as const) {
  test(`S9: an activation ${when} the check of a snapshot ends the restore, and nothing of it is left`, async (t) => {
    const primary = await start(t)
    const server: Started = await start(t, (restorable) => ({
      ...restorable,
      check: async (staged) => {
        if (when === 'behind') await restorable.check(staged)
        await activate()
        if (when === 'before') await restorable.check(staged)
      },
    }))
    const activate = async (): Promise<void> => {
      const records = [await primary.store.get('root/core/keyring'), await primary.store.get('root/core/leaf-key')]
      const [keyring, leafKey] = records as [Buffer, Buffer]
      const activation = { bundle: await primary.node.bundle(), keyring, leafKey }
      const { store, leaveOnly } = server
      await server.node.activate(activation, emptied({ store, leaveOnly, world: realWorld(), keep: activation }))
      assert.equal(existsSync(join(server.path, 'restore.new')), false)
    }
    assert.equal(await server.call('POST', 'sys/policies/acl/before', POLICY), 204)
    const snapshot = await save(server)
    const restoring = server.node.operations.restore(ReadableStream.from([snapshot]), false)
    await assert.rejects(restoring, { code: 'changed_meanwhile' })
    assert.equal(existsSync(join(server.path, 'restore.new')), false)
    assert.equal(server.node.seal.status().sealed, false)
    assert.equal(await server.store.get('root/sys/policy/before'), undefined)
  })
}

test('a performance primary stays what it is in its set when a snapshot of before is restored', async (t) => {
  const server = await start(t)
  const view = server.node.storage.view(systemScope, SETS_FOLDER)
  const stateOf = async () => (await view.transaction((tx) => findSecondary(tx, 'performance', 'site/b')))?.state
  const before = await save(server)
  const other = await primaryOfSet(72, 'performance')
  await other.cluster.letIn(other.bundle)
  await view.transaction(async (tx) => {
    for (const [path, value] of other.cluster.view.entries) tx.put(path, value)
  })
  const active = await save(server)
  assert.equal(await server.call('PUT', 'sys/policies/acl/later', POLICY), 204)
  const entries = async () => (await server.store.list('root/core/replication/performance/')).length
  const count = await entries()
  for (const [snapshot, state] of [
    [before, 'active'],
    [active, 'revoked'],
  ] as const) {
    if (state === 'revoked') await view.transaction((tx) => revokeSecondary(tx, 'performance', 'site/b'))
    await server.node.operations.restore(ReadableStream.from([snapshot]), false)
    await server.unseal()
    assert.equal(await stateOf(), state)
    assert.equal((await view.transaction((tx) => readState(tx, 'performance')))?.setId, other.setId)
    assert.equal(await entries(), count)
    assert.equal(await server.call('GET', 'sys/policies/acl/later'), 404)
    assert.equal(await server.call('PUT', 'sys/policies/acl/later', POLICY), 204)
  }
  // They have leaves as other entries have, which a restore checks.
  await server.node.operations.restore(ReadableStream.from([await save(server)]), false)
  await server.unseal()
  assert.equal(await stateOf(), 'revoked')
})

test('a filter that is taken back while a snapshot comes, and set again while that is checked, stays', async (t) => {
  const FILTER = { id: 'site/b', mode: 'deny', paths: ['kept/'] } as const
  const server = await start(t, (restorable) => ({
    ...restorable,
    check: async (staged) => {
      await restorable.check(staged)
      await view.transaction((tx) => putFilter(tx, FILTER))
    },
  }))
  const view = server.node.storage.view(systemScope, SETS_FOLDER)
  const other = await primaryOfSet(73, 'performance')
  await other.cluster.letIn(other.bundle)
  await view.transaction(async (tx) => {
    for (const [path, value] of other.cluster.view.entries) tx.put(path, value)
    await putFilter(tx, FILTER)
  })
  const snapshot = await save(server)
  async function* coming(): AsyncGenerator<Uint8Array> {
    const cut = snapshot.length - 1
    yield snapshot.subarray(0, cut)
    await turns(10)
    await view.transaction((tx) => removeFilter(tx, 'site/b'))
    yield snapshot.subarray(cut)
  }
  const restoring = server.node.operations.restore(ReadableStream.from(coming()), false)
  await assert.rejects(restoring, { code: 'changed_meanwhile' })
  await view.transaction((tx) => putFilter(tx, FILTER))
  await server.node.operations.restore(ReadableStream.from([snapshot]), false)
  await server.unseal()
  assert.deepEqual((await view.transaction((tx) => readFilter(tx, 'site/b')))?.paths, ['kept/'])
})

const NOT_WHOLE = {
  'a filter kept something from its cluster': {
    path: setPath('performance', 'reach'),
    value: encodeReach({ ...EVERYTHING, reach: { mounts: new Set(), namespaces: new Map(), lacksNothing: false } }),
    sentence: /a filter kept mounts or namespaces from its cluster/,
  },
  'its cluster was being compared': {
    path: transferPath('performance'),
    value: TRANSFER_NOTE.encode({ what: 'difference', after: '' }),
    sentence: /being compared with its primary/,
  },
} as const
for (const [when, { path, value, sentence }] of Object.entries(NOT_WHOLE))
  test(`a snapshot of when ${when} is restored by force alone, which says what it lacks`, async (t) => {
    const server = await start(t)
    const view = server.node.storage.view(systemScope, SETS_FOLDER)
    await view.transaction(async (tx) => tx.put(path, value))
    const snapshot = await save(server)
    await view.transaction(async (tx) => tx.delete(path))
    const restore = (force: boolean) => server.node.operations.restore(ReadableStream.from([snapshot]), force)
    await assert.rejects(restore(false), ({ code, message }: { code: string; message: string }) => {
      return code === 'snapshot_refused' && sentence.test(message)
    })
    assert.equal(await server.call('GET', 'sys/mounts'), 200)
    assert.match((await restore(true)).warnings.join(), sentence)
  })

test('what a filter kept from a secondary of other data cannot be seen, and is warned of', async (t) => {
  const [stranger, server] = [await start(t), await start(t)]
  const view = stranger.node.storage.view(systemScope, SETS_FOLDER)
  await view.transaction(async (tx) => tx.put(setPath('performance', 'reach'), encodeReach(EVERYTHING)))
  const snapshot = await save(stranger)
  const { warnings } = await server.node.operations.restore(ReadableStream.from([snapshot]), true)
  assert.match(warnings.join(), /cannot be seen here/)
  await stranger.node.operations.seal()
})

/** A primary with a secondary that was let in. */
async function primaryWith(t: TestContext, ...options: OptionsOfStart) {
  const server = await start(t, ...options)
  const view = server.node.storage.view(systemScope, SETS_FOLDER)
  const other = await primaryOfSet(71)
  await other.cluster.letIn(other.bundle)
  await view.transaction(async (tx) => {
    for (const [path, value] of other.cluster.view.entries) tx.put(path, value)
  })
  const stateOf = () => view.transaction((tx) => findSecondary(tx, 'dr', 'site/b')).then((entry) => entry?.state)
  return { server, view, stateOf }
}

for (const what of ['revoked', 'noted'] as const) {
  test(`a secondary that is ${what} while a snapshot is being checked stays so`, async (t) => {
    const primary = await primaryWith(t, (restorable) => ({
      ...restorable,
      check: async (staged) => {
        await restorable.check(staged)
        await primary.view.transaction<unknown>((tx) =>
          what === 'revoked'
            ? revokeSecondary(tx, 'dr', 'site/b')
            : noteSecondary(tx, 'dr', 'site/b', { acknowledged: null, clusterAddresses: [], apiAddress: 'https://b' }),
        )
      },
    }))
    const { server, stateOf } = primary
    const snapshot = await save(server)
    const restoring = server.node.operations.restore(ReadableStream.from([snapshot]), false)
    if (what === 'revoked') await assert.rejects(restoring, { code: 'changed_meanwhile' })
    else await restoring
    if (what === 'noted') await server.unseal()
    assert.equal(await stateOf(), what === 'revoked' ? 'revoked' : 'active')
  })
}

test('a secondary that is revoked while the server closes for a restore stays so, and the server opens', async (t) => {
  let isRestoring = false
  const announce = async ({ status }: SealState): Promise<void> => {
    if (!isRestoring || !status.sealed) return
    isRestoring = false
    await primary.view.transaction((tx) => revokeSecondary(tx, 'dr', 'site/b'))
  }
  const primary = await primaryWith(t, undefined, undefined, { announce })
  const snapshot = await save(primary.server)
  isRestoring = true
  const restoring = primary.server.node.operations.restore(ReadableStream.from([snapshot]), false)
  await assert.rejects(restoring, { code: 'changed_meanwhile' })
  assert.equal(isRestoring, false)
  assert.equal(await primary.stateOf(), 'revoked')
  assert.equal(await primary.server.call('POST', 'sys/policies/acl/after', POLICY), 204)
})

test('a revocation that waits for its commit while a restore closes the server counts, or is refused', async (t) => {
  let isRestoring = false
  let revoking: Promise<string> | undefined
  const primary = await primaryWith(t, undefined, undefined, {
    announce: async ({ status }) => {
      if (!isRestoring || !status.sealed || revoking !== undefined) return
      const revoked = primary.view.transaction((tx) => revokeSecondary(tx, 'dr', 'site/b'))
      revoking = revoked.then(
        () => 'revoked',
        () => 'active',
      )
      // It is sealed, and is not on the disk.
      await turns(50)
    },
    next: () => turns(isRestoring ? 2_000 : 1),
  })
  const { server, stateOf } = primary
  const snapshot = await save(server)
  isRestoring = true
  const restoring = server.node.operations.restore(ReadableStream.from([snapshot]), false)
  const outcome = await restoring.then(
    () => 'restored',
    ({ code }) => code as string,
  )
  isRestoring = false
  const state = await (revoking ?? assert.fail('it was revoked meanwhile'))
  if (outcome === 'restored') await server.unseal()
  assert.equal(await stateOf(), state, outcome)
})

test('a check that fails leaves the store as it was, and the next restore is taken', async (t) => {
  let fails = true
  const server = await start(t, (restorable) => ({
    ...restorable,
    check: async (staged) => restorable.check(fails ? { ...staged, entries: staged.entries + 1 } : staged),
  }))
  const snapshot = await save(server)
  assert.equal(await server.call('POST', 'sys/policies/acl/after', POLICY), 204)
  const restore = () => server.node.operations.restore(ReadableStream.from([snapshot]), false)
  await assert.rejects(restore(), /entries .* were restored. Nothing was changed/)
  assert.equal(await server.call('GET', 'sys/policies/acl/after'), 200)
  fails = false
  assert.equal((await restore()).isSealed, true)
  await server.unseal()
  assert.equal(await server.call('GET', 'sys/policies/acl/after'), 404)
})

test('D-06 a foreign position is taken where numbers stay exact above it, and refused where they do not', async (t) => {
  const [server, other] = [await start(t), await start(t)]
  const snapshot = await save(other)
  const { header: own } = await readSnapshot(ReadableStream.from([snapshot]))
  const restore = async (changed: Partial<SnapshotHeader>) => {
    const histories = own.histories.map((history) => ({ ...history, epoch: changed.epoch ?? history.epoch }))
    const header = { ...changed, histories }
    return server.node.operations.restore(ReadableStream.from([await forgedSnapshot(snapshot, { header })]), true)
  }
  for (const header of [{ index: Number.MAX_SAFE_INTEGER }, { epoch: MAX_KNOWN_EPOCH + 1 }])
    await assert.rejects(restore(header), /its (?:index|epoch) \d+ is higher than any log reaches. Nothing was changed/)
  assert.equal(await server.call('POST', 'sys/policies/acl/after', POLICY), 204)
  await restore({ index: MAX_KNOWN_INDEX, epoch: MAX_KNOWN_EPOCH })
  await other.unseal(server)
  for (let i = 0; i < 10; i++) assert.equal(await server.call('POST', `sys/policies/acl/p${i}`, POLICY), 204)
})

test('D-06 what this cluster sealed is checked in full, also where the header names another cluster', async (t) => {
  const server = await start(t)
  const snapshot = await save(server)
  assert.equal(await server.call('POST', 'sys/policies/acl/after', POLICY), 204)
  const forged = await forgedSnapshot(snapshot, { header: { clusterId: 'another' } })
  const restoring = server.node.operations.restore(ReadableStream.from([forged]), true)
  await assert.rejects(restoring, /is not the one that this cluster sealed. Nothing was changed/)
  assert.equal(await server.call('GET', 'sys/policies/acl/after'), 200)
})

test('D-06 a record in clear that was changed is found by the seal alone: all hashes fit', async (t) => {
  const server = await start(t)
  const snapshot = await save(server)
  assert.equal(await server.call('POST', 'sys/policies/acl/after', POLICY), 204)
  // It says how many shares open the server.
  const value = (record: Buffer): Buffer =>
    Buffer.from(JSON.stringify({ ...JSON.parse(record.toString()), shares: 5, threshold: 3 }))
  const forged = await forgedSnapshot(snapshot, { values: { 'root/core/seal-config': value } })
  assert.notDeepEqual(forged, snapshot)
  for (const force of [false, true]) {
    const restoring = server.node.operations.restore(ReadableStream.from([forged]), force)
    await assert.rejects(restoring, /is not the one that this cluster sealed. Nothing was changed/)
  }
  assert.equal(await server.call('GET', 'sys/policies/acl/after'), 200)
})

test('P-10 with a static key a snapshot of another tree is restored, and none that was changed', async (t) => {
  const keys = staticSeal({ keyId: 'a', key: 'a1'.repeat(32), previous: undefined }, {})
  const [old, fresh] = [await start(t, undefined, keys), await start(t, undefined, keys)]
  assert.equal(await old.call('POST', 'sys/policies/acl/old', POLICY), 204)
  const { barrier } = old.node.storage
  // As a version with another tree made it.
  const snapshot = await forgedSnapshot(await save(old), { barrier })
  const flipped = (value: Buffer): Buffer => {
    const last = value.length - 1
    return value.with(last, value.readUInt8(last) ^ 1) as Buffer
  }
  const values = { 'root/sys/policy/old': flipped }
  const forged = await forgedSnapshot(snapshot, { values })
  const sealed = await forgedSnapshot(snapshot, { values, barrier })
  for (const server of [old, fresh]) {
    assert.equal(await server.call('POST', 'sys/policies/acl/later', POLICY), 204)
    const restore = (bytes: Buffer) => server.node.operations.restore(ReadableStream.from([bytes]), true)
    await assert.rejects(restore(forged), /is not the one that this cluster sealed. Nothing was changed/)
    await assert.rejects(restore(sealed), /policy\/old does not have the leaf of its value. Nothing was changed/)
    assert.equal(await server.call('GET', 'sys/policies/acl/later'), 200)
    const restored = await restore(snapshot)
    assert.deepEqual([restored.isSealChecked, restored.isSealed], [true, false])
    assert.equal(await server.call('GET', 'sys/policies/acl/later'), 404)
    assert.equal(await server.call('GET', 'sys/policies/acl/old'), 200)
  }
})

for (const opens of [true, false]) {
  test(`P-04 another entry on the device than it got is noticed ${opens ? 'with' : 'without'} a key`, async (t) => {
    const KEY = 'root/sys/policy/p'
    let change: { readonly sql: string; readonly values: readonly Buffer[] } | undefined
    const server = await start(t, (restorable) => ({
      ...restorable,
      check: async (staged) => {
        const database = new DatabaseSync(join(server.path, 'restore.new/keywright.db'))
        const { changes } = database.prepare(change?.sql ?? 'SELECT 1').run(...(change?.values ?? []), KEY)
        database.close()
        assert.equal(changes, 1)
        await restorable.check(staged)
      },
    }))
    const from = opens ? server : await start(t)
    const stored = async () => {
      const snapshot = await from.store.snapshot()
      const found = (await snapshot.stored('', Number.POSITIVE_INFINITY)).find(({ key }) => key === KEY)
      await snapshot.close()
      return found ?? assert.fail('it was written')
    }
    assert.equal(await from.call('POST', 'sys/policies/acl/p', POLICY), 204)
    // It opens, and has its leaf: only the stream tells that it is not the one.
    const { leaf, value } = await stored()
    assert.equal(await from.call('POST', 'sys/policies/acl/p', { policy: `${POLICY.policy} ` }), 204)
    const snapshot = await save(from)
    for (change of [
      { sql: 'UPDATE data SET leaf = ?, value = ? WHERE key = ?', values: [leaf, value] },
      { sql: 'UPDATE data SET value = ? WHERE key = ?', values: [Buffer.alloc(9)] },
      { sql: 'UPDATE data SET leaf = ? WHERE key = ?', values: [Buffer.alloc(16)] },
    ]) {
      const restoring = server.node.operations.restore(ReadableStream.from([snapshot]), true)
      await assert.rejects(restoring, /Nothing was changed/, change.sql)
    }
    assert.equal(await server.call('GET', 'sys/mounts'), 200)
  })
}

const GAP = 2 ** 20

test('a restored store begins at an index and in an epoch that neither history has used', async (t) => {
  let restorable: Restorable | undefined
  const keep = (given: Restorable): Restorable => {
    restorable = given
    return given
  }
  const server = await start(t, keep)
  const position = async () => (await restorable?.position()) ?? assert.fail('no store')
  const restore = (snapshot: Buffer, force = false) =>
    server.node.operations.restore(ReadableStream.from([snapshot]), force)
  const snapshot = await save(server)
  const saved = await position()
  for (let i = 0; i < 5; i++) assert.equal(await server.call('POST', `sys/policies/acl/p${i}`, POLICY), 204)
  const before = await position()
  assert.ok(before.index > saved.index)
  await restore(snapshot)
  const after = await position()
  assert.deepEqual([after.index, after.epoch], [2 * GAP, before.epoch + 1])
  // The store is now far above the snapshot, in both: what is higher counts.
  await server.unseal()
  await restore(snapshot)
  const again = await position()
  assert.deepEqual([again.index, again.epoch], [4 * GAP, after.epoch + 1])
  await server.unseal()
  const foreign = await save(await start(t))
  const { header: own } = await readSnapshot(ReadableStream.from([foreign]))
  const histories = own.histories.map((history) => ({ ...history, epoch: 70 }))
  const header = { index: 9 * GAP + 5, epoch: 70, histories }
  await restore(await forgedSnapshot(foreign, { header }), true)
  const last = await position()
  assert.deepEqual([last.index, last.epoch], [11 * GAP, 71])
})

const CONFIG = { format: 1, type: 'shamir', shares: 1, threshold: 1 }
const UNFIT: { readonly name: string; readonly key: string; readonly value: (record: Buffer) => Buffer }[] = [
  ...['cluster', 'keyring', 'leaf-key', 'root-key'].flatMap((name) => [
    { name: 'without a byte', key: `root/core/${name}`, value: () => Buffer.alloc(0) },
    { name: 'that is too short', key: `root/core/${name}`, value: (record: Buffer) => record.subarray(0, 34) },
    { name: 'of format 2', key: `root/core/${name}`, value: (record: Buffer) => record.with(0, 2) as Buffer },
    {
      name: 'of the term of another kind of key',
      key: `root/core/${name}`,
      value: (record: Buffer) => {
        const other = Buffer.from(record)
        other.writeUInt32BE(record.readUInt32BE(1) === 0 ? 1 : 0, 1)
        return other
      },
    },
  ]),
  ...[
    { name: 'without numbers', config: { shares: undefined } },
    { name: 'that needs more shares than there are', config: { threshold: 2 } },
    { name: 'of no shares', config: { shares: 0, threshold: 0 } },
    { name: 'of half shares', config: { shares: 1.5 } },
    { name: 'of more shares than can be', config: { shares: 256 } },
  ].map(({ name, config }) => ({
    name,
    key: 'root/core/seal-config',
    value: () => Buffer.from(JSON.stringify({ ...CONFIG, ...config })),
  })),
]

test('D-06 a foreign snapshot is refused where a record that unsealing needs has not its form', async (t) => {
  const [server, other] = [await start(t), await start(t)]
  const snapshot = await save(other)
  const restore = (from: Buffer) => server.node.operations.restore(ReadableStream.from([from]), true)
  for (const { name, key, value } of UNFIT) {
    const forged = await forgedSnapshot(snapshot, { values: { [key]: value } })
    await assert.rejects(restore(forged), new RegExp(`${key} .*Nothing was changed`), `${key} ${name}`)
  }
  assert.equal(await server.call('GET', 'sys/mounts'), 200)
  assert.equal((await restore(snapshot)).isSealChecked, false)
  await other.unseal(server)
  assert.equal(await server.call('GET', 'sys/mounts'), 200)
})

test('behind a restore the chains of audit verify, and say when the state was restored', async (t) => {
  const server = await start(t)
  const folder = temporaryDirectory()
  t.after(folder.cleanUp)
  const file = join(folder.path, 'audit.log')
  const enable = () => server.call('PUT', 'sys/audit/log', { type: 'file', options: { file_path: file } })
  const report = () => verifyAudit([{ name: file, parts: createReadStream(file) }], { isPart: false })
  const restoreTo = async (snapshot: Buffer) => {
    await server.node.operations.restore(ReadableStream.from([snapshot]), false)
    await server.unseal()
  }
  // A store of an earlier release had this key from its first device on.
  const core = server.node.storage.view(systemScope, 'root/core/')
  await core.transaction(async (tx) => tx.delete('audit-key'))
  const older = await save(server)
  await server.node.operations.seal()
  await server.unseal()
  assert.equal(await enable(), 204)
  const snapshot = await save(server)
  const key = server.node.audit.publicKey()
  assert.doesNotMatch(readFileSync(file, 'utf8'), /"restored":/)
  await restoreTo(snapshot)
  assert.equal(server.node.audit.publicKey(), key)
  assert.equal(await server.call('GET', 'sys/mounts'), 200)
  assert.match(readFileSync(file, 'utf8'), /"restored":\{"at":"2\d{3}-[^"]+","before":""\}/)
  await restoreTo(older)
  assert.equal(await enable(), 204)
  const second = server.node.audit.publicKey()
  assert.notEqual(second, key)
  // From then on each chain says so, behind every start of the server.
  await server.node.operations.seal()
  const { faults, notes } = await report()
  assert.deepEqual(faults, [])
  assert.equal(notes.filter((note) => note.includes('is of a state that was restored at')).length, 2)
  const both = await verifyAudit([{ name: file, parts: createReadStream(file) }], {
    isPart: false,
    publicKey: `${key},${second}`,
  })
  assert.deepEqual([both.faults, both.unsigned], [[], []])
  await server.unseal()
})

test('what was sealed with a key that became a former one opens after unseal and after a restore', async (t) => {
  const server = await start(t)
  assert.equal(await server.call('POST', 'sys/policies/acl/old', POLICY), 204)
  const { seal, storage } = server.node
  const { random } = realWorld()
  const ours = storage.barrier.keyring as Keyring
  const theirs = firstKeyring(random, random.bytes(32), 0)
  const encoded = encodeKeyring(theirs)
  await server.store.transaction(async (tx) => {
    putRecord(tx, random, KEYRING, seal.rootKey, encoded)
    putFormerKeys(tx, random, seal.rootKey, replacedBy(ours, theirs).former ?? new Map())
  })
  await server.node.operations.seal()
  await server.unseal()
  assert.equal(await server.call('GET', 'sys/policies/acl/old'), 200)
  assert.equal(await server.call('POST', 'sys/rotate'), 204)
  assert.equal(await server.call('GET', 'sys/policies/acl/old'), 200)
  const snapshot = await save(server)
  const restored = await server.node.operations.restore(ReadableStream.from([snapshot]), false)
  assert.equal(restored.isSealChecked, true)
  await server.unseal()
  assert.equal(await server.call('GET', 'sys/policies/acl/old'), 200)
  assert.equal((storage.barrier.keyring as Keyring).former?.size, 1)
})

for (const [theirs, ours] of [
  ['shares', 'a static key'],
  ['a static key', 'shares'],
] as const) {
  test(`S9: a server with ${ours} restores a snapshot of its set that ${theirs} opened`, async (t) => {
    const keys = staticSeal({ keyId: 'a', key: 'a1'.repeat(32), previous: undefined }, {})
    const sealOf = (kind: string): AutoSeal | undefined => (kind === 'shares' ? undefined : keys)
    const [primary, secondary] = [await start(t, undefined, sealOf(theirs)), await start(t, undefined, sealOf(ours))]
    const records = [await primary.store.get('root/core/keyring'), await primary.store.get('root/core/leaf-key')]
    const [keyring, leafKey] = records as [Buffer, Buffer]
    const bundle = await primary.node.bundle()
    await secondary.node.activate({ bundle, keyring, leafKey }, copyTo(primary.store, secondary.store))
    assert.equal(await primary.call('POST', 'sys/policies/acl/later', POLICY), 204)
    const snapshot = await save(primary)
    const { seal, operations } = secondary.node
    const before = [seal.id, seal.status().cluster?.id]
    const restored = await operations.restore(ReadableStream.from([snapshot]), true)
    assert.deepEqual([restored.isSealChecked, restored.isSealed], [true, ours === 'shares'])
    assert.match(restored.warnings.join(), /of another cluster of the set/)
    if (ours === 'shares') await operations.unseal(Buffer.from(primary.shares[0] as Buffer))
    assert.equal(await secondary.call('GET', 'sys/policies/acl/later'), 200)
    assert.equal(seal.status().type, ours === 'shares' ? 'shamir' : 'static')
    assert.notEqual(seal.id, before[0])
    assert.equal(seal.status().cluster?.id, before[1], 'two of one id would be in the set')
    assert.equal(await seal.accepts([Buffer.from(primary.shares[0] as Buffer)]), true)
    assert.equal(await seal.accepts([Buffer.from(secondary.shares[0] as Buffer)]), false)
  })

  test(`S9: a server with ${ours} refuses a snapshot of strangers that ${theirs} opened`, async (t) => {
    const keys = staticSeal({ keyId: 'a', key: 'a1'.repeat(32), previous: undefined }, {})
    const sealOf = (kind: string): AutoSeal | undefined => (kind === 'shares' ? undefined : keys)
    const [stranger, server] = [await start(t, undefined, sealOf(theirs)), await start(t, undefined, sealOf(ours))]
    const snapshot = await save(stranger)
    await assert.rejects(server.node.operations.restore(ReadableStream.from([snapshot]), true), {
      code: 'snapshot_refused',
    })
    assert.equal(await server.call('GET', 'sys/mounts'), 200)
  })
}

test('a restored server has the namespaces of the snapshot, with their ids, locks and tokens', async (t) => {
  const server = await start(t)
  const ask = async (method: string, path: string, body?: unknown, token = 'root') => {
    const { status, body: text } = await server.node.core.handle(wireRequest(method, path, body, token))
    return { status, answer: text === undefined ? {} : JSON.parse(String(text)) }
  }
  for (const name of ['open', 'locked']) await ask('POST', `sys/namespaces/${name}`)
  const { answer: made } = await ask('POST', 'open/auth/token/create', { policies: ['default'] })
  const { answer: lock } = await ask('POST', 'sys/namespaces/api-lock/lock/locked')
  const { answer: before } = await ask('LIST', 'sys/namespaces')
  const snapshot = await save(server)
  await ask('POST', 'sys/namespaces/api-lock/unlock/locked')
  await ask('POST', 'sys/namespaces/later')
  await ask('DELETE', 'sys/namespaces/open')
  await ask('POST', 'sys/namespaces/open')

  await server.node.operations.restore(ReadableStream.from([snapshot]), false)
  await server.unseal()
  assert.deepEqual((await ask('LIST', 'sys/namespaces')).answer.data, before.data)
  const { client_token: token } = made.auth
  assert.equal((await ask('GET', 'open/auth/token/lookup-self', undefined, token)).status, 200)
  assert.equal((await ask('GET', 'locked/sys/mounts')).status, 503)
  assert.equal((await ask('GET', 'later/sys/mounts')).status, 404)
  const { unlock_key } = lock.data
  assert.equal((await ask('POST', 'sys/namespaces/api-lock/unlock/locked', { unlock_key })).status, 204)
  assert.equal((await ask('GET', 'locked/sys/mounts')).status, 200)
})
