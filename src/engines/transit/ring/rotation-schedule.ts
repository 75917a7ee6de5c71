// The schedule of automatic rotation. Keys that are due are found in order of time, without reading the others:
//
//   due/SECONDS/NAME    the key is due from that second on (16 digits, since the epoch); JSON, {"format":1}
//   due-index           every key with a period has such an entry; JSON, {"format":1}
//
// A transaction that stores a key also stores its entry here, so that no entry is ever missing.
import type { Ticks } from '../../../lib/world.ts'
import type { View, ViewTransaction } from '../../../storage/sealed-storage.ts'
import type { RingHeader } from './ring-header.ts'

const FOLDER = 'due/'
const COMPLETE = 'due-index'
const DIGITS = 16
const ENTRY = Buffer.from('{"format":1}')
const PAGE = 100
/** Keys that are read in one step, which takes about a millisecond; requests run between two steps. */
const KEYS_PER_STEP = 25

/**
 * Returns the second from which on the key is due, since the epoch. Undefined for a key that does not rotate by itself:
 * it has no period, is soft-deleted, or was imported without permission to rotate.
 */
export function dueSecond(header: RingHeader): number | undefined {
  const { autoRotatePeriodSeconds: period, softDeleted, imported, allowImportedRotation, versions } = header
  if (period === 0 || softDeleted || (imported && !allowImportedRotation)) return undefined
  const second = Math.ceil((versions.at(-1)?.createdAtMs ?? 0) / 1000) + period
  return Number.isSafeInteger(second) ? second : undefined
}

/** Moves the entry of a key in the transaction that changes the key. Undefined: there was, or will be, no such key. */
export function reschedule(
  tx: ViewTransaction,
  name: string,
  before: RingHeader | undefined,
  after: RingHeader | undefined,
): void {
  const [from, to] = [before && dueSecond(before), after && dueSecond(after)]
  if (from === to) return
  if (from !== undefined) tx.delete(entryKey(from, name))
  if (to !== undefined) tx.put(entryKey(to, name), ENTRY)
}

const entryKey = (second: number, name: string): string => `${FOLDER}${String(second).padStart(DIGITS, '0')}/${name}`

/** Returns the names of the keys that are due, those that wait longest first. */
export async function* dueKeys(storage: View, nowMs: number): AsyncGenerator<string> {
  for (let after = ''; ; ) {
    const folders = await storage.list(FOLDER, { after, limit: PAGE })
    for (const folder of folders) {
      if (Number(folder.slice(0, -1)) * 1000 > nowMs) return
      yield* namesIn(storage, FOLDER + folder)
    }
    if (folders.length < PAGE) return
    after = folders.at(-1) ?? ''
  }
}

async function* namesIn(storage: View, folder: string): AsyncGenerator<string> {
  for (let after = ''; ; ) {
    const names = await storage.list(folder, { after, limit: PAGE })
    yield* names
    if (names.length < PAGE) return
    after = names.at(-1) ?? ''
  }
}

/** True if the schedule also has the keys that are older than it. */
export async function isComplete(storage: View): Promise<boolean> {
  return (await storage.get(COMPLETE)) !== undefined
}

/**
 * Adds the keys that are older than the schedule, step by step. `headerOf` reads a header within the transaction; it
 * returns undefined for a key that is gone, or cannot be read.
 */
export async function complete(
  storage: View,
  list: (after: string, limit: number) => Promise<readonly string[]>,
  headerOf: (tx: ViewTransaction, name: string) => Promise<RingHeader | undefined>,
  ticks: Ticks,
): Promise<void> {
  for (let after = ''; ; ) {
    const names = await list(after, KEYS_PER_STEP)
    await storage.transaction(async (tx) => {
      for (const name of names) reschedule(tx, name, undefined, await headerOf(tx, name))
      if (names.length < KEYS_PER_STEP) tx.put(COMPLETE, ENTRY)
    })
    if (names.length < KEYS_PER_STEP) return
    after = names.at(-1) ?? ''
    // A step that has nothing to commit ends in the tick that it began in: requests come in only here.
    await ticks.next()
  }
}
