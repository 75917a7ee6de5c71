// Rotation: a key gets a new version, because a request asks for it or because its time has come.
import { fail } from '../../../api/errors.ts'
import { DecisionOutdated } from '../../../api/request.ts'
import type { WithKeys } from './keys.ts'
import { type LoadedRing, requireUsable } from './loaded-ring.ts'
import { type DeviceKeys, newManagedVersion, requestedKey, requireSuccessor } from './managed-version.ts'
import { type CountingMaker, newSecrets, withNewVersion } from './new-key.ts'
import type { RingHeader } from './ring-header.ts'

/**
 * Checks that the key can be rotated: an imported key only if its import allowed it (Interface 7.15).
 * @throws Refusal
 */
export function requireRotatable(ring: { readonly header: RingHeader }): void {
  requireUsable(ring)
  const { imported, allowImportedRotation } = ring.header
  if (imported && !allowImportedRotation) {
    throw fail('rotation_not_allowed', [
      'imported key does not allow rotation: it was imported without allow_rotation, import_version adds to it',
    ])
  }
}

const NO_REFERENCE = { managed_key_name: '', managed_key_id: '' }

/** The parts of a mount that rotate keys. */
export type VersionMaker = DeviceKeys & CountingMaker & WithKeys<'find' | 'grow'>

/**
 * Adds a version, which becomes the latest, and returns the ring; undefined if no key has the name. `allow` is called
 * before the version is made, and again in the transaction, as the key may change between; if it throws, the key stays
 * as it was. `reference` says which managed key the version is, for a key of type managed_key.
 * @throws Refusal; DecisionOutdated if another key has the name meanwhile
 */
export async function rotate(
  maker: VersionMaker,
  name: string,
  allow: (header: RingHeader) => void = () => {},
  reference = NO_REFERENCE,
): Promise<LoadedRing | undefined> {
  const requireAllowed = (ring: { readonly header: RingHeader }): void => {
    requireRotatable(ring)
    allow(ring.header)
  }
  const ring = await maker.keys.find(name)
  if (ring === undefined) return undefined
  // The version is made before the transaction, which may run several times and must not wait.
  requireAllowed(ring)
  const { keySizeBytes } = ring.header
  const managed = await requestedKey(maker, ring.header.type, reference)
  if (managed !== undefined) requireSuccessor(ring.header, managed)
  const since = await maker.messageCounts.since()
  const fresh = managed ? await newManagedVersion(managed, maker) : await newSecrets(ring.type, keySizeBytes, maker)
  try {
    return await maker.keys.grow(name, fresh, (header) => {
      requireAllowed({ header })
      if (header.type !== ring.type.name || header.keySizeBytes !== keySizeBytes)
        throw new DecisionOutdated('another key has the name meanwhile')
      if (managed !== undefined) requireSuccessor(header, managed)
      return withNewVersion(header, fresh, maker.world, since)
    })
  } finally {
    fresh.material.wipe()
    fresh.hmac.wipe()
  }
}
