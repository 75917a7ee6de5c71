// Two clusters over their link threads, with TLS and stores on the disk: what goes through the thread of the links on
// both sides, and what becomes of it when that thread dies.
import { strict as assert } from 'node:assert'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import type { MessagePort, Worker } from 'node:worker_threads'
import { newSharedTelemetry } from '../../../src/assembly/shared-telemetry.ts'
import { newLogLevels } from '../../../src/lib/log-levels.ts'
import { realWorld } from '../../../src/lib/world.ts'
import { startLinkThread } from '../../../src/process/link-thread.ts'
import type { SetName } from '../../../src/replication/set/peer-name.ts'
import { systemScope } from '../../../src/storage/contract.ts'
import { durableLocation, storageIn } from '../../../src/storage/drivers.ts'
import { newCommittedIndex, tellCommitted, tellOpened } from '../../../src/threads/committed-index.ts'
import { ThreadLinks } from '../../../src/threads/thread-links.ts'
import { LEAF_KEY } from '../../conformance/storage-clause.ts'
import { KEY_PACKAGE, MemoryLinkOwner } from '../../fixtures/link-owner.ts'
import { identityOf, partOf, serverIdentity } from '../../fixtures/linked-clusters.ts'
import { temporaryDirectory } from '../../fixtures/server-process.ts'
import { RECEIVER, SetCluster } from '../../fixtures/set-cluster.ts'
import { ANY_PORT } from '../../fixtures/threaded-server.ts'
import { ends, until } from '../../fixtures/until.ts'

const HOST = '127.0.0.1'
const FACTS = { version: '1.2.0', clusterId: 'c', clusterAddresses: [], apiAddress: '' }
const VALUE_BYTES = 2_000_000

/** A store, its owner in this thread, and its links in a thread of their own. */
async function newCluster(context: TestContext, registry: SetCluster) {
  const world = realWorld()
  const temporary = temporaryDirectory()
  const storage = storageIn(`${temporary.path}/data`)
  const committed = newCommittedIndex()
  const store = await durableLocation(storage).open({
    ...world,
    onCommitting: () => {},
    onCommitted: () => {},
    onPublished: (index) => tellCommitted(committed, index),
    onFatal: () => assert.fail('the store failed'),
  })
  store.setLeafKey(LEAF_KEY)
  tellOpened(committed, await store.lastIndex())
  const owner = new MemoryLinkOwner({ store, clock: world.clock, cluster: registry })
  const lines: string[] = []
  const log = (level: string, message: string): void => void lines.push(`${level} ${message}`)
  const links = new ThreadLinks({ owner: () => owner, timers: world.timers, log })
  let thread: Worker | undefined
  const seen = (worker: Worker): void => {
    thread = worker
  }
  process.on('worker', seen)
  const start = startLinkThread({
    config: { ...ANY_PORT, storage },
    world,
    log,
    writing: { tell: (_name: string, port: MessagePort) => links.join(port) } as never,
    committed,
    shared: newSharedTelemetry(world.random, newLogLevels('warn'), 1),
    onFatal: (reason) => lines.push(reason),
  })
  const group = await start
  process.off('worker', seen)
  context.after(async () => {
    await group.stop()
    await store.close()
    temporary.cleanUp()
  })
  const die = async (): Promise<void> => {
    const isThere = once(process, 'worker').then(([next]) => {
      thread = next as Worker
    })
    await thread?.terminate()
    await isThere
  }
  return { store, owner, links, lines, die }
}

test('a cluster is let in and follows through the link threads, which may die on either side', async (context) => {
  const registry = new SetCluster(1)
  registry.nowMs = Date.now()
  const set: SetName = { setId: await registry.begin('dr'), family: 'dr' }
  const primary = await newCluster(context, registry)
  const secondary = await newCluster(context, registry)
  const write = async (key: string): Promise<void> => {
    const value = Buffer.alloc(VALUE_BYTES, key)
    await primary.store.transaction(async (tx) => tx.put(systemScope, `root/sys/policy/${key}`, value))
  }
  for (const key of ['a', 'b', 'c']) await write(key)
  const identity = await serverIdentity(registry, set)
  const listenAt = [{ host: HOST, port: 0 }]
  await primary.links.play({ facts: FACTS, listenAt, parts: [{ role: 'primary', set, identity }] })
  const [port = 0] = (await primary.links.status()).ports
  const address = `https://${HOST}:${port}`

  const { bundle } = await registry.issue('dr', 's')
  const nonce = bundle.nonce.reveal()
  const knock = { set, id: 's', identity: identityOf(bundle), address, facts: FACTS, receiver: RECEIVER, nonce }
  const claimed = await ends(secondary.links.knock({ ...knock, what: 'claim' }), 'the claim')
  assert.ok(claimed.kind === 'package')
  assert.deepEqual(claimed.package, KEY_PACKAGE)
  secondary.owner.toConfirm = { nonce, receiver: RECEIVER }
  await secondary.links.play({ facts: FACTS, listenAt: [], parts: [{ ...partOf(bundle), addresses: [address] }] })
  const hasAll = (): Promise<void> =>
    until(async () => {
      const [one, other] = [await primary.store.roots(), await secondary.store.roots()]
      return one.all.equals(other.all)
    }, 'the secondary has all')
  await hasAll()
  await write('d')
  await hasAll()

  await secondary.die()
  await write('e')
  await hasAll()
  // The port stays the same: it is dialed again.
  const again = { facts: FACTS, listenAt: [{ host: HOST, port }], parts: [{ role: 'primary', set, identity } as const] }
  await primary.links.play(again)
  await primary.die()
  await write('f')
  await hasAll()

  await primary.links.tellStore('detached')
  await primary.links.tellStore('attached')
  await write('g')
  await hasAll()
  await primary.links.disconnect('dr', 's')
  const faults = [...primary.lines, ...secondary.lines].filter((line) => !line.includes('is being replaced'))
  assert.deepEqual(faults, [])
})
