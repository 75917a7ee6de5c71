// Paths of the API, as patterns of the table of endpoints and as they travel.

/** Escapes every character of a path that means something in a URL, but for the slashes. */
export function encodePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/')
}

/** A path with its fields filled in, and the fields that are left for query or body. */
export type PathAndRest = { readonly path: string; readonly rest: Readonly<Record<string, unknown>> }

/**
 * Fills the fields of a pattern in: `:x` is one segment, `:x...` the rest of the path, slashes included.
 * @throws TypeError if one of them is missing, or would lead to another path
 */
export function fillPath(pattern: string, fields: Readonly<Record<string, unknown>>): PathAndRest {
  const rest = { ...fields }
  const segments = pattern.split('/').map((segment) => {
    if (!segment.startsWith(':')) return segment
    const isRest = segment.endsWith('...')
    const name = isRest ? segment.slice(1, -3) : segment.slice(1)
    delete rest[name]
    return pathText(pattern, name, Object.hasOwn(fields, name) ? fields[name] : undefined, isRest)
  })
  return { path: segments.join('/'), rest }
}

function pathText(pattern: string, name: string, value: unknown, isRest: boolean): string {
  const text = typeof value === 'number' ? String(value) : value
  if (typeof text !== 'string' || text === '') throw new TypeError(`"${name}" of ${pattern} must be a text, not empty`)
  const segments = withoutEndSlash(text).split('/')
  if (!isRest && segments.length > 1) throw new TypeError(`"${name}" of ${pattern} must not contain a slash`)
  // Proxies and libraries resolve dot segments before a policy sees the path.
  if (segments.some((segment) => ['', '.', '..'].includes(segment))) {
    throw new TypeError(`"${name}" of ${pattern} must not have an empty part, "." or ".." between its slashes`)
  }
  return withoutEndSlash(text)
}

/** Removes one slash at the end: mounts are named with it and without. */
function withoutEndSlash(text: string): string {
  return text.endsWith('/') ? text.slice(0, -1) : text
}

/** Replaces the usual mount at the beginning of a path: `transit/keys` becomes `team/kms/keys`. */
export function movePath(path: string, mounts: Readonly<Record<string, string | undefined>>): string {
  for (const [usual, actual] of Object.entries(mounts)) {
    if (actual !== undefined && path.startsWith(`${usual}/`)) {
      return `${withoutEndSlash(actual)}${path.slice(usual.length)}`
    }
  }
  return path
}
