// Where the runtime keeps compiled code from one start to the next. Whoever writes there decides what the next start
// runs: so it is a directory that nobody else can write to or put in its place, never the one under the directory for
// temporary files that the runtime would take by itself.
//
// JavaScript, because it runs before there is such a directory: a first file in TypeScript loads what takes types out,
// which costs the thread 50 ms and 20 MB although all the others come without them out of the cache.
import { lstatSync, mkdirSync, realpathSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { dirname, isAbsolute, join } from 'node:path'

/** To be read and written by the owner alone. */
const PRIVATE = 0o700
const WRITABLE_BY_OTHERS = 0o022
const STICKY = 0o1000
const ROOT = 0

/**
 * From here on this thread loads compiled code from there, and keeps what it compiles. The threads that it starts look
 * for the directory in the environment, where each would else take the types out of every file anew.
 */
export function keepCompiledCode() {
  const cache = compileCacheDirectory(process.env, process.getuid?.())
  if (cache === undefined) return
  process.env.NODE_COMPILE_CACHE = cache
  enableCompileCache(cache)
}

/**
 * `$NODE_COMPILE_CACHE` as it is; empty it counts as missing, where the runtime would take the working directory.
 * Else it is made where it is missing: `$CACHE_DIRECTORY`, which a service manager gives; else `keywright` below
 * `$XDG_CACHE_HOME` or `~/.cache`. Undefined where none is this user's own, or users have no numbers; then each start
 * compiles anew.
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
    // Who may write to the directory above can put another in its place, and so on up to the root.
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
  // Several are separated by colons.
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
 * Whether others leave there what is this user's: they may write to directories such as that for temporary files.
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
