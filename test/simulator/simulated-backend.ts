// A store on a simulated disk: tables in memory, of which a crash keeps what was synced. It fails as the driver of the
// real store does, and takes the same look at what it opens.
import type { Backend, BackendSnapshot, BackendView } from '../../src/storage/backend.ts'
import { StorageFailed, StorageFull } from '../../src/storage/errors.ts'
import { type EncodedChange, NO_ORIGINS } from '../../src/storage/log/change-record.ts'
import { MemoryBackend } from '../../src/storage/memory-backend.ts'
import type { MemoryTables } from '../../src/storage/memory-tables.ts'
import { requireSoundImage } from './disk-image.ts'
import { DiskFull, type DiskOptions, SimulatedDisk } from './simulated-disk.ts'
import { tornTables } from './torn-tables.ts'

/** What a crash leaves of a store, and a start opens. A restore replaces the tables in one step. */
export type StoreImage = { tables: MemoryTables }

/** The disk of one store. */
export type StoreDisk = SimulatedDisk<StoreImage>

/** The disk with this image. */
export function storeDisk(image: StoreImage, options: DiskOptions): StoreDisk {
  const kind = {
    copy: ({ tables }: StoreImage) => ({ tables: tables.copy() }),
    torn: (before: StoreImage, after: StoreImage) => ({
      tables: tornTables(before.tables, after.tables, options.random),
    }),
  }
  return new SimulatedDisk(image, kind, options)
}

/** Bytes of one write beside what it stores: a page of each table. */
const LEAST_BYTES = 3 * 4_096
/** Bytes of a row without its value. */
const ROW_BYTES = 64

/**
 * Opens the store on the disk. It can be opened again once it is closed, as a file can. Without `isLookedAt` the look
 * of a start is left out, which takes longer than all else.
 * @throws StorageCorrupt if a start sees that the image is not what a store leaves
 */
export function openSimulatedBackend(disk: StoreDisk, isLookedAt = true): Backend {
  if (isLookedAt) requireSoundImage(disk.content.tables)
  const memory = new MemoryBackend(disk.content.tables)
  return { ...readingVerbs(disk, memory), ...writingVerbs(disk) }
}

/** Replaces the whole store durably, as a restore does: after a crash the old one is there, or the new one. */
export async function replaceStore(disk: StoreDisk, tables: MemoryTables): Promise<void> {
  await storing(disk, bytesOfRecords(tables.log), (image) => {
    image.tables = tables
  })
}

type WritingVerb =
  | 'append'
  | 'setLeaves'
  | 'saveTree'
  | 'clearBuckets'
  | 'addBuckets'
  | 'saveHolds'
  | 'forgetRecords'
  | 'dropGoneBuckets'
  | 'erase'
  | 'flushErased'

function writingVerbs(disk: StoreDisk): Pick<Backend, WritingVerb> {
  const store = <Result>(bytes: number, alter: (tables: MemoryTables) => Result) =>
    storing(disk, bytes, ({ tables }) => alter(tables))
  return {
    append: (changes, origins = NO_ORIGINS, buckets) => {
      // Each value is written twice: as an entry, and in the log.
      const bytes = 2 * bytesOfRecords(changes) + ROW_BYTES * (buckets?.rows.length ?? 0)
      return store(bytes, (tables) => tables.append(changes, origins, buckets))
    },
    setLeaves: (leaves) => store(2 * ROW_BYTES * leaves.length, (tables) => tables.setLeaves(leaves)),
    saveTree: (save) => {
      const bytes = save.pages.reduce((sum, { digests }) => sum + ROW_BYTES + digests.length, 0)
      return store(bytes, (tables) => tables.saveTree(save))
    },
    clearBuckets: () => store(0, (tables) => tables.clearBuckets()),
    addBuckets: (step) => store(ROW_BYTES * step.rows.length, (tables) => tables.addBuckets(step)),
    saveHolds: (holds) => store(ROW_BYTES * holds.length, (tables) => tables.saveHolds(holds)),
    forgetRecords: (index, limit) => store(0, (tables) => tables.forgetRecords(index, limit)),
    dropGoneBuckets: async () => {
      await store(0, (tables) => tables.dropGoneBuckets())
      return undefined
    },
    erase: () => store(0, () => 'done' as const),
    flushErased: () => disk.requirePower(),
  }
}

/** A durable step. Only a full disk is not final, as with the real driver (threats P-02, P-03). */
async function storing<Result>(disk: StoreDisk, bytes: number, alter: (image: StoreImage) => Result): Promise<Result> {
  try {
    return await disk.write(LEAST_BYTES + bytes, alter)
  } catch (cause) {
    if (cause instanceof DiskFull) throw new StorageFull('The device of the data directory is full', { cause })
    throw new StorageFailed('A commit to the data directory failed', { cause })
  }
}

function bytesOfRecords(records: readonly Pick<EncodedChange, 'record'>[]): number {
  return records.reduce((sum, { record }) => sum + record.length, 0)
}

function readingVerbs(disk: StoreDisk, memory: MemoryBackend): Omit<Backend, WritingVerb> {
  const read = whilePowered(disk)
  return {
    ...readingView(disk, memory),
    position: () => read(() => memory.position()),
    histories: () => read(() => memory.histories()),
    records: (index, limit) => read(() => memory.records(index, limit)),
    snapshot: () => read(async () => readingSnapshot(disk, await memory.snapshot())),
    heads: (keys) => read(() => memory.heads(keys)),
    leaves: (after, limit) => read(() => memory.leaves(after, limit)),
    stored: (after, bytes) => read(() => memory.stored(after, bytes)),
    countKeys: (after, limit) => read(() => memory.countKeys(after, limit)),
    savedTree: () => read(() => memory.savedTree()),
    checkpoints: () => read(() => memory.checkpoints()),
    firstIndex: () => read(() => memory.firstIndex()),
    indexBefore: (count) => read(() => memory.indexBefore(count)),
    logBytesBetween: (after, upTo) => read(() => memory.logBytesBetween(after, upTo)),
    holds: () => read(() => memory.holds()),
  }
}

function readingSnapshot(disk: StoreDisk, snapshot: BackendSnapshot): BackendSnapshot {
  const read = whilePowered(disk)
  const { index, position, histories } = snapshot
  return {
    ...readingView(disk, snapshot),
    ...{ index, position, histories },
    leaves: (after, limit) => read(() => snapshot.leaves(after, limit)),
    heads: (keys) => read(() => snapshot.heads(keys)),
    bucketKeys: (buckets, after) => read(() => snapshot.bucketKeys(buckets, after)),
    count: () => read(() => snapshot.count()),
    stored: (after, bytes) => read(() => snapshot.stored(after, bytes)),
  }
}

function readingView(disk: StoreDisk, view: BackendView): BackendView {
  const read = whilePowered(disk)
  return {
    get: (key) => read(() => view.get(key)),
    list: (prefix, after, limit) => read(() => view.list(prefix, after, limit)),
    scan: (prefix, after, limit) => read(() => view.scan(prefix, after, limit)),
    close: () => read(() => view.close()),
  }
}

/** Reads as long as there is power: what a crash has cut off never gets an answer. */
function whilePowered(disk: StoreDisk): <Answer>(read: () => Promise<Answer>) => Promise<Answer> {
  return async (read) => {
    await disk.requirePower()
    return read()
  }
}
