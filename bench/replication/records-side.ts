// A helper that is one of two stores, with nothing of HTTP above them: the owner in its main thread, the links in a
// thread of their own, TLS between the two.
import { decodeActivation, encodeActivation } from '../../src/replication/set/activation-bundle.ts'
import { ROOT_NAMESPACE, type Scope } from '../../src/storage/contract.ts'
import { partOf, serverIdentity } from '../../test/fixtures/linked-clusters.ts'
import { type LinkedStore, openLinkedStore } from '../../test/fixtures/linked-store.ts'
import { SetCluster } from '../../test/fixtures/set-cluster.ts'
import type { Applied } from './applied.ts'
import { help, machineMs } from './helpers.ts'

const HOST = '127.0.0.1'
const FACTS = { version: '1.2.0', clusterId: 'c', clusterAddresses: [], apiAddress: '' }
const ID = 's'
const MOUNT = '6f1d2c3b-0a4e-4f58-9c67-7b8a9d0e1f23'
const scope: Scope = { namespace: ROOT_NAMESPACE, mount: MOUNT, local: false }
const FOLDER = `${ROOT_NAMESPACE}/logical/${MOUNT}/key/`

/** Commits by their number: index of the record, and when the commit resolved. */
export type Committed = { readonly committedMs: Float64Array; readonly indexes: Float64Array }

let linked: LinkedStore | undefined
const [seenMs, indexes]: [number[], number[]] = [[], []]

function opened(): LinkedStore {
  if (linked === undefined) throw new Error('no store is open')
  return linked
}

const CALLS = {
  /** Becomes a primary, and returns what a secondary follows it with. */
  lead: async (directory: string): Promise<{ readonly address: string; readonly activation: Buffer }> => {
    const registry = new SetCluster(1)
    registry.nowMs = Date.now()
    const set = { setId: await registry.begin('dr'), family: 'dr' } as const
    linked = await openLinkedStore(directory, registry)
    const identity = await serverIdentity(registry, set)
    const parts = [{ role: 'primary', set, identity } as const]
    await linked.links.play({ facts: FACTS, listenAt: [{ host: HOST, port: 0 }], parts })
    const [port] = (await linked.links.status()).ports
    const { bundle } = await registry.issue('dr', ID)
    await registry.letIn(bundle)
    return { address: `https://${HOST}:${port}`, activation: encodeActivation(bundle) }
  },

  follow: async (directory: string, address: string, activation: Uint8Array): Promise<void> => {
    linked = await openLinkedStore(directory)
    linked.store.onCommit(({ origins }) => {
      for (const { index } of origins) {
        seenMs.push(machineMs())
        indexes.push(index)
      }
    })
    const bundle = decodeActivation(Buffer.from(activation))
    await linked.links.play({ facts: FACTS, listenAt: [], parts: [{ ...partOf(bundle), addresses: [address] }] })
  },

  /** Commits so many records a second, of one entry each. */
  write: async (perSecond: number, seconds: number, valueBytes: number): Promise<Committed> => {
    const { store } = opened()
    const value = Buffer.alloc(valueBytes, 'v')
    const count = perSecond * seconds
    const [committedMs, at] = [new Float64Array(count), new Float64Array(count)]
    const all: Promise<void>[] = []
    const one = async (number: number): Promise<void> => {
      const { index } = await store.commit(async (tx) => tx.put(scope, `${FOLDER}${number}`, value))
      committedMs[number] = machineMs()
      at[number] = index ?? 0
    }
    for (const startMs = machineMs(); all.length < count; await new Promise((resolve) => setTimeout(resolve, 1))) {
      const due = Math.min(count, ((machineMs() - startMs) * perSecond) / 1_000)
      while (all.length < due) all.push(one(all.length))
    }
    await Promise.all(all)
    return { committedMs, indexes: at }
  },

  lastIndex: () => opened().store.lastIndex(),

  /** Where the log of the primary is applied up to; 0 as long as nothing is. */
  appliedIndex: async (): Promise<number> => (await opened().store.position()).origins[0]?.index ?? 0,

  applied: (): Applied => ({ seenMs: new Float64Array(seenMs), indexes: new Float64Array(indexes) }),
}

/** The calls of this helper. */
export type RecordsCalls = typeof CALLS

if (import.meta.main) help(CALLS)
