// Paths of the time when there was one family: they mean performance replication, and clients still call them.
import type { Endpoint } from '../../api/endpoint.ts'

const FORMER: ReadonlySet<string> = new Set([
  'primary/enable',
  'primary/demote',
  'primary/disable',
  'primary/secondary-token',
  'primary/revoke-secondary',
  'secondary/enable',
  'secondary/promote',
  'secondary/disable',
  'secondary/update-primary',
])
const PRESENT = 'replication/performance/'

/**
 * The endpoint, and the same at its former path if it has one. A policy that denies one of the two paths denies both.
 */
export function withFormerPath<E>(present: Endpoint<E>): Endpoint<E>[] {
  const operation = present.path.slice(PRESENT.length)
  if (!FORMER.has(operation)) return [present]
  const path = `replication/${operation}`
  return [
    { ...present, twins: () => [path] },
    {
      ...present,
      id: present.id.replace('-performance-', '-former-'),
      path,
      twins: () => [present.path],
      summary: `As sys/${present.path}`,
      describe: 'A path of former releases of this API.',
    },
  ]
}
