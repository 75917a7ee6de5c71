// sys/internal/inspect/router: which mount serves what, as the router has it.
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { string } from '../../api/fields.ts'
import type { MountEntry } from '../../api/mount.ts'
import { flag, group, OTHERS, type Shapes, text } from '../../api/shape.ts'
import type { System as Whole } from '../system.ts'

/** What it takes of the system. */
type System = Pick<Whole, 'mounts'>

/** By what the router is looked through. */
const TAGS = {
  root: ({ path }: MountEntry) => path,
  uuid: ({ uuid }: MountEntry) => uuid,
  accessor: ({ accessor }: MountEntry) => accessor,
  storage: (entry: MountEntry) => storagePrefix(entry),
} as const
type Tag = keyof typeof TAGS

const ENTRY: Shapes = {
  mount_namespace: text('Namespace'),
  mount_path: text('Path'),
  mount_type: text('Engine'),
  uuid: text('Names its data'),
  accessor: text('Names the mount'),
  storage_prefix: text('Where its data lie'),
  tainted: flag('It is being removed'),
}

function storagePrefix({ kind, namespace, uuid }: MountEntry): string {
  return `${namespace}/${kind === 'auth' ? 'auth' : 'logical'}/${uuid}/`
}

export const inspectRouter: Endpoint<System> = endpoint({
  id: 'inspect-router',
  operation: 'read',
  path: 'internal/inspect/router/:tag',
  capability: 'read',
  sudo: true,
  runsOn: 'any-node',
  summary: 'The mounts as the router has them',
  fields: { tag: string('root, uuid, accessor or storage', { required: true, oneOf: Object.keys(TAGS) }) },
  response: { [OTHERS]: group(ENTRY, 'Mount') },
  handler: (system: System, { tag }) => {
    const nameOf = TAGS[tag as Tag]
    const rows = system.mounts.list().map((entry) => [
      nameOf(entry),
      {
        mount_namespace: entry.namespace,
        mount_path: entry.path,
        mount_type: entry.type,
        uuid: entry.uuid,
        accessor: entry.accessor,
        storage_prefix: storagePrefix(entry),
        // One that is being removed is in the table of the router no more.
        tainted: false,
      },
    ])
    return { data: Object.fromEntries(rows) }
  },
})
