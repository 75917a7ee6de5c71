// sys/internal/inspect/router: the mounts as the router has them, for an operator who looks for one's data.
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { string } from '../../api/fields.ts'
import type { MountEntry } from '../../api/mount.ts'
import { flag, group, OTHERS, type Shapes, text } from '../../api/shape.ts'
import type { System as Whole } from '../system.ts'

/** The parts of the system that this endpoint uses. */
type System = Pick<Whole, 'mounts'>

/** The keys that the list can have. */
const TAGS = {
  root: (entry: MountEntry, { mounts }: System) => mounts.fullPathOf(entry),
  uuid: ({ uuid }: MountEntry) => uuid,
  accessor: ({ accessor }: MountEntry) => accessor,
  storage: (entry: MountEntry) => storagePrefix(entry),
} as const
type Tag = keyof typeof TAGS

/** One mount. None is ever tainted; clients read the member. */
const ENTRY: Shapes = {
  mount_namespace: text('ID of the namespace'),
  mount_path: text('Path of the mount, with that of its namespace'),
  mount_type: text('Type of the engine'),
  uuid: text('UUID of the mount'),
  accessor: text('Accessor of the mount'),
  storage_prefix: text('Storage prefix of its data'),
  tainted: flag('Always false: a mount leaves the router before its data is removed'),
}

/** The folder of a mount's data in the store (docs/storage-format.md). */
function storagePrefix({ kind, namespace, home = namespace, uuid }: MountEntry): string {
  return `${home}/${kind === 'auth' ? 'auth' : 'logical'}/${uuid}/`
}

/** Shows the mounts in the router; `tag` chooses the key by which they are listed. */
export const inspectRouter: Endpoint<System> = endpoint({
  id: 'inspect-router',
  operation: 'read',
  path: 'internal/inspect/router/:tag',
  capability: 'read',
  offeredIn: 'root',
  sudo: true,
  runsOn: 'any-node',
  summary: 'Shows the mounts in the router, by the chosen key',
  fields: {
    tag: string('Key of the result: root (path), uuid, accessor or storage (storage prefix)', {
      required: true,
      oneOf: Object.keys(TAGS),
    }),
  },
  response: { [OTHERS]: group(ENTRY, 'Mount') },
  handler: (system: System, { tag }) => {
    const nameOf = TAGS[tag as Tag]
    const rows = system.mounts.all().map((entry) => [
      nameOf(entry, system),
      {
        mount_namespace: entry.namespace,
        mount_path: system.mounts.fullPathOf(entry),
        mount_type: entry.type,
        uuid: entry.uuid,
        accessor: entry.accessor,
        storage_prefix: storagePrefix(entry),
        // A mount leaves the router's table before its data are removed, so none is ever listed as tainted.
        tainted: false,
      },
    ])
    return { data: Object.fromEntries(rows) }
  },
})
