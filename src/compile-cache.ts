// Where the runtime keeps compiled code from one start to the next. Whoever writes there decides what the next start
// runs: so it is a directory that nobody else can write to or put in its place, never the one under the directory for
// temporary files that the runtime would take by itself.
import { lstatSync, mkdirSync, realpathSync, type Stats } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'

/** To be read and written by the owner alone. */
const PRIVATE = 0o700
const WRITABLE_BY_OTHERS = 0o022
const STICKY = 0o1000
const ROOT = 0

/**
 * `$NODE_COMPILE_CACHE` as it is; empty it counts as missing, where the runtime would take the working directory.
 * Else it is made where it is missing: `$CACHE_DIRECTORY`, which a service manager gives; else `keywright` below
 * `$XDG_CACHE_HOME` or `~/.cache`. Undefined where none is this user's own, or users have no numbers; then each start
 * compiles anew. `uid`: of this process.
 */
export function compileCacheDirectory(env: NodeJS.ProcessEnv, uid: number | undefined): string | undefined {
  if (env.NODE_COMPILE_CACHE) return env.NODE_COMPILE_CACHE
  const wanted = wantedDirectory(env)
  if (wanted === undefined || !isAbsolute(wanted) || uid === undefined) return undefined
  try {
    mkdirSync(wanted, { recursive: true, mode: PRIVATE })
    // Who may write to the directory above can put another in its place, and so on up to the root.
    const isKept = [wanted, dirname(wanted)].every((path) => isOwn(path, uid))
    return isKept && above(realpathSync(dirname(wanted))).every((path) => keepsEntries(path, uid)) ? wanted : undefined
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
  return found.isDirectory() && isTrusted(found, uid) && (found.mode & WRITABLE_BY_OTHERS) === 0
}

/** Whether others leave there what is this user's: they may write to directories such as that for temporary files. */
function keepsEntries(path: string, uid: number): boolean {
  const found = lstatSync(path)
  return isTrusted(found, uid) && ((found.mode & WRITABLE_BY_OTHERS) === 0 || (found.mode & STICKY) !== 0)
}

const isTrusted = (found: Stats, uid: number): boolean => found.uid === uid || found.uid === ROOT

function above(path: string): readonly string[] {
  const parent = dirname(path)
  return parent === path ? [] : [parent, ...above(parent)]
}
