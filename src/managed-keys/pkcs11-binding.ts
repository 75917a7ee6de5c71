// Finds and loads the binding to PKCS #11 that an operator installed (docs/runbooks/managed-keys.md). It lies outside
// of the packages that `npm ci` installs, since it is compiled where it runs (docs/decisions/0010).
import { createRequire } from 'node:module'
import type { Cryptoki } from './cryptoki.ts'
import { DeviceFault } from './device-fault.ts'

const DOES_NOT_LOAD = 'pkcs11js does not load: run `npm run add:pkcs11` again where the server is installed'
const BINDING_PACKAGE = new URL('../../native/pkcs11/package.json', import.meta.url)

/** True if the binding is installed; it is not loaded, since only the process of the devices may do that. */
export function isBindingInstalled(): boolean {
  try {
    createRequire(BINDING_PACKAGE).resolve('pkcs11js')
    return true
  } catch {
    return false
  }
}

/** The remedy for a missing binding, for the log and for refusals. */
export const NOT_INSTALLED = 'pkcs11js is not installed: run `npm run add:pkcs11` where the server is installed'

/** Returns an empty binding, which has no library loaded yet. @throws DeviceFault if the binding does not load */
export function newBinding(): Cryptoki {
  let loaded: { readonly PKCS11: new () => Cryptoki }
  try {
    loaded = createRequire(BINDING_PACKAGE)('pkcs11js')
  } catch (cause) {
    const isMissing = cause instanceof Error && (cause as { code?: unknown }).code === 'MODULE_NOT_FOUND'
    throw new DeviceFault('not-installed', isMissing ? NOT_INSTALLED : DOES_NOT_LOAD, cause)
  }
  return new loaded.PKCS11()
}
