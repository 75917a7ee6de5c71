// Imported material becomes a version of a key (Interface 4.2, "Import version"). It is a new version, or the missing
// private half of a version that has only its public half.

import { fail } from '../../api/errors.ts'
import { canonicalSpki } from '../../crypto/forms/canonical-spki.ts'
import { InvalidKeyMaterial, type KeyType } from '../../crypto/key-types/key-type.ts'
import { freshBytes } from '../../crypto/primitives/random-bytes.ts'
import { Secret } from '../../crypto/primitives/secret.ts'
import type { World } from '../../lib/world.ts'
import type { CountedSince } from './budget/message-ledger.ts'
import type { ImportedMaterial } from './imported-material.ts'
import { HMAC_SECRET_BYTES, type StoredRing, type VersionSecrets } from './ring/key-ring.ts'
import { publicPartOf, requireUsable } from './ring/loaded-ring.ts'
import { firstStoredVersion, type RingHeader, type VersionHeader } from './ring/ring-header.ts'

/**
 * Checks that the key takes imported versions (Interface 7.15): it was imported, and not rotated since.
 * @throws Refusal
 */
export function requireImportable({ header }: { readonly header: RingHeader }): void {
  requireUsable({ header })
  if (header.imported) return
  throw fail('import_not_allowed', [
    'import_version can only be used with an imported key: this one was made here, or was rotated since its import',
  ])
}

type Import = {
  /** The version to complete; undefined if the caller named none. */
  readonly version: number | undefined
  readonly world: World
  /** What its header says of its count (message-count-store.ts). */
  readonly since: CountedSince
}

/**
 * Returns the ring with the material in it. The ring has a copy of the material; the caller wipes both.
 * @throws Refusal; the ring is then unchanged
 */
export function withImported(
  ring: StoredRing,
  type: KeyType,
  imported: ImportedMaterial,
  { version, world, since }: Import,
): StoredRing {
  requireImportable(ring)
  if (version !== undefined) return completed(ring, imported, indexToComplete(ring, type, imported, version))
  const last = ring.header.versions.length - 1
  if (isOtherHalf(ring, last, type, imported)) return completed(ring, imported, last)
  return appended(ring, type, imported, { world, version: importedVersion(imported, world, since) })
}

/** Returns the index of the version in the header's list. @throws Refusal if it cannot be completed with this */
function indexToComplete(ring: StoredRing, type: KeyType, imported: ImportedMaterial, version: number): number {
  const { header } = ring
  if (version < header.minDecryptionVersion || version > header.latestVersion) {
    const range = `${header.minDecryptionVersion} to ${header.latestVersion}`
    throw fail('version_unknown', [`"version": no such key version, those that can be used are ${range}`])
  }
  if (type.publicPart === undefined)
    throw fail('field_not_applicable', [`"version": versions of type ${type.name} are never incomplete, leave it out`])
  if (imported.isPublic)
    throw fail('fields_conflict', ['"version": a version is completed by "ciphertext", with its private key'])
  const index = version - firstStoredVersion(header)
  if (header.versions[index]?.isPublic !== true)
    throw fail('import_not_allowed', [`"version": version ${version} has its private key already`])
  if (isOtherHalf(ring, index, type, imported)) return index
  throw fail('key_material_invalid', [
    `cannot import key, key pair does not match: version ${version} has another public key`,
  ])
}

/** True if the version lacks its private half, and the material is that half. */
function isOtherHalf(
  { header, secrets }: StoredRing,
  index: number,
  type: KeyType,
  imported: ImportedMaterial,
): boolean {
  const waiting = secrets[index]?.material.reveal()
  if (header.versions[index]?.isPublic !== true || waiting === undefined || imported.isPublic) return false
  const other = canonicalSpki(type.load(imported.material))
  try {
    return canonicalSpki(publicPartOf(type).load(waiting)).equals(other)
  } catch (cause) {
    // The version was stored before such public keys were refused: it has no other half.
    if (cause instanceof InvalidKeyMaterial) return false
    throw cause
  }
}

/** Keeps the HMAC secret of the version, so that its earlier HMACs still verify. */
function completed({ header, secrets }: StoredRing, { material }: ImportedMaterial, index: number): StoredRing {
  const versions = header.versions.map((version, at): VersionHeader => {
    if (at !== index) return version
    const { isPublic: _, ...rest } = version
    return rest
  })
  const changed = secrets.map(({ material: before, hmac }, at): VersionSecrets => {
    return { material: at === index ? new Secret(material) : before, hmac }
  })
  // The changed ring does not have it, so wiping that ring later does not reach it.
  secrets[index]?.material.wipe()
  return { header: { ...header, versions }, secrets: changed }
}

function appended(
  { header, secrets }: StoredRing,
  type: KeyType,
  { material }: ImportedMaterial,
  { world, version }: { readonly world: World; readonly version: VersionHeader },
): StoredRing {
  return {
    header: {
      ...header,
      latestVersion: header.latestVersion + 1,
      keySizeBytes: type.sizes === undefined ? header.keySizeBytes : material.length,
      versions: [...header.versions, version],
    },
    secrets: [...secrets, importedSecrets(material, world)],
  }
}

/**
 * Returns the header of an imported version; `since` comes from the counts of the mount. Messages that were
 * sealed with the key elsewhere are not counted: their number is unknown here.
 */
export function importedVersion({ isPublic }: ImportedMaterial, world: World, since: CountedSince): VersionHeader {
  return {
    createdAtMs: world.clock.nowMs(),
    convergentVersion: 0,
    ...(isPublic ? { isPublic } : {}),
    ...since,
  }
}

/** Returns a copy of the material with a fresh HMAC secret; the caller wipes both. */
export function importedSecrets(material: Buffer, world: World): VersionSecrets {
  const hmac = freshBytes(world.random.bytes, HMAC_SECRET_BYTES)
  try {
    return { material: new Secret(material), hmac: new Secret(hmac) }
  } finally {
    hmac.fill(0)
  }
}
