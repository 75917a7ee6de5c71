// Paths of the API as people type them, and as they travel.
import { asciiTrim } from '../lib/ascii.ts'
import { UsageError } from './cli-error.ts'

/** Without slashes at the ends and doubled ones. @throws UsageError where nothing is left */
export function cleanPath(typed: string): string {
  const segments = asciiTrim(typed)
    .split('/')
    .filter((segment) => segment !== '')
  if (segments.length === 0) throw new UsageError('the path is empty')
  // Proxies and libraries would resolve them, each in its own way, before a policy sees the path.
  if (segments.some((segment) => segment === '.' || segment === '..')) {
    throw new UsageError('the path must not have "." or ".." between its slashes')
  }
  return segments.join('/')
}

/** The target of a request for a clean path: every character that means something in a URL is escaped. */
export function encodePath(path: string): string {
  return path.split('/').map(encodeSegment).join('/')
}

function encodeSegment(segment: string): string {
  // A lone surrogate has no UTF-8.
  if (!segment.isWellFormed()) throw new UsageError('the path is not valid Unicode')
  return encodeURIComponent(segment)
}
