// Namespaces as they are stored: one entry each, by parent and name, so that no two in one place have the same name.
//
//   root/core/namespace/PARENT/NAME           the namespace; PARENT is the id of the one that it lies in
//   root/core/leaving-namespace/PARENT/NAME   one that is being deleted; finished at the next start if interrupted
//   root/core/gone-namespace/ID               empty: it was deleted, so that each cluster removes its own part of it
import { mapOf, nullable, oneOf, text } from '../lib/member-kinds.ts'
import { ROOT_NAMESPACE, type Scope, SYSTEM_SCOPE } from '../storage/contract.ts'
import { type RecordOf, storedRecord } from '../storage/stored-record.ts'

/** The folder of all entries but those of namespaces that are being deleted. */
export const NAMESPACE_FOLDER = `${ROOT_NAMESPACE}/core/namespace/`
/** The folder of entries whose deletion has begun. */
export const LEAVING_FOLDER = `${ROOT_NAMESPACE}/core/leaving-namespace/`
/** The folder of the ids of all namespaces that were deleted. */
export const GONE_NAMESPACES = `${ROOT_NAMESPACE}/core/gone-namespace/`

/** The stored form of a namespace. */
export const NAMESPACE = storedRecord('A namespace', {
  format: oneOf(1),
  id: text,
  uuid: text,
  /** Id of the namespace that it lies in. */
  parent: text,
  name: text,
  customMetadata: mapOf(text),
  /** SHA-256 of the unlock key, in hexadecimal digits; null while it is not locked. */
  lockDigest: nullable(text),
})
/** A stored namespace. */
export type StoredNamespace = RecordOf<typeof NAMESPACE>

/** The key of a namespace's entry below either folder. */
export const namespaceKey = ({ parent, name }: Pick<StoredNamespace, 'parent' | 'name'>): string => `${parent}/${name}`

/** The scope of what a namespace stores that belongs to none of its mounts. */
export const scopeOfNamespace = (id: string): Scope => ({ namespace: id, mount: SYSTEM_SCOPE, local: false })
