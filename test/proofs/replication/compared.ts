// Compares two clusters whose servers have ended, entry by entry as they are stored, and takes a secondary out of its
// set so that it stands alone.
import assert from 'node:assert/strict'
import { cpSync, rmSync } from 'node:fs'
import { realWorld } from '../../../src/lib/world.ts'
import { type StoredEntry, systemScope } from '../../../src/storage/contract.ts'
import { locationIn, storageIn, storeLocation } from '../../../src/storage/drivers.ts'
import type { ReplicationFamily } from '../../../src/storage/peer-log.ts'
import { sentEntries } from '../../fixtures/copied-store.ts'
import { faultsOf } from '../../fixtures/store-faults.ts'

const SETS = 'root/core/replication/'

/** Fails unless both stores are sound, and hold the same in all classes that the family sends. Returns how many. */
export async function requireSameEntries(
  primary: string,
  secondary: string,
  family: ReplicationFamily = 'dr',
): Promise<number> {
  for (const directory of [primary, secondary]) assert.deepEqual(faultsOf(directory), [], directory)
  const [theirs, ours] = [await entriesOf(primary, family), await entriesOf(secondary, family)]
  const differing = [...new Set([...theirs.keys(), ...ours.keys()])].filter((key) => theirs.get(key) !== ours.get(key))
  assert.deepEqual(differing, [])
  return theirs.size
}

async function entriesOf(directory: string, family: ReplicationFamily): Promise<ReadonlyMap<string, string>> {
  const store = await locationIn(directory).openReader()
  try {
    const entries = await sentEntries(store)
    const isSent = (of: StoredEntry): boolean => family === 'dr' || of.class === 'replicated'
    return new Map(
      entries
        .filter(isSent)
        .map((entry) => [entry.key, `${entry.class} ${entry.leaf.toString('hex')} ${entry.value.toString('hex')}`]),
    )
  } finally {
    await store.close()
  }
}

/** Takes a copy of a secondary's data out of its set: what is left is a cluster like any other. */
export async function takeOutOfSets(directory: string, copy: string): Promise<void> {
  rmSync(copy, { recursive: true, force: true })
  cpSync(directory, copy, { recursive: true })
  const { random, clock } = realWorld()
  const onFatal = (cause: Error): never => {
    throw cause
  }
  const store = await storeLocation(storageIn(copy)).open({ random, clock, onFatal })
  await store.transaction(async (tx) => {
    for (const { key } of await tx.scan(SETS, '', 1_000)) tx.delete(systemScope, key)
  })
  await store.close()
}
