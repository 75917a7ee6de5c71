// The seal of a store that is being restored. A snapshot of this cluster's own data keeps its shares, but the server
// keeps its way of opening: a snapshot from before the seal was another one, or from another cluster of the set, is
// taken over as the seal of a primary is (system/seal/seal-handover.ts).
import type { KeyObject } from 'node:crypto'
import { AuthenticationFailed } from '../crypto/primitives/aead.ts'
import type { Random } from '../lib/world.ts'
import type { Barrier } from '../storage/barrier.ts'
import type { StoredEntry } from '../storage/contract.ts'
import { StorageCorrupt } from '../storage/errors.ts'
import type { Seal } from '../system/seal/seal.ts'
import { wipeBundle } from '../system/seal/seal-bundle.ts'
import { decodeSealConfig, SEAL_CONFIG } from '../system/seal/seal-config.ts'
import { bundleOf } from '../system/seal/seal-handover.ts'
import { KEYRING, openKeyring, RECOVERY_KEY, ROOT_KEY, SEAL_FOLDER } from '../system/seal/seal-records.ts'
import { BACKUP_NAMES } from '../system/seal/shares-backup.ts'

const RECORDS: readonly string[] = [
  ROOT_KEY,
  SEAL_CONFIG,
  RECOVERY_KEY,
  ...Object.values(BACKUP_NAMES).map((name) => SEAL_FOLDER + name),
]
const NO_LEAF = Buffer.alloc(0)

/** True for a record of the seal: it is not restored as it is. */
export const isOfSeal = (key: string): boolean => RECORDS.includes(key)

/** Gathers the seal's records of one snapshot. */
export class RestoredSeal {
  readonly #records = new Map<string, Buffer>()

  /** Called with each entry of the snapshot. */
  see(key: string, value: Buffer): void {
    if (isOfSeal(key) || key === KEYRING) this.#records.set(key, value)
  }

  /**
   * Returns the records for the restored store. `opened` has the keyring of the snapshot, if a key of this server opens
   * it. The shares of a snapshot have an id of their own: other clusters of the set take them over.
   * @throws AutoSealFailed if the snapshot needs another kind of seal, and its root key is not known here
   */
  async entries(seal: Seal, opened: Barrier | undefined, random: Random): Promise<readonly StoredEntry[]> {
    const config = decodeSealConfig(this.#of(SEAL_CONFIG))
    if (opened === undefined || !this.isOf(seal.rootKey)) {
      seal.requireFitting(config)
      return [...this.#records].filter(([key]) => isOfSeal(key)).map(([key, value]) => entry(key, value))
    }
    const bundle = await bundleOf({ get: async (key) => this.#records.get(key) }, seal.rootKey, opened)
    try {
      const { records } = seal.handover({ ...bundle, id: random.uuid() }, opened)
      return records.flatMap(({ key, value }) => (value === undefined ? [] : [entry(key, value)]))
    } finally {
      wipeBundle(bundle)
    }
  }

  /** True if this root key opens the keyring of the snapshot. */
  isOf(rootKey: KeyObject): boolean {
    try {
      openKeyring(rootKey, this.#of(KEYRING))
      return true
    } catch (cause) {
      if (cause instanceof AuthenticationFailed) return false
      throw cause
    }
  }

  #of(key: string): Buffer {
    const record = this.#records.get(key)
    if (record === undefined) throw new StorageCorrupt(`The snapshot lacks ${key}`)
    return record
  }
}

const entry = (key: string, value: Buffer): StoredEntry => ({ key, value, class: 'ignored', leaf: NO_LEAF })
