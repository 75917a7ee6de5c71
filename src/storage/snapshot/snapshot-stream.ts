// Writes and reads the stream of a snapshot (snapshot-format.ts), one chunk at a time: memory does not grow with the
// store.
import type { KeyObject } from 'node:crypto'
import { sha256 } from '../../crypto/primitives/digest.ts'
import type { Ticks } from '../../lib/world.ts'
import type { Barrier } from '../barrier.ts'
import { MAX_VALUE_BYTES, type Snapshot } from '../contract.ts'
import { Tree } from '../log/tree.ts'
import {
  CHUNK_BYTES,
  CHUNK_HEAD_BYTES,
  type Chunk,
  decodeChunk,
  decodeHeader,
  encodeChunk,
  encodeEnd,
  encodeEntries,
  encodeSnapshotHeader,
  HASH_BYTES,
  headerLength,
  PREFIX_BYTES,
  SEAL_PATH,
  SnapshotDamaged,
  type SnapshotHeader,
  sealedEnd,
} from './snapshot-format.ts'

/** Longest possible chunk: one entry of the largest size after others that stay just below CHUNK_BYTES. */
const MAX_CHUNK_BYTES = CHUNK_BYTES + MAX_VALUE_BYTES + 4096

/** What a snapshot is written from. */
export type SnapshotSource = {
  /** Called when the stream is first read. The snapshot is closed with the stream, however that ends. */
  readonly open: () => Promise<Snapshot>
  readonly barrier: Barrier
  readonly bucketKey: KeyObject
  readonly clusterId: string
  readonly nowMs: number
  readonly ticks: Ticks
}

/**
 * Yields the bytes of a snapshot of the whole store, as it is when the first byte is asked for. The roots are computed
 * from the leaves on the way. The stream fails with what the store or the barrier throws; it then lacks its last chunk.
 */
export async function* writeSnapshot(source: SnapshotSource): AsyncGenerator<Buffer> {
  const { barrier, bucketKey, clusterId, nowMs, ticks } = source
  const snapshot = await source.open()
  try {
    const { index, epoch, chain, historyId } = snapshot.position
    const entryCount = await snapshot.count()
    const header = encodeSnapshotHeader({
      clusterId,
      index,
      epoch,
      chain,
      historyId,
      histories: snapshot.histories,
      createdAtMs: Math.floor(nowMs),
      entries: entryCount,
    })
    yield header
    let hash = sha256(header)
    let entries = 0
    const tree = new Tree()
    for (let after = ''; ; ) {
      const run = await snapshot.stored(after, CHUNK_BYTES)
      const last = run.at(-1)
      if (last === undefined) break
      for (const { class: storageClass, key, leaf } of run) {
        if (storageClass !== 'ignored') tree.add(storageClass, key, leaf, bucketKey)
      }
      const chunk = encodeChunk('entries', encodeEntries(run), hash)
      yield chunk.bytes
      hash = chunk.hash
      entries += run.length
      after = last.key
      // Reading from SQLite never yields by itself: this lets other requests in between chunks.
      await ticks.next()
    }
    const { replicated, local } = tree.roots()
    const seal = barrier.seal(SEAL_PATH, sealedEnd(hash, { entries, replicated, local }))
    yield encodeChunk('last', encodeEnd({ entries, replicated, local, seal }), hash).bytes
  } finally {
    await snapshot.close()
  }
}

/** A snapshot whose header was read. `chunks` reads on as it is iterated. */
export type ReadSnapshot = { readonly header: SnapshotHeader; readonly chunks: AsyncGenerator<ReadChunk> }
/** A chunk whose hash was checked. */
export type ReadChunk = Chunk & {
  /** Hash of the chunk before: the seal of the last chunk covers it. */
  readonly hashBefore: Buffer
}

/**
 * Reads the header, then chunk by chunk. Each chunk is whole and in its place when it is yielded; the last one is
 * yielded only if the counts agree and no byte follows. Whether the seal is right is not checked here.
 * @throws SnapshotDamaged, StorageCorrupt
 */
export async function readSnapshot(bytes: AsyncIterable<Uint8Array>): Promise<ReadSnapshot> {
  const source = new ByteSource(bytes)
  const prefix = await source.take(PREFIX_BYTES, 'its beginning')
  const json = await source.take(headerLength(prefix), 'its header')
  const header = decodeHeader(json)
  return { header, chunks: readChunks(source, sha256(prefix, json), header.entries) }
}

async function* readChunks(source: ByteSource, beginning: Buffer, expected: number): AsyncGenerator<ReadChunk> {
  let hashBefore = beginning
  let count = 0
  for (let number = 1; ; number++) {
    const name = `chunk ${number} of the snapshot`
    const head = await source.take(CHUNK_HEAD_BYTES, name)
    const length = head.readUInt32BE(1)
    if (length > MAX_CHUNK_BYTES) throw new SnapshotDamaged(`The ${name} is damaged: it cannot be so long`)
    const content = await source.take(length, name)
    const hash = await source.take(HASH_BYTES, name)
    if (!sha256(hashBefore, head, content).equals(hash)) {
      throw new SnapshotDamaged(`The ${name} is damaged, or is not in its place`)
    }
    const chunk = decodeChunk(head, content, name)
    if (chunk.kind === 'entries') count += chunk.entries.length
    else {
      if (chunk.end.entries !== count || expected !== count) {
        throw new SnapshotDamaged(`The snapshot holds ${count} entries, and says that they are ${chunk.end.entries}`)
      }
      await source.requireEnd()
    }
    yield { ...chunk, hashBefore }
    if (chunk.kind === 'last') return
    hashBefore = hash
  }
}

/** Cuts pieces of the wanted size from a stream with pieces of any size. */
class ByteSource {
  readonly #pieces: AsyncIterator<Uint8Array>
  #left: Buffer = Buffer.alloc(0)
  #isDone = false

  constructor(bytes: AsyncIterable<Uint8Array>) {
    this.#pieces = bytes[Symbol.asyncIterator]()
  }

  async take(count: number, name: string): Promise<Buffer> {
    const parts: Buffer[] = []
    for (let missing = count; missing > 0; ) {
      if (this.#left.length === 0 && !(await this.#fill()))
        throw new SnapshotDamaged(`The snapshot ends inside ${name}`)
      const part = this.#left.subarray(0, missing)
      this.#left = this.#left.subarray(part.length)
      missing -= part.length
      parts.push(part)
    }
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts)
  }

  async requireEnd(): Promise<void> {
    if (this.#left.length > 0 || (await this.#fill())) {
      throw new SnapshotDamaged('The snapshot has bytes behind its last chunk')
    }
  }

  async #fill(): Promise<boolean> {
    while (this.#left.length === 0 && !this.#isDone) {
      const { value, done } = await this.#pieces.next()
      this.#isDone = done === true
      if (done !== true) this.#left = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    }
    return this.#left.length > 0
  }
}
