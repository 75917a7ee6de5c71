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
  offeredIn: 'root',
  sudo: true,
  runsOn: 'any-node',
  givesStream: true,
  summary: 'Downloads a snapshot: the whole store in one file, consistent even during writes',
  describe:
    'The response is the file itself (application/octet-stream). It can be opened with the unseal keys that ' +
    'were valid when it was taken. Values in it are encrypted; names of entries are not.',
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
  offeredIn: 'root',
  sudo: true,
  runsOn: 'writer',
  writes: 'set',
  onlyOnPrimary: true,
  takesStream: true,
  summary: 'Replaces the whole store with a snapshot; the server is sealed afterwards, unless it uses auto-unseal',
  describe:
    'The body is the file; force is a query parameter. The snapshot is written next to the store and checked ' +
    'in full before it replaces the store, so a refused snapshot changes nothing. Unseal with the keys that ' +
    'were valid when the snapshot was taken.',
  fields: {
    force: bool(
      'Accepts a snapshot of another cluster, or one that lacks what a filter kept from its cluster; its seal is ' +
        'checked if a key of this server can open it',
      {
        default: false,
      },
    ),
  },
  response: {
    entries: integer('Number of restored entries'),
    index: integer('Change index at which the snapshot was taken'),
    seal_checked: flag(
      'The snapshot is verified as unmodified: a key of this server opened it, and its seal and entries match',
    ),
    sealed: flag('The server is sealed and needs the unseal keys of the snapshot'),
  },
  handler: async (system: System, args, { stream }) => {
    if (stream === undefined) throw fail('snapshot_refused', ['The body must be a snapshot'])
    const { entries, index, isSealChecked, isSealed, warnings } = await system.seal.restore(stream, args.force)
    return { data: { entries, index, seal_checked: isSealChecked, sealed: isSealed }, warnings }
  },
})

/** Endpoints with bodies of any length: a snapshot streams out, or in. */
export const SNAPSHOT_ENDPOINTS: readonly Endpoint<System>[] = [save, restore]
