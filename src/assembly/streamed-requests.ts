// Which requests have a body that is not to be collected: told before it is read.
import { Refusal } from '../api/errors.ts'
import type { Router } from '../api/router.ts'
import type { MountTable } from '../core/mount-table.ts'
import { canonicalPath } from '../core/target.ts'

/** Of a method and a raw path. */
export function streamedRequests(
  routers: Iterable<Router>,
  mounts: MountTable,
): (method: string, rawPath: string) => boolean {
  const ends = [...routers].flatMap(({ endpoints }) =>
    endpoints.filter(({ takesStream }) => takesStream === true).map(({ path }) => path.slice(path.lastIndexOf('/'))),
  )
  return (method, rawPath) => {
    if (method !== 'POST' && method !== 'PUT') return false
    // Nearly every request ends here, at the cost of a comparison.
    return ends.some((end) => rawPath.endsWith(end)) && endpointTakesStream(mounts, rawPath)
  }
}

function endpointTakesStream(mounts: MountTable, rawPath: string): boolean {
  try {
    const path = canonicalPath(rawPath)
    const mounted = path === undefined ? undefined : mounts.route(path)
    if (path === undefined || mounted === undefined) return false
    const found = mounted.router.find('update', path.slice(mounted.entry.path.length))
    return found.kind === 'found' && found.endpoint.takesStream === true
  } catch (cause) {
    // A path that is none: the pipeline says so.
    if (cause instanceof Refusal) return false
    throw cause
  }
}
