// Reads the file of a snapshot for the client, which knows nothing of storage.
import { createReadStream } from 'node:fs'
import { CliError, reasonOf } from './cli/cli-error.ts'
import type { InspectSnapshot } from './cli/io.ts'
import { StorageError } from './storage/contract.ts'
import { readSnapshot } from './storage/snapshot-stream.ts'

/** @throws CliError where it cannot be read, or is damaged */
export const inspectSnapshot: InspectSnapshot = async (file, onBytes) => {
  const classes = { replicated: 0, local: 0, ignored: 0 }
  let bytes = 0
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const part of createReadStream(file, { highWaterMark: 1024 * 1024 }) as AsyncIterable<Buffer>) {
      bytes += part.length
      await onBytes(part.length)
      yield part
    }
  }
  try {
    const { header, chunks } = await readSnapshot(counted())
    for await (const chunk of chunks) {
      if (chunk.kind === 'entries') for (const entry of chunk.entries) classes[entry.class]++
    }
    return {
      cluster_id: header.clusterId,
      created: new Date(header.createdAtMs).toISOString(),
      index: header.index,
      epoch: header.epoch,
      history_id: header.historyId.toString('hex'),
      entries: header.entries,
      replicated_entries: classes.replicated,
      local_entries: classes.local,
      ignored_entries: classes.ignored,
      bytes,
    }
  } catch (error) {
    if (error instanceof StorageError) throw new CliError(`${file}: ${error.message}`, error)
    throw error instanceof CliError ? error : new CliError(`Cannot read ${file}: ${reasonOf(error)}`, error)
  }
}
