// Takes a snapshot into a second store beside the one in use (`Staging`), entry by entry and as input like any other,
// and has it checked there as a whole before it may take the place of the other.
import { setImmediate as nextLoop } from 'node:timers/promises'
import { importSecret } from '../../crypto/primitives/secret-key.ts'
import { type Barrier, type RecordForm, requireForm } from '../barrier.ts'
import { faultOfKey, mayHaveClass } from '../classes.ts'
import type { Position, StoredEntry } from '../contract.ts'
import { MAX_VALUE_BYTES } from '../contract.ts'
import type { StagedPosition, Staging } from '../driver.ts'
import { compareKeys } from '../key-order.ts'
import { LEAST_KEYRING_BYTES } from '../keyring.ts'
import { LEAF_BYTES } from '../log/leaf.ts'
import { SEAL_PATH, SnapshotDamaged, type SnapshotEnd, type SnapshotHeader, sealedEnd } from './snapshot-format.ts'
import type { ReadSnapshot } from './snapshot-stream.ts'
import type { StagedCheck } from './staged-check.ts'

const LEAF_KEY = 'root/core/leaf-key'
const KEY_BYTES = 32
/**
 * Without one of these a store cannot be unsealed. The form of each is all that can be told of a snapshot that no key
 * of this server opens; undefined where the record lies in clear, which `inspect` looks at.
 */
const NEEDED: ReadonlyMap<string, RecordForm | undefined> = new Map([
  // An object in JSON.
  ['root/core/cluster', { isBehindBarrier: true, leastBytes: 2 }],
  ['root/core/keyring', { isBehindBarrier: false, leastBytes: LEAST_KEYRING_BYTES }],
  [LEAF_KEY, { isBehindBarrier: true, leastBytes: KEY_BYTES }],
  ['root/core/root-key', { isBehindBarrier: false, leastBytes: KEY_BYTES }],
  ['root/core/seal-config', undefined],
])
/**
 * Indexes of another history begin at its second multiple above all that was used when it was staged (replication
 * compares indexes): more is not written in the meantime.
 */
const INDEX_GAP = 2 ** 20

export type StageOptions = {
  readonly staging: Staging
  /** Of the store that will be replaced. */
  readonly position: Position
  /**
   * Opens the keyring among the records that unsealing needs; undefined where only the holders of its shares can.
   * @throws StorageCorrupt where it should open and does not
   */
  readonly openKeyring: (records: ReadonlyMap<string, Buffer>) => Barrier | undefined
  readonly historyId: Buffer
  /** What the rooms above know of entries. @throws StorageCorrupt for one that they could not use */
  readonly inspect: (key: string, value: Buffer) => void
  /** What the snapshot holds and the store is not to. */
  readonly isLeftOut: (key: string) => boolean
  /** Makes what was staged durable and checks it (staged-check.ts). @throws SnapshotDamaged */
  readonly check: (check: StagedCheck) => Promise<void>
}

/** @throws SnapshotDamaged, StorageCorrupt, StorageFull; nothing is left of it then */
export async function stageSnapshot(read: ReadSnapshot, options: StageOptions): Promise<void> {
  try {
    await stage(read, options)
  } catch (error) {
    await options.staging.drop()
    throw error
  }
}

async function stage({ header, chunks }: ReadSnapshot, options: StageOptions): Promise<void> {
  const writer = await options.staging.begin(options.historyId)
  const intake = new Intake(options)
  let barrier: Barrier | undefined
  let end: SnapshotEnd | undefined
  try {
    for await (const chunk of chunks) {
      if (chunk.kind === 'entries') await writer.write(intake.take(chunk.entries))
      else {
        end = chunk.end
        intake.requireComplete()
        barrier = options.openKeyring(intake.records)
        requireSeal(chunk.end, chunk.hashBefore, barrier)
      }
      // What has arrived already comes at once: the requests of others come in between.
      await nextLoop()
    }
  } finally {
    await writer.close()
  }
  if (end === undefined) throw new SnapshotDamaged('The snapshot has no end')
  const { replicated, local } = end
  const entries = end.entries - intake.leftOut
  const keys = keysOf(barrier, intake.records.get(LEAF_KEY))
  await options.check({ ...positionOf(header, options.position), entries, replicated, local, keys })
}

/** Takes entries as input like any other (threats D-06). */
class Intake {
  readonly #options: StageOptions
  #last = ''
  /** Those that unsealing needs. */
  readonly records = new Map<string, Buffer>()
  /** Entries that are not to be written. */
  leftOut = 0

  constructor(options: StageOptions) {
    this.#options = options
  }

  /** Gives those that are to be written. */
  take(entries: readonly StoredEntry[]): readonly StoredEntry[] {
    const { inspect, isLeftOut } = this.#options
    const taken: StoredEntry[] = []
    for (const entry of entries) {
      this.#requireGood(entry)
      inspect(entry.key, entry.value)
      this.#last = entry.key
      if (NEEDED.has(entry.key)) this.records.set(entry.key, entry.value)
      if (isLeftOut(entry.key)) this.leftOut++
      else taken.push(entry)
    }
    return taken
  }

  requireComplete(): void {
    for (const [key, form] of NEEDED) {
      const record = this.records.get(key)
      if (record === undefined) throw new SnapshotDamaged(`The snapshot lacks ${key}, without which no store opens`)
      if (form !== undefined) requireForm(key, record, form)
    }
  }

  #requireGood({ key, class: storageClass, leaf, value }: StoredEntry): void {
    if (faultOfKey(key) !== undefined || !mayHaveClass(key, storageClass)) {
      throw new SnapshotDamaged(`The snapshot holds a key that cannot be stored as ${storageClass}`)
    }
    if (this.#last !== '' && compareKeys(key, this.#last) <= 0) {
      throw new SnapshotDamaged(`The snapshot holds the key ${key} out of order`)
    }
    if (leaf.length !== (storageClass === 'ignored' ? 0 : LEAF_BYTES) || value.length > MAX_VALUE_BYTES) {
      throw new SnapshotDamaged(`The entry ${key} of the snapshot has a leaf or value of a wrong length`)
    }
  }
}

function requireSeal(end: SnapshotEnd, hashBefore: Buffer, barrier: Barrier | undefined): void {
  if (barrier === undefined) return
  if (!barrier.open(SEAL_PATH, end.seal).equals(sealedEnd(hashBefore, end))) {
    throw new SnapshotDamaged('The snapshot is not the one that this cluster sealed')
  }
}

function positionOf(header: SnapshotHeader, replaced: Position): StagedPosition {
  return {
    index: (Math.floor(Math.max(replaced.index, header.index) / INDEX_GAP) + 2) * INDEX_GAP,
    epoch: Math.max(replaced.epoch, header.epoch) + 1,
  }
}

function keysOf(barrier: Barrier | undefined, leafKeyRecord: Buffer | undefined): StagedCheck['keys'] {
  const keyring = barrier?.keyring
  if (barrier === undefined || keyring === undefined || leafKeyRecord === undefined) return undefined
  const leafKey = barrier.open(LEAF_KEY, leafKeyRecord)
  const keys = { keyring, leafKey: importSecret(leafKey) }
  leafKey.fill(0)
  return keys
}
