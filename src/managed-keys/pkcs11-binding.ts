// The binding to PKCS #11 that an operator installed (docs/runbooks/managed-keys.md). It lies outside of the packages
// that `npm ci` installs, since it is compiled where it runs.
import { createRequire } from 'node:module'
import type { Cryptoki } from './cryptoki.ts'
import { DeviceFault } from './device-fault.ts'

const PLACE = new URL('../../native/pkcs11/package.json', import.meta.url)

/** A library that nothing has loaded yet. @throws DeviceFault */
export function newBinding(): Cryptoki {
  let loaded: { readonly PKCS11: new () => Cryptoki }
  try {
    loaded = createRequire(PLACE)('pkcs11js')
  } catch (cause) {
    const isMissing = cause instanceof Error && (cause as { code?: unknown }).code === 'MODULE_NOT_FOUND'
    const why = isMissing
      ? 'run `npm run add:pkcs11` where the server is installed'
      : 'it does not load, install it anew'
    throw new DeviceFault('not-installed', `pkcs11js is not installed: ${why}`, cause)
  }
  return new loaded.PKCS11()
}
