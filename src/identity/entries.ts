// The stored records of entities, aliases and groups (records.ts has their keys).
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

/** One caller, by whatever login methods and names it logs in. */
export const ENTITY = storedRecord('An entity', {
  ...STORED,
  name: text,
  metadata: mapOf(text),
  policies: texts,
  /** Its tokens have no access, and it cannot log in. */
  disabled: flag,
  /** Ids of the entities that were merged into this one. */
  mergedIds: texts,
})
/** An entity without its aliases, which are entries of their own. */
export type Entity = RecordOf<typeof ENTITY>

/** The name of an entity at one login mount. */
export const ALIAS = storedRecord('An alias', {
  ...STORED,
  entityId: text,
  mountAccessor: text,
  name: text,
  /** From the login method, as of the last login. */
  metadata: mapOf(text),
  /** From operators; logins never change it. Null if a login made the alias and no operator has written it since. */
  customMetadata: nullable(mapOf(text)),
  /** Ids of the entities that it belonged to before they were merged. */
  mergedFrom: texts,
  /** True if its mount stays out of replication; the alias then does too. */
  local: flag,
  /**
   * A random value, drawn again whenever entity, mount or name change. Memberships bear the stamp of the alias that
   * they came by, and one with another stamp does not count. Missing in one that was stored before there were stamps.
   */
  stamp: optional(text),
})
/** An alias; its entity is named by id. */
export type Alias = RecordOf<typeof ALIAS>

const GROUP_TYPE = oneOf('internal', 'external')
/** Operators name the members of an internal group. Logins put entities into an external one. */
export type GroupType = ValueOf<typeof GROUP_TYPE>

const GROUP_ALIAS = {
  id: text,
  mountAccessor: text,
  name: text,
  /**
   * A random value, drawn again whenever mount or name change. Memberships bear the stamp they came by, and one with
   * another stamp does not count. So a change ends all memberships at once, however many there are.
   */
  stamp: text,
  createdAtMs: count,
  updatedAtMs: count,
}
/** The name of an external group at one login mount; part of the group's record. */
export type GroupAlias = GroupOf<typeof GROUP_ALIAS>

/** Several entities and groups; its policies hold for all. Members are entries of their own (memberships.ts). */
export const GROUP = storedRecord('A group', {
  ...STORED,
  name: text,
  type: GROUP_TYPE,
  metadata: mapOf(text),
  policies: texts,
  /** Grows with each write, also with one of another group that takes this one in or lets it go. */
  version: count,
  /** The name by which a login method knows an external group; null for an internal one, and before it has one. */
  alias: nullable(group(GROUP_ALIAS)),
})
/** A group with its settings; its members are entries of their own (memberships.ts). */
export type Group = RecordOf<typeof GROUP>

/** An entry of an index: it leads to a thing by its id. */
export const REFERENCE = storedRecord('A reference of identities', {
  namespace: text,
  id: text,
  entityId: optional(text),
  /** The name in the case it was given; the key of the index is folded. */
  name: optional(text),
})
/** What an entry of an index leads to; its namespace is stored beside it. */
export type Reference = Omit<RecordOf<typeof REFERENCE>, 'namespace'>

/** Returns the stored form of a reference. */
export const encodeReference = (namespace: string, reference: Reference): Buffer =>
  REFERENCE.encode({ namespace, ...reference })
