// What is stored of entities, aliases and groups, as JSON.
import {
  count,
  flag,
  type GroupOf,
  group,
  mapOf,
  nullable,
  oneOf,
  optional,
  text,
  texts,
  type ValueOf,
} from '../lib/member-kinds.ts'
import { type RecordOf, storedRecord } from '../storage/stored-record.ts'

const STORED = { format: oneOf(1), namespace: text, id: text, createdAtMs: count, updatedAtMs: count }

/** Somebody, however they log in. */
export const ENTITY = storedRecord('An entity', {
  ...STORED,
  name: text,
  metadata: mapOf(text),
  policies: texts,
  /** No access, with whatever token. */
  disabled: flag,
  /** Ids of the entities that were merged into this one. */
  mergedIds: texts,
})
export type Entity = RecordOf<typeof ENTITY>

/** The name of an entity at one login mount. */
export const ALIAS = storedRecord('An alias', {
  ...STORED,
  entityId: text,
  mountAccessor: text,
  name: text,
  /** What the login method says of it, as of the last login. */
  metadata: mapOf(text),
  /** What operators say of it. */
  customMetadata: mapOf(text),
  /** Ids of the entities that it belonged to before they were merged. */
  mergedFrom: texts,
  /** Of a mount that stays out of replication, as the alias then does. */
  local: flag,
})
export type Alias = RecordOf<typeof ALIAS>

const GROUP_TYPE = oneOf('internal', 'external')
export type GroupType = ValueOf<typeof GROUP_TYPE>

const GROUP_ALIAS = {
  id: text,
  mountAccessor: text,
  name: text,
  /** A random value, drawn anew whenever mount or name change. A member that came by another stamp does not count. */
  stamp: text,
  createdAtMs: count,
  updatedAtMs: count,
}
export type GroupAlias = GroupOf<typeof GROUP_ALIAS>

export const GROUP = storedRecord('A group', {
  ...STORED,
  name: text,
  type: GROUP_TYPE,
  metadata: mapOf(text),
  policies: texts,
  /** Grows with each write. */
  version: count,
  /** Of an external group: the name by which a login method knows it. */
  alias: nullable(group(GROUP_ALIAS)),
})
export type Group = RecordOf<typeof GROUP>

/** What an index leads to. */
export const REFERENCE = storedRecord('A reference of identities', {
  namespace: text,
  id: text,
  entityId: optional(text),
  /** As it was given, where the index folds its case. */
  name: optional(text),
})
export type Reference = Omit<RecordOf<typeof REFERENCE>, 'namespace'>

export const encodeReference = (namespace: string, reference: Reference): Buffer =>
  REFERENCE.encode({ namespace, ...reference })
