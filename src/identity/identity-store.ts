// The identities behind tokens, as logins and the check of access use them, and the engine behind identity/.
import type { PublishedIdentity } from '../api/identity-token.ts'
import type { EnsuredEntity, LoginAlias, WantedEntity } from '../api/login.ts'
import type { Engine, MountEntry } from '../api/mount.ts'
import { ROOT_ID } from '../api/namespace.ts'
import type { DataOwner } from '../api/node-role.ts'
import type { BoundLogin, Identities, Subject } from '../auth/subject.ts'
import { OneAtATimeByKey } from '../lib/one-at-a-time.ts'
import type { World } from '../lib/world.ts'
import { systemScope } from '../storage/contract.ts'
import type { WriteNotAllowed } from '../storage/errors.ts'
import type { Invalidation } from '../storage/invalidation.ts'
import type { Guard, SealedStorage, View, ViewTransaction } from '../storage/sealed-storage.ts'
import { deleteAlias } from './aliases.ts'
import { createEntityOfAlias } from './entities.ts'
import { REFERENCE } from './entries.ts'
import { isAliased, takeAlias } from './group-aliases.ts'
import { type Halves, inHalves } from './halves.ts'
import { bindLogin, ensureEntity, ensureEntityOfCluster, findLogin, renewGroups } from './logins.ts'
import { moveLoginGroups, stampOf, sweepMembers } from './memberships.ts'
import { checkAliasName } from './names.ts'
import { removeNamespace } from './namespace-removal.ts'
import {
  type AliasMount,
  boundAliasAt,
  FOLDERS,
  findGroup,
  folderOf,
  IDENTITY_FOLDER,
  type IdentityParts,
  idPages,
  indexesOf,
  storedAlias,
} from './records.ts'
import { Subjects } from './subjects.ts'

/** Aliases that one transaction removes; each takes up to three entries and its memberships. */
const REMOVE_PAGE = 200

/** Does `here`; where this cluster may not write for the set, which `cause` says, does `there` instead. */
export type OrPrimary = <T>(
  here: () => Promise<T>,
  there: (ask: AskEntity, cause: WriteNotAllowed) => Promise<T>,
) => Promise<T>

/**
 * Returns an entity that the primary has or makes. `known` answers if the primary cannot be asked; it is undefined if
 * there is no answer without the primary.
 */
export type AskEntity = (
  wanted: WantedEntity,
  known?: () => Promise<EnsuredEntity | undefined>,
) => Promise<EnsuredEntity>

type AliasNamed = {
  readonly id?: string | undefined
  readonly accessor?: string | undefined
  readonly name?: string | undefined
}

/** One thread's identities. `Identities` says what each method promises to the rooms that log callers in. */
export class IdentityStore implements Identities, Engine {
  readonly parts: IdentityParts
  /** Issuer and public keys of the tokens by which mounts prove their identity to a cloud. */
  readonly published: PublishedIdentity
  readonly #storage: SealedStorage
  readonly #unlessGoing: (namespaceId: string) => Guard
  readonly #subjects: Subjects
  readonly #turns = new OneAtATimeByKey()
  readonly #orPrimary: OrPrimary

  constructor(
    storage: SealedStorage,
    invalidation: Invalidation,
    needs: {
      readonly world: World
      /** Returns a digest of a text, in characters that a stored key may have. */
      readonly digest: (text: string) => string
      readonly mountOf: (accessor: string) => MountEntry | undefined
      readonly published: PublishedIdentity
      /** Forbids transactions once the deletion of the namespace has begun. */
      readonly unlessGoing: (namespaceId: string) => Guard
      /** Absent: this cluster follows no primary. */
      readonly orPrimary?: OrPrimary
    },
  ) {
    const { published, unlessGoing, orPrimary = (here) => here(), ...parts } = needs
    this.#storage = storage
    this.#unlessGoing = unlessGoing
    this.published = published
    this.#orPrimary = orPrimary
    this.parts = { ...parts, view: storage.view(systemScope, IDENTITY_FOLDER) }
    this.#subjects = new Subjects(this.parts, invalidation)
  }

  get view(): View {
    return this.parts.view
  }

