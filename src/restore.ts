// The restore of a snapshot in the thread that writes: staged and checked first, then all threads let go of the store,
// then the files change places.
import { fail } from './api/errors.ts'
import type { ByteStream } from './api/request.ts'
import type { Random } from './lib/world.ts'
import { HISTORY_ID_BYTES } from './storage/backend.ts'
import type { Barrier } from './storage/barrier.ts'
import { Sealed, StorageCorrupt } from './storage/contract.ts'
import { SnapshotDamaged } from './storage/snapshot-format.ts'
import { readSnapshot } from './storage/snapshot-stream.ts'
import { dropStaged } from './storage/sqlite-files.ts'
import { stageSnapshot } from './storage/staged-store.ts'
import { AutoSealFailed } from './system/auto-seal.ts'
import { decodeSealConfig, SEAL_CONFIG, type SealConfig } from './system/seal-config.ts'
import type { Restored } from './system/system.ts'

/** What the store behind the house can do beyond the contract; a store in memory cannot be restored. */
export type Restorable = {
  readonly directory: string
  /** Of the store as it is. */
  position(): Promise<Parameters<typeof stageSnapshot>[1]['position']>
  /** Nothing uses the store when it is called, and it is another one afterwards. */
  adopt(): Promise<void>
}

export type RestoreParts = {
  readonly restorable: Restorable | undefined
  readonly barrier: Barrier
  /** Opens the keyring of any day of this cluster. */
  readonly openKeyring: (record: Buffer) => Barrier
  readonly clusterId: () => string | undefined
  readonly random: Random
  /** @throws AutoSealFailed for a store that this server could not open */
  readonly requireFitting: (config: SealConfig) => void
  /** Everything lets go of the store; then `adopt`; then everything takes hold of what is there. */
  readonly exchange: (adopt: () => Promise<void>) => Promise<void>
}

export class Restore {
  readonly #parts: RestoreParts
  #isRunning = false

  constructor(parts: RestoreParts) {
    this.#parts = parts
  }

  /** @throws Refusal where it is no good snapshot, or not of this cluster; the store is then as it was */
  async run(stream: ByteStream, force: boolean): Promise<Restored> {
    const { restorable, exchange } = this.#parts
    if (restorable === undefined) throw fail('bad_request', ['A store in memory cannot be restored'])
    if (this.#isRunning) throw fail('bad_request', ['A restore is under way'])
    this.#isRunning = true
    try {
      const restored = await this.#stage(stream, force, restorable)
      try {
        await exchange(() => restorable.adopt())
      } finally {
        dropStaged(restorable.directory)
      }
      return restored
    } catch (cause) {
      const isUnfit = cause instanceof AutoSealFailed
      if (isUnfit || cause instanceof SnapshotDamaged || cause instanceof StorageCorrupt) {
        throw fail('bad_request', [`${cause.message}. Nothing was changed`], cause)
      }
      throw cause
    } finally {
      this.#isRunning = false
    }
  }

  async #stage(stream: ByteStream, force: boolean, { directory, position }: Restorable): Promise<Restored> {
    const { barrier, openKeyring, clusterId, random } = this.#parts
    if (barrier.sealed) throw new Sealed('The server is sealed')
    const read = await readSnapshot(stream)
    const { header } = read
    const isOurs = header.clusterId === clusterId()
    if (!isOurs && !force) {
      throw fail('bad_request', [`The snapshot is of the cluster ${header.clusterId}, not of this one: see force`])
    }
    await stageSnapshot(read, {
      directory,
      position: await position(),
      openKeyring: isOurs ? openKeyring : undefined,
      historyId: random.bytes(HISTORY_ID_BYTES),
      check: (key, value) => {
        if (key === SEAL_CONFIG) this.#parts.requireFitting(decodeSealConfig(value))
      },
    })
    return { entries: header.entries, index: header.index, isSealChecked: isOurs }
  }
}
