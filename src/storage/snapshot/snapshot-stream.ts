// Writes and reads the stream of a snapshot (snapshot-format.ts), a chunk at a time: memory does not grow with the
// store.
import type { KeyObject } from 'node:crypto'
import { setImmediate as nextLoop } from 'node:timers/promises'
import { sha256 } from '../../crypto/primitives/digest.ts'
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

/** No chunk is longer: one entry of the largest size behind others that are just below CHUNK_BYTES. */
const MAX_CHUNK_BYTES = CHUNK_BYTES + MAX_VALUE_BYTES + 4096

export type SnapshotSource = {
  /** Called when the stream is read from; closed with it, however that ends. */
  readonly open: () => Promise<Snapshot>
  readonly barrier: Barrier
  readonly bucketKey: KeyObject
  readonly clusterId: string
  readonly nowMs: number
}

export async function* writeSnapshot(source: SnapshotSource): AsyncGenerator<Buffer> {
  const { barrier, bucketKey, clusterId, nowMs } = source
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
      // What is read from the device answers at once: other requests come in between.
      await nextLoop()
    }
    const { replicated, local } = tree.roots()
    const seal = barrier.seal(SEAL_PATH, sealedEnd(hash, { entries, replicated, local }))
    yield encodeChunk('last', encodeEnd({ entries, replicated, local, seal }), hash).bytes
  } finally {
    await snapshot.close()
  }
}

export type ReadSnapshot = { readonly header: SnapshotHeader; readonly chunks: AsyncGenerator<ReadChunk> }
export type ReadChunk = Chunk & {
  /** What the seal of the last chunk is made over begins with it. */
  readonly hashBefore: Buffer
}

/** Each chunk is whole and in its place when it is handed on. @throws SnapshotDamaged, StorageCorrupt */
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
    const place = `chunk ${number} of the snapshot`
    const head = await source.take(CHUNK_HEAD_BYTES, place)
    const length = head.readUInt32BE(1)
    if (length > MAX_CHUNK_BYTES) throw new SnapshotDamaged(`The ${place} is damaged: it cannot be so long`)
    const content = await source.take(length, place)
    const hash = await source.take(HASH_BYTES, place)
    if (!sha256(hashBefore, head, content).equals(hash)) {
      throw new SnapshotDamaged(`The ${place} is damaged, or is not in its place`)
    }
    const chunk = decodeChunk(head, content, place)
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

/** Pieces of any size as pieces of the wanted size. */
class ByteSource {
  readonly #pieces: AsyncIterator<Uint8Array>
  #left: Buffer = Buffer.alloc(0)
  #isDone = false

  constructor(bytes: AsyncIterable<Uint8Array>) {
    this.#pieces = bytes[Symbol.asyncIterator]()
  }

  async take(count: number, place: string): Promise<Buffer> {
    const parts: Buffer[] = []
    for (let missing = count; missing > 0; ) {
      if (this.#left.length === 0 && !(await this.#fill()))
        throw new SnapshotDamaged(`The snapshot ends inside ${place}`)
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
