// Where the runtime keeps compiled code from one start to the next. Whoever writes there decides what the next start
// runs: so it is a directory that nobody else can write to or put in its place, never the one under the directory for
// temporary files that the runtime would take by itself.
import { lstatSync, mkdirSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'

/** To be read and written by the owner alone. */
const PRIVATE = 0o700
const WRITABLE_BY_OTHERS = 0o022
const ROOT = 0

/**
 * Makes it where it is missing: `$CACHE_DIRECTORY`, which a service manager gives; else `keywright` below
 * `$XDG_CACHE_HOME` or `~/.cache`. Undefined where none is this user's own, or users have no numbers; then each start
 * compiles anew. `uid`: of this process.
 */
export function compileCacheDirectory(env: NodeJS.ProcessEnv, uid: number | undefined): string | undefined {
  const wanted = wantedDirectory(env)
  if (wanted === undefined || !isAbsolute(wanted) || uid === undefined) return undefined
  try {
    mkdirSync(wanted, { recursive: true, mode: PRIVATE })
    // Who owns the directory above can put another in its place.
    return [wanted, dirname(wanted)].every((path) => isOwn(path, uid)) ? wanted : undefined
  } catch {
    return undefined
  }
}

function wantedDirectory({ CACHE_DIRECTORY, XDG_CACHE_HOME, HOME }: NodeJS.ProcessEnv): string | undefined {
  // Several are separated by colons.
  if (CACHE_DIRECTORY) return CACHE_DIRECTORY.split(':')[0]
  if (XDG_CACHE_HOME) return join(XDG_CACHE_HOME, 'keywright')
  return HOME ? join(HOME, '.cache', 'keywright') : undefined
}

function isOwn(path: string, uid: number): boolean {
  const found = lstatSync(path)
  const { mode } = found
  return found.isDirectory() && (found.uid === uid || found.uid === ROOT) && (mode & WRITABLE_BY_OTHERS) === 0
}
