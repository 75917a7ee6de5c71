// Which version imported material becomes (Interface 4.2, "Import version"): a new one, or the private half that a
// version known by its public half alone was waiting for.
import { fail } from '../../api/errors.ts'
import { canonicalSpki } from '../../crypto/forms/canonical-spki.ts'
import { InvalidKeyMaterial, type KeyType } from '../../crypto/key-types/key-type.ts'
import { freshBytes } from '../../crypto/primitives/random-bytes.ts'
import { Secret } from '../../crypto/primitives/secret.ts'
import type { World } from '../../lib/world.ts'
import type { ImportedMaterial } from './imported-material.ts'
import { HMAC_SECRET_BYTES, type StoredRing, type VersionSecrets } from './ring/key-ring.ts'
import { publicPartOf, requireUsable } from './ring/loaded-ring.ts'
import { firstStoredVersion, type RingHeader, type VersionHeader } from './ring/ring-header.ts'

/** @throws Refusal for a key that takes no imported versions */
export function requireImportable({ header }: { readonly header: RingHeader }): void {
  requireUsable({ header })
  if (header.imported) return
  throw fail('import_not_allowed', [
    'import_version can only be used with an imported key: this one was made here, or was rotated since its import',
  ])
}

type Import = {
  /** The one to complete; undefined where the caller named none. */
  readonly version: number | undefined
  readonly world: World
  /** As the counts of the mount have it. */
  readonly countedFrom: number
}

/**
 * The ring with the material in it; it has copies, and the caller wipes it.
 * @throws Refusal: then nothing changed
 */
export function withImported(
  ring: StoredRing,
  type: KeyType,
  imported: ImportedMaterial,
  { version, world, countedFrom }: Import,
): StoredRing {
  requireImportable(ring)
  if (version !== undefined) return completed(ring, imported, indexToComplete(ring, type, imported, version))
  const last = ring.header.versions.length - 1
  if (isOtherHalf(ring, last, type, imported)) return completed(ring, imported, last)
  return appended(ring, type, imported, { world, version: importedVersion(imported, world, countedFrom) })
}

/** Where in the list of versions. @throws Refusal */
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

/** Whether the version waits for just this private key. */
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
    // Stored before such keys were refused: nobody has its other half.
    if (cause instanceof InvalidKeyMaterial) return false
    throw cause
  }
}

/** What was authenticated with the HMAC secret of the version stays so. */
function completed({ header, secrets }: StoredRing, { material }: ImportedMaterial, index: number): StoredRing {
  const versions = header.versions.map((version, at): VersionHeader => {
    if (at !== index) return version
    const { isPublic: _, ...rest } = version
    return rest
  })
  const changed = secrets.map(({ material: before, hmac }, at): VersionSecrets => {
    return { material: at === index ? new Secret(material) : before, hmac }
  })
  // Its place is taken, so nobody else wipes it.
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

/** What was sealed with it elsewhere nobody counted; `countedFrom` is as the counts of the mount have it. */
export function importedVersion({ isPublic }: ImportedMaterial, world: World, countedFrom: number): VersionHeader {
  return {
    createdAtMs: world.clock.nowMs(),
    convergentVersion: 0,
    ...(isPublic ? { isPublic } : {}),
    ...(countedFrom === 0 ? {} : { countedFrom }),
  }
}

/** A copy of the material, and an HMAC secret of its own. */
export function importedSecrets(material: Buffer, world: World): VersionSecrets {
  const hmac = freshBytes(world.random.bytes, HMAC_SECRET_BYTES)
  try {
    return { material: new Secret(material), hmac: new Secret(hmac) }
  } finally {
    hmac.fill(0)
  }
}
