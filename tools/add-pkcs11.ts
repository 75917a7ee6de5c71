// Installs the binding to PKCS #11 devices beside the server: `npm run add:pkcs11`. It is compiled here, against the
// headers of the packaged runtime. So nothing is downloaded but the package itself, as its lock file says.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const PLACE = join(import.meta.dirname, '../native/pkcs11')
/** Folder of the package that holds the runtime, whose file is in its `bin`. */
const RUNTIME = dirname(dirname(process.execPath))
const TOOLS = 'a C++ compiler, make and python3 (Debian, Ubuntu: apt-get install g++ make python3)'

/** Installs, and returns what went wrong; undefined if nothing did. */
function install(): string | undefined {
  if (!existsSync(join(RUNTIME, 'include/node/node_api.h'))) return `there are no headers of the runtime in ${RUNTIME}`
  const { status, error } = spawnSync('npm', ['ci'], {
    cwd: PLACE,
    stdio: 'inherit',
    env: { ...process.env, npm_package_config_node_gyp_nodedir: RUNTIME },
  })
  if (error !== undefined) return `npm does not start (${error.name})`
  if (status !== 0) return `npm ci in ${PLACE} failed. It needs ${TOOLS}`
  // The server's flags forbid native code: a runtime without them tries it.
  const check = spawnSync(process.execPath, ['-e', 'require("pkcs11js")'], { cwd: PLACE, encoding: 'utf8' })
  return check.status === 0 ? undefined : `it was built, and does not load. It needs ${TOOLS}:\n${check.stderr}`
}

const wrong = install()
const { version } = wrong === undefined ? createRequire(`${PLACE}/`)('pkcs11js/package.json') : { version: '' }
console.log(wrong === undefined ? `pkcs11js ${version} is installed in ${PLACE}` : `add:pkcs11: ${wrong}`)
process.exitCode = wrong === undefined ? 0 : 1
