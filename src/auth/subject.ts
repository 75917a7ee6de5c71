// Whoever stands behind a token, as far as access depends on it. The room of identities keeps them; here is all that
// tokens and policies need of it.
import type { LoginAlias } from '../api/login.ts'
import type { MountEntry } from '../api/mount.ts'
import type { TemplateResolver } from './policy-path.ts'

export type Subject = {
  /** No access, with whatever token. */
  readonly disabled: boolean
  /** Of the entity and of the groups it is in, sorted, without doubles. */
  readonly policies: readonly string[]
  /** Differs whenever `resolve` would give other values: names them in caches. */
  readonly key: string
  /** The values of templates in policies. */
  readonly resolve: TemplateResolver
}

export interface Identities {
  /**
   * The id of the entity that the alias belongs to, made where there is none; its groups are set to `groups`. Only on
   * the thread that writes.
   * @throws Refusal where the entity is disabled
   */
  entityOfLogin(mount: MountEntry, alias: LoginAlias, groups: readonly string[]): Promise<string>
  /** The id of that entity, where there is one; nothing is made. @throws Refusal as `entityOfLogin` */
  findEntityOfLogin(mount: MountEntry, alias: LoginAlias): Promise<string | undefined>
  /** A login method says anew in which groups somebody is whom it knows. */
  groupsOfLogin(mount: MountEntry, entityId: string, groups: readonly string[]): Promise<void>
  /** Everything that logins at a mount that is removed brought here. */
  removeMount(mount: MountEntry): Promise<void>
  /** Undefined where there is no such entity. Waits only where something is not cached. */
  subject(entityId: string): Subject | undefined | Promise<Subject | undefined>
}
