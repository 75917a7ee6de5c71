// The stanzas `kms_library`: the libraries that make devices reachable. Only the configuration can name one: its code
// runs as the server's user, so no request may choose it.

import { blocksOf } from '../lib/hcl.ts'
import type { HclObject } from '../lib/hcl-tree.ts'
import { type Stanza, setting } from './setting.ts'
import { ConfigError, checkKeys, textIn } from './values.ts'

/** The library of a device. */
export type KmsLibrary = {
  /** The name that managed keys refer to. */
  readonly name: string
  /** Absolute path of the file. */
  readonly library: string
}

/** Keys of a stanza; docs/configuration.md shows them. */
export const KMS_LIBRARY_STANZA: Stanza = {
  title: 'kms_library "pkcs11"',
  about:
    'A PKCS #11 device for managed keys; see docs/runbooks/managed-keys.md. There can be several; the first one is ' +
    'also a source of random bytes.',
  settings: {
    name: setting('text', 'required', 'Name that managed keys refer to'),
    library: setting('path', 'required', 'Absolute path of the PKCS #11 library of the device'),
  },
}

/** Reads the stanzas; returns nothing for a file without them. @throws ConfigError */
export function kmsLibrariesOf(body: HclObject): { readonly kmsLibraries?: readonly KmsLibrary[] } {
  const found = blocksOf(body, 'kms_library', 1).map(({ labels, body: own, line }) => {
    if (labels[0] !== 'pkcs11')
      throw new ConfigError(`line ${line}: kms_library "${labels[0]}" is not offered, use pkcs11`)
    checkKeys(own, KMS_LIBRARY_STANZA.settings, KMS_LIBRARY_STANZA.title)
    const [name, library] = [textIn(own, 'name'), textIn(own, 'library')]
    if (name === undefined || library === undefined)
      throw new ConfigError(`line ${line}: kms_library "pkcs11" needs name and library`)
    if (!/^[\w.-]{1,100}$/.test(name))
      throw new ConfigError(`line ${line}: the name of a kms_library must be letters, digits, "_", "-" and "."`)
    // The loader searches for a bare name in its own paths, where another file could come first.
    if (!library.startsWith('/') && !/^[A-Za-z]:[\\/]/.test(library))
      throw new ConfigError(`line ${line}: "library" must be a path from the root`)
    return { name, library }
  })
  const twice = found.find(({ name }, at) => found.findIndex((other) => other.name === name) < at)
  if (twice !== undefined) throw new ConfigError(`there are two kms_library with the name "${twice.name}"`)
  return found.length === 0 ? {} : { kmsLibraries: found }
}
