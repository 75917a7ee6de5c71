// The binding to PKCS #11 that an operator installed (docs/runbooks/managed-keys.md). It lies outside of the packages
// that `npm ci` installs, since it is compiled where it runs.
import { createRequire } from 'node:module'
import type { Cryptoki } from './cryptoki.ts'
import { DeviceFault } from './device-fault.ts'

const DOES_NOT_LOAD = 'pkcs11js does not load: run `npm run add:pkcs11` again where the server is installed'
const PLACE = new URL('../../native/pkcs11/package.json', import.meta.url)

/** Whether there is one; it is not loaded. */
export function isBindingInstalled(): boolean {
  try {
    createRequire(PLACE).resolve('pkcs11js')
    return true
  } catch {
    return false
  }
}

export const NOT_INSTALLED = 'pkcs11js is not installed: run `npm run add:pkcs11` where the server is installed'

/** A library that nothing has loaded yet. @throws DeviceFault */
export function newBinding(): Cryptoki {
  let loaded: { readonly PKCS11: new () => Cryptoki }
  try {
    loaded = createRequire(PLACE)('pkcs11js')
  } catch (cause) {
    const isMissing = cause instanceof Error && (cause as { code?: unknown }).code === 'MODULE_NOT_FOUND'
    throw new DeviceFault('not-installed', isMissing ? NOT_INSTALLED : DOES_NOT_LOAD, cause)
  }
  return new loaded.PKCS11()
}
