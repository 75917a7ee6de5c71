// Wraps a store so that its commits become spans of the requests they belong to. It is used only if requests are
// traced: finding the request costs a little at each of its steps.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Committed, Store, Transaction } from '../storage/contract.ts'
import type { RequestTrace } from './request-trace.ts'

/** The trace of the request that the current chain of calls belongs to; the core sets it. */
export const tracing = new AsyncLocalStorage<RequestTrace>()

/** Returns the store with traced transactions; all other calls pass through. */
export function tracedStore(store: Store): Store {
  const commit = async <T>(work: (tx: Transaction) => Promise<T>): Promise<Committed<T>> => {
    const trace = tracing.getStore()
    if (trace === undefined) return store.commit(work)
    // The work may run several times; the commit follows its last run.
    let end: ((isError: boolean) => void) | undefined
    const settled = store.commit(async (tx) => {
      const result = await work(tx)
      end = trace.begin('commit')
      return result
    })
    return settled.finally(() => end?.(false))
  }
  return {
    get: (key) => store.get(key),
    list: (prefix, options) => store.list(prefix, options),
    scan: (prefix, after, limit) => store.scan(prefix, after, limit),
    lastIndex: () => store.lastIndex(),
    position: () => store.position(),
    histories: () => store.histories(),
    changesSince: (index, limit) => store.changesSince(index, limit),
    records: (index, limit) => store.records(index, limit),
    snapshot: () => store.snapshot(),
    close: () => store.close(),
    onCommit: (listener) => store.onCommit(listener),
    setLeafKey: (key) => store.setLeafKey(key),
    setWritable: (mayWrite) => store.setWritable(mayWrite),
    keysReplaced: (running) => store.keysReplaced(running),
    roots: (isWanted) => store.roots(isWanted),
    scopes: () => store.scopes(),
    rootsNow: () => store.rootsNow(),
    tree: () => store.tree(),
    image: () => store.image(),
    checkTree: (onProgress) => store.checkTree(onProgress),
    reindex: (options) => store.reindex(options),
    hold: (hold) => store.hold(hold),
    release: (name) => store.release(name),
    retained: () => store.retained(),
    purge: (upTo) => store.purge(upTo),
    adopt: (changes, options) => store.adopt(changes, options),
    positionNow: () => store.positionNow(),
    committedAfter: (index) => store.committedAfter(index),
    transaction: async (work) => (await commit(work)).result,
    commit,
    beginHistory: (work, next) => store.beginHistory(work, next),
  }
}