  /**
   * Runs `work`, which makes or changes what is of the namespace, in a transaction over all identities, and its second
   * half in another; only on the writing thread.
   * @throws Refusal if the namespace is gone, or being deleted: nothing may be written behind its removal
   */
  transaction<T>(namespaceId: string, work: (tx: Halves) => Promise<T>): Promise<T> {
    return inHalves(this.#viewOf(namespaceId), work)
  }

  /** A view whose transactions are refused once the deletion of the namespace has begun. */
  #viewOf(namespaceId: string): View {
    if (namespaceId === ROOT_ID) return this.view
    return this.#storage.view(systemScope, IDENTITY_FOLDER, this.#unlessGoing(namespaceId))
  }

  /**
   * Runs a change of an alias behind others that name it alike: by `id`, or by its mount and name. What two halves do
   * at a local mount is then answered as what one transaction does at a shared mount.
   */
  oneByOne<T>({ id, accessor, name }: AliasNamed, change: () => Promise<T>): Promise<T> {
    return this.#turns.run(id ?? `${accessor}/${name}`, change)
  }

  async entityOfLogin(mount: MountEntry, alias: LoginAlias, groups: readonly string[]): Promise<string> {
    const login = async (): Promise<string> => {
      const ensured = await this.ensureEntity(mount, alias)
      return this.bindLogin(mount, { ...alias, ...ensured, groups })
    }
    // Between its halves the first login at a local mount has an entity without an alias: a second login would make one
    // more.
    const isFirst = mount.local && (await this.findEntityOfLogin(mount, alias)) === undefined
    return isFirst ? this.#turns.run(`${mount.accessor}/${alias.name}`, login) : login()
  }

  /**
   * Makes the entity, and stores the alias of a shared mount. It may be done again, and writes nothing for a caller who
   * is known as he is.
   */
  ensureEntity(mount: MountEntry, alias: LoginAlias): Promise<EnsuredEntity> {
    return this.#orPrimary(
      () => this.#viewOf(mount.namespace).transaction((tx) => ensureEntity(this.parts, tx, mount, alias)),
      async (ask) =>
        mount.local
          ? ask(await this.#wantedOfCluster(mount, alias))
          : ask({ of: 'set', mount: mount.uuid, alias }, () => this.#ensured(mount, alias)),
    )
  }

  async #wantedOfCluster(mount: MountEntry, alias: LoginAlias): Promise<WantedEntity> {
    const entityId = (await this.#boundAlias(mount, alias))?.entityId ?? ''
    return { of: 'cluster', namespace: mount.namespace, entityId }
  }

  /** A login that is known here, as the primary would answer. */
  async #ensured(mount: MountEntry, alias: LoginAlias): Promise<EnsuredEntity | undefined> {
    const found = await findLogin(this.parts, this.view, mount, alias)
    return found && { entityId: found.entity.id, aliasStamp: stampOf(found.alias) }
  }

