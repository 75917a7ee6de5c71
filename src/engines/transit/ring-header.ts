// What is known of a key ring besides its secrets.
import { strict as assert } from 'node:assert'
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts'
import { StorageCorrupt } from '../../storage/contract.ts'
import type { VersionBounds } from './versions.ts'

/** The current algorithm of convergent encryption; 1 and 2 exist only in keys that are older than it. */
export const CONVERGENT_VERSION = 3

export type VersionHeader = {
  readonly createdAtMs: number
  /** Algorithm of convergent encryption; 0 for a key that is not convergent. */
  readonly convergentVersion: number
}

export type RingHeader = VersionBounds & {
  readonly type: string
  readonly derived: boolean
  readonly convergent: boolean
  readonly exportable: boolean
  readonly allowPlaintextBackup: boolean
  readonly deletionAllowed: boolean
  /** 0: rotates only when asked to. */
  readonly autoRotatePeriodSeconds: number
  /** The versions that are stored, up to the latest; the first of the list is 1 as long as none was trimmed. */
  readonly versions: readonly VersionHeader[]
}

/** Number of the first version of the list. */
export function firstStoredVersion(header: RingHeader): number {
  return header.latestVersion - header.versions.length + 1
}

/**
 * Interface 4.2: what is fixed at creation stays, and what cannot be disabled once set is not. Checked where rings are
 * stored, so that no endpoint can get around it (threats P-19).
 */
export function assertSuccessor(before: RingHeader, after: RingHeader): void {
  assert.equal(after.type, before.type, 'a key keeps its type')
  assert.equal(after.derived, before.derived, 'a key keeps its derivation')
  assert.equal(after.convergent, before.convergent, 'a key stays convergent or not')
  assert(after.exportable || !before.exportable, 'a key stays exportable')
  assert(after.allowPlaintextBackup || !before.allowPlaintextBackup, 'a key keeps its plaintext backup')
  assert(after.latestVersion >= before.latestVersion, 'versions are only added')
  assert(after.minAvailableVersion >= before.minAvailableVersion, 'trimmed versions do not come back')
}

/** @throws StorageCorrupt where a member is missing or cannot be */
export function headerFromJson(value: JsonValue): RingHeader {
  const object = requireObject(value)
  const header: RingHeader = {
    type: text(object, 'type'),
    derived: flag(object, 'derived'),
    convergent: flag(object, 'convergent'),
    exportable: flag(object, 'exportable'),
    allowPlaintextBackup: flag(object, 'allowPlaintextBackup'),
    deletionAllowed: flag(object, 'deletionAllowed'),
    autoRotatePeriodSeconds: count(object, 'autoRotatePeriodSeconds'),
    latestVersion: count(object, 'latestVersion'),
    minDecryptionVersion: count(object, 'minDecryptionVersion'),
    minEncryptionVersion: count(object, 'minEncryptionVersion'),
    minAvailableVersion: count(object, 'minAvailableVersion'),
    versions: list(object, 'versions').map(versionFromJson),
  }
  const first = firstStoredVersion(header)
  if (first < 1 || header.minDecryptionVersion < first || header.minDecryptionVersion > header.latestVersion) {
    throw corrupt('versions')
  }
  return header
}

function versionFromJson(value: JsonValue): VersionHeader {
  const object = requireObject(value)
  return { createdAtMs: count(object, 'createdAtMs'), convergentVersion: count(object, 'convergentVersion') }
}

function requireObject(value: JsonValue): JsonObject {
  if (!isJsonObject(value)) throw corrupt('header')
  return value
}

function text(object: JsonObject, name: string): string {
  const value = object[name]
  if (typeof value !== 'string') throw corrupt(name)
  return value
}

function flag(object: JsonObject, name: string): boolean {
  const value = object[name]
  if (typeof value !== 'boolean') throw corrupt(name)
  return value
}

function count(object: JsonObject, name: string): number {
  const value = object[name]
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) throw corrupt(name)
  return value
}

function list(object: JsonObject, name: string): JsonValue[] {
  const value = object[name]
  if (!Array.isArray(value)) throw corrupt(name)
  return value
}

function corrupt(name: string): StorageCorrupt {
  return new StorageCorrupt(`A stored key ring has a "${name}" that cannot be`)
}
