// The directory in which the runtime keeps compiled code from one start to the next. A user who can write there decides
// what the next start runs. So it is a directory that no other user can write to or replace, never the one below the
// directory for temporary files that the runtime would take by itself.
//
// JavaScript, because it runs before there is such a directory. A first file in TypeScript would load the code that
// removes types: this costs the thread 50 ms and 20 MB, although all other files come out of the cache without types.
import { lstatSync, mkdirSync, realpathSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { dirname, isAbsolute, join } from 'node:path'

/** Only the owner may read and write it. */
const PRIVATE = 0o700
const WRITABLE_BY_OTHERS = 0o022
const STICKY = 0o1000
const ROOT = 0

/**
 * From this call on, this thread loads compiled code from the cache and adds what it compiles. Threads that it starts
 * find the directory in the environment; without that, each would remove the types of every file anew.
 */
export function keepCompiledCode() {
  const cache = compileCacheDirectory(process.env, process.getuid?.())
  if (cache === undefined) return
  process.env.NODE_COMPILE_CACHE = cache
  enableCompileCache(cache)
}

/**
 * Returns `$NODE_COMPILE_CACHE` as it is. If it is empty it counts as missing; the runtime would take the working
 * directory. Otherwise returns, and makes if needed, the first that is set: `$CACHE_DIRECTORY`, which a service manager
 * sets, or `keywright` below `$XDG_CACHE_HOME` or `~/.cache`. Returns undefined if that is not this user's own, or if
 * users have no numbers; each start then compiles anew.
 *
 * @param {NodeJS.ProcessEnv} env
 * @param {number | undefined} uid of this process
 * @returns {string | undefined}
 */
export function compileCacheDirectory(env, uid) {
  if (env.NODE_COMPILE_CACHE) return env.NODE_COMPILE_CACHE
  const wanted = wantedDirectory(env)
  if (wanted === undefined || !isAbsolute(wanted) || uid === undefined) return undefined
  try {
    mkdirSync(wanted, { recursive: true, mode: PRIVATE })
    // A user who may write to the directory above can replace this one, and so on up to the root.
    const isKept = [wanted, dirname(wanted)].every((path) => isOwn(path, uid))
    return isKept && above(realpathSync(dirname(wanted))).every((path) => keepsEntries(path, uid)) ? wanted : undefined
  } catch {
    return undefined
  }
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @returns {string | undefined}
 */
function wantedDirectory({ CACHE_DIRECTORY, XDG_CACHE_HOME, HOME }) {
  // May hold several directories, separated by colons.
  if (CACHE_DIRECTORY) return CACHE_DIRECTORY.split(':')[0]
  if (XDG_CACHE_HOME) return join(XDG_CACHE_HOME, 'keywright')
  return HOME ? join(HOME, '.cache', 'keywright') : undefined
}

/**
 * @param {string} path
 * @param {number} uid
 * @returns {boolean}
 */
function isOwn(path, uid) {
  const found = lstatSync(path)
  return found.isDirectory() && isTrusted(found, uid) && (found.mode & WRITABLE_BY_OTHERS) === 0
}

/**
 * True if other users cannot move or replace this user's entries there. They may write to it if it is sticky, as the
 * directory for temporary files is.
 *
 * @param {string} path
 * @param {number} uid
 * @returns {boolean}
 */
function keepsEntries(path, uid) {
  const found = lstatSync(path)
  return isTrusted(found, uid) && ((found.mode & WRITABLE_BY_OTHERS) === 0 || (found.mode & STICKY) !== 0)
}

/**
 * @param {import('node:fs').Stats} found
 * @param {number} uid
 * @returns {boolean}
 */
function isTrusted(found, uid) {
  return found.uid === uid || found.uid === ROOT
}

/**
 * @param {string} path
 * @returns {readonly string[]}
 */
function above(path) {
  const parent = dirname(path)
  return parent === path ? [] : [parent, ...above(parent)]
}