  /** The alias of a login, also if its entity has not come here yet. */
  #boundAlias(mount: MountEntry, { name }: LoginAlias) {
    return boundAliasAt(this.view, mount, this.parts.digest(checkAliasName('alias name', name)))
  }

  ensureEntityOfCluster(namespaceId: string, entityId: string): Promise<EnsuredEntity> {
    return this.#viewOf(namespaceId).transaction((tx) => ensureEntityOfCluster(this.parts, tx, namespaceId, entityId))
  }

  /**
   * Runs a change that may make an entity of the namespace, as `transaction`. The primary makes it where this cluster
   * may not.
   */
  withNewEntity<T>(
    namespaceId: string,
    work: (tx: Halves, makeEntity: () => Promise<string>) => Promise<T>,
  ): Promise<T> {
    let isMade = false
    return this.#orPrimary(
      () =>
        this.transaction(namespaceId, (tx) =>
          work(tx, async () => {
            isMade = true
            return createEntityOfAlias(this.parts, tx, namespaceId)
          }),
        ),
      async (ask, cause) => {
        if (!isMade) throw cause
        const { entityId } = await ask({ of: 'cluster', namespace: namespaceId, entityId: '' })
        return this.transaction(namespaceId, (tx) => work(tx, async () => entityId))
      },
    )
  }

  bindLogin(mount: MountEntry, bound: BoundLogin): Promise<string> {
    return this.#viewOf(mount.namespace).transaction((tx) => bindLogin(this.parts, tx, mount, bound))
  }

  /** Moves the memberships that earlier releases stored as shared by the set. Runs before requests are served. */
  moveLoginGroups(): Promise<void> {
    return moveLoginGroups(this.view)
  }

  async findEntityOfLogin(mount: MountEntry, alias: LoginAlias): Promise<string | undefined> {
    return (await findLogin(this.parts, this.view, mount, alias))?.entity.id
  }

  /** Sets the groups of a known entity again, at a renewal: the login method may have changed them (threats I-04). */
  groupsOfLogin(mount: MountEntry, entityId: string, groups: readonly string[]): Promise<void> {
    return this.#viewOf(mount.namespace).transaction((tx) => renewGroups(this.parts, tx, mount, entityId, groups))
  }

  subject(entityId: string): Subject | undefined | Promise<Subject | undefined> {
    return this.#subjects.get(entityId)
  }

  subjectInGroups(entityId: string, loginGroups: readonly string[]): Promise<Subject | undefined> {
    return this.#subjects.read(entityId, loginGroups)
  }

  /**
   * Removes what logins at a mount brought here: aliases, group aliases and memberships. The entities stay. It runs in
   * several transactions, and is called again if it was interrupted.
   */
  async removeMount(mount: AliasMount): Promise<void> {
    for (const folder of indexesOf(`${folderOf(mount.local)}alias-name/`, mount))
      while (await this.#removeAliases(folder, mount.local));
    for (const folder of indexesOf('identity/group-alias-name/', mount))
      for (const groupId of await this.view.transaction((tx) => this.#takeGroupAliases(tx, folder)))
        await this.sweep(groupId)
  }

  /** Removes one page of aliases; true if there may be more. */
  #removeAliases(folder: string, local: boolean): Promise<boolean> {
    return inHalves(this.view, async (tx) => {
      const digests = await tx.list(folder, { limit: REMOVE_PAGE })
      for (const digest of digests) {
        const bytes = await tx.get(folder + digest)
        const alias = bytes === undefined ? undefined : await storedAlias(tx, REFERENCE.decode(bytes).id, local)
        if (alias !== undefined) await deleteAlias(this.parts, tx, alias)
        if (local) tx.later(async (half) => half.delete(folder + digest))
        else tx.delete(folder + digest)
      }
      return digests.length === REMOVE_PAGE
    })
  }

  async #takeGroupAliases(tx: ViewTransaction, folder: string): Promise<string[]> {
    const taken: string[] = []
    for (const digest of await tx.list(folder)) {
      const bytes = await tx.get(folder + digest)
      const group = bytes === undefined ? undefined : await findGroup(tx, REFERENCE.decode(bytes).id)
      if (!isAliased(group)) continue
      takeAlias(this.parts, tx, group)
      taken.push(group.id)
    }
    return taken
  }

  /** Removes the stale memberships of a group, page by page. They give no access, so it may run any time later. */
  async sweep(groupId: string): Promise<void> {
    for (const folder of FOLDERS) {
      let after: string | undefined = ''
      while (after !== undefined) {
        const from: string = after
        after = await this.view.transaction((tx) => sweepMembers(tx, groupId, folder, from))
      }
    }
  }

  /** Removes everything that there is of a namespace, as `removeNamespace` does it. */
  async removeNamespace(namespaceId: string, halves: readonly DataOwner[] = ['set', 'cluster']): Promise<void> {
    for (const owner of halves) await removeNamespace(this.parts, namespaceId, owner)
  }

  /** Counts the entities of a namespace; it pauses between pages, so that other requests get their time. */
  async countEntities(namespaceId: string): Promise<number> {
    let count = 0
    for await (const page of idPages(this.view, 'identity/entity/', namespaceId)) {
      count += page.length
      await this.parts.world.timers.sleep(0)
    }
    return count
  }

  // Only the subjects are cached, and they register with the invalidation themselves.
  changed(): void {}

  reset(): void {}
}
