// Checks a staged snapshot in a thread of its own, so that the writing thread can go on.
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { realWorld } from '../lib/world.ts'
import { durableLocation, type StorageConfig } from '../storage/drivers.ts'
import { StorageError, StorageFailed, StorageFull } from '../storage/errors.ts'
import { SnapshotDamaged } from '../storage/snapshot/snapshot-format.ts'
import { checkStaged, type StagedCheck } from '../storage/snapshot/staged-check.ts'
import { exitOf } from './thread-exit.ts'

type Verdict = { readonly kind: 'sound' } | { readonly kind: 'damaged' | 'full' | 'failed'; readonly message: string }

/** Tells this file, in the thread, that it was started for this work. */
const ROLE = 'check a staged snapshot'

type Work = { readonly role: typeof ROLE; readonly storage: StorageConfig; readonly check: StagedCheck }

/** Resolves if the staged snapshot is sound. @throws SnapshotDamaged, StorageFull, StorageFailed */
export async function checkStagedInThread(storage: StorageConfig, check: StagedCheck): Promise<void> {
  const workerData: Work = { role: ROLE, storage, check }
  const worker = new Worker(new URL(import.meta.url), { workerData })
  const ended = exitOf(worker)
  const verdict = await new Promise<Verdict>((resolve) => {
    worker.on('message', resolve)
    worker.on('error', (cause) => resolve({ kind: 'failed', message: cause instanceof Error ? cause.name : 'unknown' }))
    worker.on('exit', () => resolve({ kind: 'failed', message: 'its thread ended' }))
  })
  // The thread has the files open until it ends.
  await ended
  if (verdict.kind === 'damaged') throw new SnapshotDamaged(verdict.message)
  if (verdict.kind === 'full') throw new StorageFull(verdict.message)
  if (verdict.kind === 'failed') throw new StorageFailed(`The restored store could not be checked: ${verdict.message}`)
}

async function verdictOf({ storage, check }: Work): Promise<Verdict> {
  try {
    await checkStaged(durableLocation(storage).staging, check, realWorld().random)
    return { kind: 'sound' }
  } catch (cause) {
    if (cause instanceof StorageFull) return { kind: 'full', message: cause.message }
    const kind = cause instanceof StorageError && !(cause instanceof StorageFailed) ? 'damaged' : 'failed'
    return { kind, message: cause instanceof Error ? cause.message : 'unknown' }
  }
}

if (!isMainThread && workerData?.role === ROLE) {
  void verdictOf(workerData as Work).then((verdict) => parentPort?.postMessage(verdict))
}
