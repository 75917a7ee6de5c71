// Notes whether some work committed data of the cluster itself. A performance secondary asks when a handler comes to a
// write of shared data: only a handler that has changed nothing here may be carried out again on the primary.
import { AsyncLocalStorage } from 'node:async_hooks'
import { classify } from './classes.ts'
import type { Transaction } from './contract.ts'

/** `isWritten`: an entry of class local was put or deleted, and committed. */
export type OwnWrites = { isWritten: boolean }

/** Work run in it has its commits noted. Nothing is noted, and nothing is lost, outside. */
export const ownWrites: AsyncLocalStorage<OwnWrites> = new AsyncLocalStorage()

/** Runs a transaction of the store; notes in `own` if it commits a local entry. */
export async function noteOwn<T>(
  own: OwnWrites,
  transaction: (work: (tx: Transaction) => Promise<T>) => Promise<T>,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  let isOwn = false
  const result = await transaction((tx) => {
    // An attempt that lost to another commit has written nothing.
    isOwn = false
    return work({
      get: (key) => tx.get(key),
      list: (folder, options) => tx.list(folder, options),
      scan: (folder, after, limit) => tx.scan(folder, after, limit),
      put: (scope, key, value) => {
        isOwn ||= classify(scope, key) === 'local'
        tx.put(scope, key, value)
      },
      delete: (scope, key) => {
        isOwn ||= classify(scope, key) === 'local'
        tx.delete(scope, key)
      },
    })
  })
  if (isOwn) own.isWritten = true
  return result
}
