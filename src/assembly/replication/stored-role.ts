// The role of this node, from what it keeps of its sets. The store says it, so it is the same after every restart.
import type { NodeRole, RoleState } from '../../api/node-role.ts'
import type { Random } from '../../lib/world.ts'
import { readSuccessor } from '../../replication/set/changing-hands.ts'
import { isHandingOver } from '../../replication/set/handing-over-note.ts'
import { familyParts, SECONDARY_IDENTITY, SETS_FOLDER, type SetReader, setPath } from '../../replication/set/records.ts'
import { Barrier } from '../../storage/barrier.ts'
import { type Store, systemScope } from '../../storage/contract.ts'
import type { Keyring } from '../../storage/keyring.ts'
import type { ReplicationFamily } from '../../storage/peer-log.ts'
import { sealedTransaction } from '../../storage/sealed-storage.ts'

/** The role that the records say; undefined if the cluster has no part in any set. */
export async function storedRole(tx: SetReader): Promise<RoleState | undefined> {
  const { dr, performance } = await familyParts(tx)
  if (dr.mode === 'disabled' && performance.mode === 'disabled') return undefined
  const role: NodeRole = {
    isStandby: false,
    dr: dr.mode,
    performance: performance.mode,
    isFenced: dr.isFenced || performance.isFenced,
    ...((await isHandingOver(tx)) && { isHandingOver: true }),
  }
  return { role, primaryAddress: (await primaryAddress(tx, 'dr')) ?? (await primaryAddress(tx, 'performance')) ?? '' }
}

async function primaryAddress(tx: SetReader, family: ReplicationFamily): Promise<string | undefined> {
  const stored = await tx.get(setPath(family, 'identity'))
  if (stored !== undefined) return SECONDARY_IDENTITY.decode(stored).apiAddress
  return (await readSuccessor(tx, family))?.apiAddress
}

/**
 * The role that a sealed store says, read with the keyring that it is about to be opened with: what a node may do while
 * it opens depends on it.
 */
export function roleUnder(
  keyring: Keyring,
  store: Pick<Store, 'transaction'>,
  random: Random,
): Promise<RoleState | undefined> {
  const barrier = new Barrier(random, keyring)
  return store.transaction((tx) => storedRole(sealedTransaction(barrier, systemScope, SETS_FOLDER, tx)))
}
