// Tells which requests have a body to be streamed, before it is read.
import { Refusal } from '../api/errors.ts'
import type { Router } from '../api/router.ts'
import type { MountTable } from '../core/mount-table.ts'
import { canonicalPath } from '../core/target.ts'

/** Returns a function of a method and a raw path; true if the endpoint has `takesStream`. */
export function streamedRequests(
  routers: Iterable<Router>,
  mounts: MountTable,
): (method: string, rawPath: string) => boolean {
  const ends = [...routers].flatMap(({ endpoints }) =>
    endpoints.filter(({ takesStream }) => takesStream === true).map(({ path }) => path.slice(path.lastIndexOf('/'))),
  )
  return (method, rawPath) => {
    if (method !== 'POST' && method !== 'PUT') return false
    // Most paths are decided by one comparison for each such endpoint.
    return ends.some((end) => rawPath.endsWith(end)) && endpointTakesStream(mounts, rawPath)
  }
}

function endpointTakesStream(mounts: MountTable, rawPath: string): boolean {
  try {
    const path = canonicalPath(rawPath)
    const mounted = path === undefined ? undefined : mounts.route(path)
    if (path === undefined || mounted === undefined) return false
    const found = mounted.router.find('update', path.slice(mounted.path.length))
    return found.kind === 'found' && found.endpoint.takesStream === true
  } catch (cause) {
    // The path is malformed, which the pipeline refuses.
    if (cause instanceof Refusal) return false
    throw cause
  }
}
