// Paths of the API as people type them, `/transit//keys/` among them.
import { asciiTrim } from '../lib/ascii.ts'
import { UsageError } from './cli-error.ts'

/**
 * Removes slashes at the ends, and doubled ones.
 * @throws UsageError if nothing is left, if it is no Unicode text, or if it has dot segments
 */
export function cleanPath(typed: string): string {
  const segments = asciiTrim(typed)
    .split('/')
    .filter((segment) => segment !== '')
  if (segments.length === 0) throw new UsageError('the path is empty')
  // A lone surrogate has no UTF-8 form, so it cannot be escaped for the URL.
  if (!typed.isWellFormed()) throw new UsageError('the path is not valid Unicode')
  // Proxies and libraries resolve dot segments, each in its own way, before a policy sees the path.
  if (segments.some((segment) => segment === '.' || segment === '..')) {
    throw new UsageError('the path must not have "." or ".." between its slashes')
  }
  return segments.join('/')
}
