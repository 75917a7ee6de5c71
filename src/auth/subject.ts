// The identity behind a token, as far as access depends on it. The room `identity` keeps entities and groups; this is
// all that tokens and policies need of it.
import type { EnsuredEntity, LoginAlias } from '../api/login.ts'
import type { MountEntry } from '../api/mount.ts'
import type { TemplateResolver } from './policy-path.ts'

/** Names of policies, and the namespace in which they are looked up. */
export type NamespacedNames = { readonly namespaceId: string; readonly names: readonly string[] }

/** The entity behind a token, at this moment. */
export type Subject = {
  /** True if the entity has no access, with any token. */
  readonly disabled: boolean
  /**
   * Policies of the entity and of its groups, by the namespace of each: sorted, without duplicates, and without a
   * namespace that gives none.
   */
  readonly policies: readonly NamespacedNames[]
  /** The memberships in groups that logins on this cluster gave, as their keys name them. */
  readonly loginGroups: readonly string[]
  /** Changes whenever `resolve` would give other values. Caches use it as their key. */
  readonly key: string
  /** Gives the values of templates in policies. */
  readonly resolve: TemplateResolver
}

/** The policies that count for a token because its entity and groups give them. */
export type IdentityPolicies = {
  /** Policies of the namespace of the token, sorted; also those that the token has itself. */
  readonly identity: readonly string[]
  /** Policies of other namespaces; no namespace is twice. */
  readonly external: readonly NamespacedNames[]
}
/** Those of a token without an entity. */
export const NO_IDENTITY_POLICIES: IdentityPolicies = { identity: [], external: [] }

/** A login whose entity is known, and the groups that it gave. */
export type BoundLogin = LoginAlias & EnsuredEntity & { readonly groups: readonly string[] }

/** What this room asks of the room `identity`, which implements it and may import this room. */
export interface Identities {
  /**
   * Returns the id of the entity that has the alias, making it if there is none, and sets the groups that the login
   * gave. Only on the writing thread.
   * @throws Refusal if the entity is disabled.
   */
  entityOfLogin(mount: MountEntry, alias: LoginAlias, groups: readonly string[]): Promise<string>
  /**
   * The half of a login that the set shares: returns the entity, which is made if there is none. Asks the primary where
   * this cluster may not write for the set. @throws Refusal like `entityOfLogin`.
   */
  ensureEntity(mount: MountEntry, alias: LoginAlias): Promise<EnsuredEntity>
  /**
   * The same for a cluster that keeps the alias itself: returns the entity with this id, or a new one of the namespace
   * if there is none. @throws Refusal like `entityOfLogin`.
   */
  ensureEntityOfCluster(namespaceId: string, entityId: string): Promise<EnsuredEntity>
  /**
   * The half that belongs to this cluster, which follows the other one everywhere: sets the groups that the login gave.
   * Returns the id of the entity.
   */
  bindLogin(mount: MountEntry, bound: BoundLogin): Promise<string>
  /** Returns the id of that entity if it exists; makes nothing. @throws Refusal like `entityOfLogin`. */
  findEntityOfLogin(mount: MountEntry, alias: LoginAlias): Promise<string | undefined>
  /** Sets the groups that a login method at the mount now reports for an entity, when a token is renewed. */
  groupsOfLogin(mount: MountEntry, entityId: string, groups: readonly string[]): Promise<void>
  /**
   * Removes everything that logins at a removed mount brought: aliases, group aliases and memberships. The entities
   * stay.
   */
  removeMount(mount: MountEntry): Promise<void>
  /** Returns the identity; undefined if the entity is gone. Answers without a promise if everything is cached. */
  subject(entityId: string): Subject | undefined | Promise<Subject | undefined>
  /** The same for a caller of another cluster, where logins gave these groups as well; read anew each time. */
  subjectInGroups(entityId: string, loginGroups: readonly string[]): Promise<Subject | undefined>
}
