// What is stored of entities, aliases and groups, as JSON.
import { isJsonObject, parseStoredJson } from '../lib/json.ts'

type Texts = Readonly<Record<string, string>>

type Stored = {
  readonly format: 1
  readonly namespace: string
  readonly id: string
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

/** Somebody, however they log in. */
export type Entity = Stored & {
  readonly name: string
  readonly metadata: Texts
  readonly policies: readonly string[]
  /** No access, with whatever token. */
  readonly disabled: boolean
  /** Ids of the entities that were merged into this one. */
  readonly mergedIds: readonly string[]
}

/** The name of an entity at one login mount. */
export type Alias = Stored & {
  readonly entityId: string
  readonly mountAccessor: string
  readonly name: string
  /** What the login method says of it, as of the last login. */
  readonly metadata: Texts
  /** What operators say of it. */
  readonly customMetadata: Texts
  /** Ids of the entities that it belonged to before they were merged. */
  readonly mergedFrom: readonly string[]
  /** Of a mount that stays out of replication, as the alias then does. */
  readonly local: boolean
}

export type GroupType = 'internal' | 'external'

export type Group = Stored & {
  readonly name: string
  readonly type: GroupType
  readonly metadata: Texts
  readonly policies: readonly string[]
  /** Grows with each write. */
  readonly version: number
  /** Of an external group: the name by which a login method knows it. */
  readonly alias: GroupAlias | null
}

export type GroupAlias = {
  readonly id: string
  readonly mountAccessor: string
  readonly name: string
  /** A random value, drawn anew whenever mount or name change. A member that came by another stamp does not count. */
  readonly stamp: string
  readonly createdAtMs: number
  readonly updatedAtMs: number
}

/** What an index leads to. `name` is as it was given, where the index folds its case. */
export type Reference = { readonly id: string; readonly entityId?: string; readonly name?: string }

export const encodeEntry = (entry: Entity | Alias | Group): Buffer => Buffer.from(JSON.stringify(entry))

export const encodeReference = (namespace: string, reference: Reference): Buffer =>
  Buffer.from(JSON.stringify({ format: 1, namespace, ...reference }))

export const decodeEntity = (bytes: Buffer): Entity => decoded<Entity>(bytes)
export const decodeAlias = (bytes: Buffer): Alias => decoded<Alias>(bytes)
export const decodeGroup = (bytes: Buffer): Group => decoded<Group>(bytes)
export const decodeReference = (bytes: Buffer): Reference => decoded<Reference>(bytes)

function decoded<T>(bytes: Buffer): T {
  const value = parseStoredJson(bytes)
  if (!isJsonObject(value) || value.format !== 1) throw new Error('An entry of identities has an unknown format')
  return value as unknown as T
}
