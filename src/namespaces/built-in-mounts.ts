// The mounts that every namespace has besides those that are added to it. They are not stored: nothing of them can be
// changed but the settings of its tokens, and what they are follows from the namespace.
import type { MountEntry, MountKind } from '../api/mount.ts'
import type { Namespace } from '../api/namespace.ts'
import { sha256 } from '../crypto/primitives/digest.ts'

type BuiltIn = {
  readonly path: string
  readonly type: string
  readonly kind: MountKind
  readonly description: string
  readonly local?: boolean
}

/** The built-in mounts of the namespace. They are the same whenever and wherever they are made. */
export function builtInMounts(of: Namespace, all: readonly BuiltIn[]): readonly MountEntry[] {
  return all.map(({ path, type, kind, description, local = false }) => {
    const digest = sha256(Buffer.from(`${of.uuid}/${path}`)).toString('hex')
    return {
      format: 1,
      uuid: uuidOf(digest),
      namespace: of.id,
      kind,
      path,
      type,
      description,
      accessor: `${kind === 'auth' ? 'auth_' : ''}ns_${type}_${digest.slice(32, 40)}`,
      options: null,
      local,
      sealWrap: false,
      externalEntropyAccess: false,
      config: { defaultLeaseTtlSeconds: 0, maxLeaseTtlSeconds: 0, forceNoCache: false, listingVisibility: '' },
    }
  })
}

/** A UUID of version 8 (RFC 9562), from the first digits of a digest. */
function uuidOf(hex: string): string {
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)]
  return parts.join('-')
}
