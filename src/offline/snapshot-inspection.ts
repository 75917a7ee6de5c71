// Reads a snapshot for the client, which knows nothing of storage.
import { CliError } from '../cli/cli-error.ts'
import type { InspectSnapshot } from '../cli/io.ts'
import { StorageError } from '../storage/errors.ts'
import { readSnapshot } from '../storage/snapshot/snapshot-stream.ts'

/**
 * Reads the snapshot to its end, so that its digest is checked, and counts what is in it. No key is needed.
 * @throws CliError if it is damaged
 */
export const inspectSnapshot: InspectSnapshot = async (parts) => {
  const classes = { replicated: 0, local: 0, ignored: 0 }
  let bytes = 0
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const part of parts) {
      bytes += part.length
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
    throw error instanceof StorageError ? new CliError(error.message, error) : error
  }
}
