// Paths of the API: written as patterns, and as they travel.

/** The target of a request for a clean path: every character that means something in a URL is escaped. */
export function encodePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/')
}

/** A path of the API and the fields that do not stand in it. */
export type PathAndRest = { readonly path: string; readonly rest: Readonly<Record<string, unknown>> }

/**
 * Puts fields where the pattern names them: `:x` is one segment, `:x...` the rest of the path, slashes included.
 * @throws TypeError where one of them is missing, or would lead to another path
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
  // Proxies and libraries would resolve them before a policy sees the path.
  if (segments.some((segment) => ['', '.', '..'].includes(segment))) {
    throw new TypeError(`"${name}" of ${pattern} must not have an empty part, "." or ".." between its slashes`)
  }
  return withoutEndSlash(text)
}

/** A mount is named with and without it. */
function withoutEndSlash(text: string): string {
  return text.endsWith('/') ? text.slice(0, -1) : text
}

/** The path with the mounts that are elsewhere put in: `transit/keys` with `{ transit: 'team/kms' }`. */
export function movePath(path: string, mounts: Readonly<Record<string, string | undefined>>): string {
  for (const [usual, actual] of Object.entries(mounts)) {
    if (actual !== undefined && path.startsWith(`${usual}/`)) {
      return `${withoutEndSlash(actual)}${path.slice(usual.length)}`
    }
  }
  return path
}
