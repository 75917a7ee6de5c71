// Checks the store on the disk, and the clock against it (B-08, B-15).
import type { DurableLocation } from '../storage/driver.ts'
import { storeLocation } from '../storage/drivers.ts'
import { type Check, type Finding, ok, refusing, unknown, warn, worst } from './check.ts'
import type { Machine } from './machine.ts'

/** A correct clock never shows a time before this: the program was written then. */
const WRITTEN_AT_MS = Date.UTC(2026, 10, 1)
/** How far the last change may lie in the future before it is a warning. */
const CLOCK_TIMEOUT_MS = 60_000

const clock: Check = {
  id: 'B-08',
  title: 'The clock is plausible',
  group: 'storage',
  how: 'clock, time of the last change in the store',
  again: false,
  run: async ({ world }, { storage }) => {
    const nowMs = world.clock.nowMs()
    if (nowMs < WRITTEN_AT_MS)
      return warn(`The clock says ${dayOf(nowMs)}, which is in the past: set it, or run a time service`)
    const summary = await storeLocation(storage).durable?.summary()
    const lastMs = summary?.kind === 'sound' ? summary.committedAtMs : undefined
    if (lastMs === undefined) return ok(`The clock says ${momentOf(nowMs)}`)
    const behindMs = lastMs - nowMs
    if (behindMs <= CLOCK_TIMEOUT_MS)
      return ok(`The clock says ${momentOf(nowMs)}, the last change in the store was at ${momentOf(lastMs)}`)
    return warn(`The last change in the store is ${Math.round(behindMs / 1000)} s in the future: set the clock`)
  },
}

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10)
const momentOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`

/** A durable write that takes longer is a warning: every commit waits for one. */
const SLOW_SYNC_MS = 50

const store: Check = {
  id: 'B-15',
  title: 'The store opens and the disk is fast',
  group: 'storage',
  how: 'format and last records of the store, its journal, one synced write',
  again: false,
  run: async (machine, { storage }) => {
    const { durable } = storeLocation(storage)
    if (durable === undefined) return ok('Nothing is stored')
    if (machine.stat(durable.directory) === undefined) return ok('There is no store yet')
    return worst([await storeFinding(durable), await syncFinding(machine, durable)])
  },
}

async function storeFinding(location: DurableLocation): Promise<Finding> {
  const summary = await location.summary()
  if (summary.kind === 'none') return ok('There is no store yet')
  if (summary.kind === 'damaged')
    return refusing(`${summary.fault}: check it with \`keywright storage verify\`, or restore a snapshot`)
  const size = `${sizeOf(summary.databaseBytes)}, last change ${summary.index}`
  if (summary.isInUse) return ok(`A server has the store open: ${size}`)
  if (summary.journalBytes === 0) return ok(`The store was closed cleanly: ${size}`)
  return ok(`The store was not closed cleanly; its journal of ${sizeOf(summary.journalBytes)} is intact: ${size}`)
}

async function syncFinding({ world }: Machine, location: DurableLocation): Promise<Finding> {
  let ms: number
  try {
    ms = await location.measureSync(() => world.clock.monotonicMs())
  } catch {
    return unknown(`The disk speed cannot be measured: this user may not write to ${location.directory}`)
  }
  if (ms < SLOW_SYNC_MS) return ok('')
  return warn(`A durable write takes ${Math.round(ms)} ms: every change waits for one, so use a faster disk`)
}

const sizeOf = (bytes: number): string =>
  bytes < 2 ** 20 ? `${Math.ceil(bytes / 2 ** 10)} KiB` : `${(bytes / 2 ** 20).toFixed(1)} MiB`

/** B-08 and B-15, for `CHECKS` in report.ts. */
export const STORAGE_CHECKS: readonly Check[] = [clock, store]
