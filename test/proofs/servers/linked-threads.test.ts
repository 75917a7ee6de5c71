// Two clusters over their link threads, with TLS and stores on the disk: what goes through the thread of the links on
// both sides, and what becomes of it when that thread dies.
import { strict as assert } from 'node:assert'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import type { Worker } from 'node:worker_threads'
import type { SetName } from '../../../src/replication/set/peer-name.ts'
import { systemScope } from '../../../src/storage/contract.ts'
import { KEY_PACKAGE } from '../../fixtures/link-owner.ts'
import { identityOf, partOf, serverIdentity } from '../../fixtures/linked-clusters.ts'
import { openLinkedStore } from '../../fixtures/linked-store.ts'
import { temporaryDirectory } from '../../fixtures/server-process.ts'
import { RECEIVER, SetCluster } from '../../fixtures/set-cluster.ts'
import { ends, until } from '../../fixtures/until.ts'

const HOST = '127.0.0.1'
const FACTS = { version: '1.2.0', clusterId: 'c', clusterAddresses: [], apiAddress: '' }
const VALUE_BYTES = 2_000_000

async function newCluster(context: TestContext, registry: SetCluster) {
  const temporary = temporaryDirectory()
  const linked = await openLinkedStore(`${temporary.path}/data`, registry)
  context.after(async () => {
    await linked.close()
    temporary.cleanUp()
  })
  let { thread } = linked
  const die = async (): Promise<void> => {
    const isThere = once(process, 'worker').then(([next]) => {
      thread = () => next as Worker
    })
    await thread()?.terminate()
    await isThere
  }
  return { ...linked, die }
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
