// The keys that each cluster, or each set of clusters, makes once, besides those of the seal. They are made at
// initialisation. A store that lacks one, of an earlier release or copied from a primary, gets it when the node begins
// its own work in a role that may. Neither function does anything for a key that is there.
import { addSigningKey } from '../audit/device-store.ts'
import { SYSTEM_FOLDER } from '../auth/token-keys.ts'
import type { TokenStore } from '../auth/token-store.ts'
import { CORE_FOLDER } from '../core/mount-entries.ts'
import type { Random } from '../lib/world.ts'
import { addIndexKey } from '../replication/consistency/index-key.ts'
import type { Barrier } from '../storage/barrier.ts'
import { systemScope, type Transaction } from '../storage/contract.ts'
import { sealedTransaction } from '../storage/sealed-storage.ts'

/** The parts that make keys. */
export type KeyMakers = {
  readonly barrier: Barrier
  readonly tokens: Pick<TokenStore, 'addKey'>
  readonly random: Random
}

/**
 * Makes the keys of this cluster: without them no token opens here, and no audit chain is signed. They are class local,
 * so they do not come with what a primary shares. A node that opens without them has none until its role changes.
 */
export async function makeOwnKeys(tx: Transaction, { barrier, tokens, random }: KeyMakers): Promise<void> {
  await tokens.addKey(sealedTransaction(barrier, systemScope, SYSTEM_FOLDER, tx))
  await addSigningKey(sealedTransaction(barrier, systemScope, CORE_FOLDER, tx), random)
}

/** Makes the keys that all clusters of a set share. Only a cluster that may change what the set shares calls it. */
export async function makeSharedKeys(tx: Transaction, { barrier, random }: KeyMakers): Promise<void> {
  await addIndexKey(sealedTransaction(barrier, systemScope, CORE_FOLDER, tx), random)
}
