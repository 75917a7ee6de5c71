// Initialisation: makes and stores all keys of a new server in one transaction, with what else it begins with. A crash
// leaves either nothing, or a server that its shares open.
import type { KeyObject } from 'node:crypto'
import { importSecret } from '../../crypto/primitives/secret-key.ts'
import type { World } from '../../lib/world.ts'
import { Barrier } from '../../storage/barrier.ts'
import { type Store, systemScope, type Transaction } from '../../storage/contract.ts'
import { DATA_KEY_BYTES, encodeKeyring, firstKeyring } from '../../storage/keyring.ts'
import { sealedTransaction } from '../../storage/sealed-storage.ts'
import { SHARED_KEY_BYTES, type ShareConfig, splitKey, wipeAll } from './key-shares.ts'
import { encodeKeyUse, firstUses, KEY_USE } from './key-use.ts'
import { encodeSealConfig, SEAL_CONFIG, type SealConfig } from './seal-config.ts'
import { CLUSTER, type Cluster, KEYRING, putRecord, RECOVERY_KEY, ROOT_KEY, SEAL_FOLDER } from './seal-records.ts'

/** Root key and leaf key: AES-256 and HMAC-SHA-256. */
const KEY_BYTES = 32

/** Writes of other rooms in the transaction of the initialisation. An error undoes all of it. */
export type AlsoWrites = (tx: Transaction, barrier: Barrier, shares: readonly Buffer[]) => Promise<void>

/** Parameters of an initialisation. */
export type SealCreation = {
  readonly shareConfig: ShareConfig
  /** If empty, a name is made up. */
  readonly clusterName: string
  /** The static key that seals, if there is one; the shares are then those of a recovery key. */
  readonly auto: { readonly keyId: string; readonly key: KeyObject } | undefined
  readonly also: AlsoWrites
}

/** Makes and stores the keys. Returns the shares, which are stored nowhere; the caller wipes them. */
export async function createSeal(
  store: Store,
  world: World,
  { shareConfig, clusterName, auto, also }: SealCreation,
): Promise<{ readonly config: SealConfig; readonly shares: readonly Buffer[] }> {
  const { random } = world
  const [sharedKey, rootKey, leafKey, dataKey] = [SHARED_KEY_BYTES, KEY_BYTES, KEY_BYTES, DATA_KEY_BYTES].map(
    random.bytes,
  )
  if (sharedKey === undefined || rootKey === undefined || leafKey === undefined || dataKey === undefined)
    throw new RangeError('Four keys are made')
  const keyring = firstKeyring(random, dataKey, world.clock.nowMs())
  const barrier = new Barrier(random, keyring)
  const cluster: Cluster = {
    name: clusterName === '' ? `keywright-${random.uuid().slice(0, 8)}` : clusterName,
    id: random.uuid(),
  }
  const shares = splitKey(sharedKey, shareConfig, random)
  const config = { ...shareConfig, id: '', ...(auto === undefined ? {} : { keyId: auto.keyId }) }
  try {
    store.setLeafKey(leafKey)
    await store.transaction(async (tx) => {
      const root = importSecret(rootKey)
      putRecord(tx, random, ROOT_KEY, auto?.key ?? importSecret(sharedKey), rootKey)
      if (auto !== undefined) putRecord(tx, random, RECOVERY_KEY, root, sharedKey)
      const encoded = encodeKeyring(keyring)
      putRecord(tx, random, KEYRING, root, encoded)
      encoded.fill(0)
      tx.put(systemScope, SEAL_CONFIG, encodeSealConfig(config))
      const core = sealedTransaction(barrier, systemScope, SEAL_FOLDER, tx)
      core.put('leaf-key', leafKey)
      core.put('cluster', CLUSTER.encode(cluster))
      await also(tx, barrier, shares)
      // Last, because `also` encrypts: the count must cover its writes.
      putRecord(tx, random, KEY_USE, root, encodeKeyUse(firstUses(keyring, barrier.encryptions)))
    })
    return { config, shares }
  } finally {
    store.setLeafKey(undefined)
    wipeAll([sharedKey, rootKey, leafKey, dataKey])
  }
}
