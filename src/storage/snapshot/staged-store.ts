// Takes a snapshot into a second store beside the one in use (`Staging`). Each entry is checked as input like any other
// (threats D-06). The staged store is then checked as a whole before it may replace the one in use.
import type { KeyObject } from 'node:crypto'
import { importSecret } from '../../crypto/primitives/secret-key.ts'
import type { Ticks } from '../../lib/world.ts'
import { type Barrier, type RecordForm, requireForm } from '../barrier.ts'
import { faultOfKey, mayHaveClass } from '../classes.ts'
import type { StoredEntry } from '../contract.ts'
import { MAX_VALUE_BYTES } from '../contract.ts'
import type { StagedPosition, Staging } from '../driver.ts'
import { compareKeys } from '../key-order.ts'
import { LEAST_KEYRING_BYTES } from '../keyring.ts'
import { indexOfOtherData, withHistory } from '../log/histories.ts'
import { LEAF_BYTES } from '../log/leaf.ts'
import type { Position } from '../peer-log.ts'
import { SEAL_PATH, SnapshotDamaged, type SnapshotEnd, type SnapshotHeader, sealedEnd } from './snapshot-format.ts'
import type { ReadSnapshot } from './snapshot-stream.ts'
import { EntriesDigest, type StagedCheck } from './staged-check.ts'

const LEAF_KEY = 'root/core/leaf-key'
const KEY_BYTES = 32
/**
 * The records without which a store cannot be unsealed. If no key of this server opens the snapshot, their form is all
 * that can be checked. Undefined for the record that lies in clear: `inspect` looks at it.
 */
const NEEDED: ReadonlyMap<string, RecordForm | undefined> = new Map([
  // JSON, at least {}.
  ['root/core/cluster', { isBehindBarrier: true, leastBytes: 2 }],
  ['root/core/keyring', { isBehindBarrier: false, leastBytes: LEAST_KEYRING_BYTES }],
  [LEAF_KEY, { isBehindBarrier: true, leastBytes: KEY_BYTES }],
  ['root/core/root-key', { isBehindBarrier: false, leastBytes: KEY_BYTES }],
  ['root/core/seal-config', undefined],
])
/** They open what a former keyring sealed. A snapshot has them only if there was one, and hands them on like those. */
const FORMER_KEYS: readonly string[] = ['root/core/former-keys', 'root/core/replaced-keys']

/** How a snapshot is staged. */
export type StageOptions = {
  readonly staging: Staging
  /** Position of the store that will be replaced. */
  readonly position: Pick<Position, 'index' | 'epoch'>
  /**
   * Opens the keyring among the records that unsealing needs. Returns undefined if only the holders of shares can.
   * @throws StorageCorrupt if it should open and does not
   */
  readonly openKeyring: (records: ReadonlyMap<string, Buffer>) => Barrier | undefined
  /** Fresh random bytes: the restored store has a history of its own. */
  readonly historyId: Buffer
  /** Wall clock. */
  readonly nowMs: number
  readonly ticks: Ticks
  /** Checks what the rooms above know of entries. @throws StorageCorrupt for one that they could not use */
  readonly inspect: (key: string, value: Buffer) => void
  /** True for entries of the snapshot that the store must not get. */
  readonly isLeftOut: (key: string) => boolean
  /**
   * Entries that stand in the place of those left out, with other keys than those taken. Called once, behind
   * `openKeyring`, with the key of the snapshot that leaves are made with; undefined if that cannot be opened. @throws
   * StorageCorrupt for a snapshot that cannot be used
   */
  readonly added: (leafKey: KeyObject | undefined) => Promise<readonly StoredEntry[]>
  /** Makes the staged store durable and checks it (staged-check.ts), on any thread. @throws SnapshotDamaged */
  readonly check: (check: StagedCheck) => Promise<void>
}

/** Stages a snapshot. If it throws, nothing is left of it. @throws SnapshotDamaged, StorageCorrupt, StorageFull */
export async function stageSnapshot(read: ReadSnapshot, options: StageOptions): Promise<void> {
  try {
    await stage(read, options)
  } catch (error) {
    await options.staging.drop()
    throw error
  }
}

async function stage({ header, chunks }: ReadSnapshot, options: StageOptions): Promise<void> {
  const writer = await options.staging.begin()
  const intake = new Intake(options)
  let end: SnapshotEnd | undefined
  let keys: StagedCheck['keys']
  let added: readonly StoredEntry[] = []
  try {
    for await (const chunk of chunks) {
      if (chunk.kind === 'entries') await writer.write(intake.take(chunk.entries))
      else {
        end = chunk.end
        intake.requireComplete()
        const barrier = options.openKeyring(intake.records)
        requireSeal(chunk.end, chunk.hashBefore, barrier)
        keys = keysOf(barrier, intake.records.get(LEAF_KEY))
        added = await options.added(keys?.leafKey)
        await writer.write(added)
      }
      // Chunks that have arrived already come without a wait: this lets other requests in between.
      await options.ticks.next()
    }
  } finally {
    await writer.close()
  }
  if (end === undefined) throw new SnapshotDamaged('The snapshot has no end')
  await options.check({
    ...beginningOf(header, options),
    entries: intake.count + added.length,
    taken: intake.digest.end(),
    added: added.map(({ key }) => key),
    keys,
  })
}

/** Checks entries one by one: key, class, order, lengths, and what `inspect` knows. */
class Intake {
  readonly #options: StageOptions
  #last = ''
  /** The records of NEEDED that have come, and that of the former keys. */
  readonly records = new Map<string, Buffer>()
  /** Number of entries that were taken. */
  count = 0
  /** Over these. */
  readonly digest = new EntriesDigest()

  constructor(options: StageOptions) {
    this.#options = options
  }

  /** Returns the entries to write. @throws SnapshotDamaged, StorageCorrupt */
  take(entries: readonly StoredEntry[]): readonly StoredEntry[] {
    const { inspect, isLeftOut } = this.#options
    const taken: StoredEntry[] = []
    for (const entry of entries) {
      this.#requireGood(entry)
      inspect(entry.key, entry.value)
      this.#last = entry.key
      if (NEEDED.has(entry.key) || FORMER_KEYS.includes(entry.key)) this.records.set(entry.key, entry.value)
      if (!isLeftOut(entry.key)) taken.push(entry)
    }
    this.digest.take(taken)
    this.count += taken.length
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

/** The restored history begins above every index in use when it was staged. */
function beginningOf(header: SnapshotHeader, options: StageOptions): StagedPosition {
  const { position: replaced, historyId: id, nowMs } = options
  const index = indexOfOtherData(Math.max(replaced.index, header.index))
  const epoch = Math.max(replaced.epoch, header.epoch) + 1
  const parent = { id: header.historyId, index: header.index, chain: header.chain }
  const child = { id, epoch, startIndex: index + 1, parent, startedAtMs: Math.floor(nowMs) }
  return { index, histories: withHistory(header.histories, child) }
}

function keysOf(barrier: Barrier | undefined, leafKeyRecord: Buffer | undefined): StagedCheck['keys'] {
  const keyring = barrier?.keyring
  if (barrier === undefined || keyring === undefined || leafKeyRecord === undefined) return undefined
  const leafKey = barrier.open(LEAF_KEY, leafKeyRecord)
  const keys = { keyring, leafKey: importSecret(leafKey) }
  leafKey.fill(0)
  return keys
}
