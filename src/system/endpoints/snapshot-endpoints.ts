// sys/storage/snapshot: saves the whole store as one stream of bytes, and restores it (src/http/streams.ts). Both need
// sudo: a snapshot has every secret as ciphertext, and a restore replaces everything.
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { fail } from '../../api/errors.ts'
import { bool } from '../../api/fields.ts'
import { flag, integer } from '../../api/shape.ts'
import type { System as Whole } from '../system.ts'

/** The parts of the system that these endpoints use. */
type System = Pick<Whole, 'saveSnapshot' | 'seal'>

const save = endpoint({
  id: 'snapshot-save',
  operation: 'read',
  path: 'storage/snapshot',
  capability: 'read',
  sudo: true,
  runsOn: 'any-node',
  givesStream: true,
  summary: 'The whole store as one file, of one moment, whatever is written meanwhile',
  describe:
    'The answer is the file itself (application/octet-stream). It opens with the unseal keys of its day. Values are ' +
    'ciphertext in it, names of entries are not.',
  fields: {},
  handler: async (system: System) => ({ stream: await system.saveSnapshot() }),
})

// Differs: docs/differences.md#storage-and-seal. The server is sealed afterwards: it does not keep the shares that open
// what was restored.
const restore = endpoint({
  id: 'snapshot-restore',
  operation: 'update',
  path: 'storage/snapshot',
  capability: 'update',
  sudo: true,
  runsOn: 'writer',
  takesStream: true,
  summary: 'Replaces the whole store by a snapshot; sealed afterwards, unless the server opens by itself',
  describe:
    'The body is the file, force stands in the query. The snapshot is written beside the store and checked as a ' +
    'whole before it takes its place: what is refused changes nothing. Unseal with the keys of the day it was made.',
  fields: {
    force: bool('Take the snapshot of another cluster too; its seal is checked where a key of this server opens it', {
      default: false,
    }),
  },
  response: {
    entries: integer('Entries that were restored'),
    index: integer('Index that the snapshot was taken at'),
    seal_checked: flag('It is as it was made: opened with a key of this server, and its seal and entries compared'),
    sealed: flag('The server waits for the unseal keys of the snapshot'),
  },
  handler: async (system: System, args, { stream }) => {
    if (stream === undefined) throw fail('snapshot_refused', ['The body must be a snapshot'])
    const { entries, index, isSealChecked, isSealed, warnings } = await system.seal.restore(stream, args.force)
    return { data: { entries, index, seal_checked: isSealChecked, sealed: isSealed }, warnings }
  },
})

/** Save and restore. */
export const SNAPSHOT_ENDPOINTS: readonly Endpoint<System>[] = [save, restore]
