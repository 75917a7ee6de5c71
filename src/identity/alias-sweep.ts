// Removes what a change of identities left on this cluster when it was made elsewhere, or was cut off between its
// halves: aliases of local mounts without their entity or that are retired, and memberships that logins gave to an
// entity that is gone, or by an alias that has changed since. None of it counts, so the sweep may come at any time.
//
// A secondary looks each hour, since its primary may have deleted an entity. It may lag: what it lacks now may still
// come, so it removes only what did not count at two looks. A server that follows no other has all that there is, and
// deletes both halves itself: it looks once, an hour after unseal, for what a crash left.
//
// A filter of the primary may keep a namespace from a secondary, with its entities and groups. What names these here
// counts again once the namespace is back, so it stays until that is known to be gone (own-part.ts of namespaces).
import { type Namespaces, ROOT_ID, splitId } from '../api/namespace.ts'
import type { Log } from '../lib/log.ts'
import { PeriodicTask } from '../lib/periodic-task.ts'
import { isClosed } from '../storage/errors.ts'
import type { ViewTransaction } from '../storage/sealed-storage.ts'
import type { Alias } from './entries.ts'
import { haveSameStamps, idleMemberships, type Membership, membershipsOf, removeMembership } from './memberships.ts'
import {
  type From,
  findEntity,
  type IdentityParts,
  idPagesOfAll,
  isRetired,
  LOCAL_FOLDER,
  removeAlias,
  storedAliasesOf,
} from './records.ts'

const EVERY_MS = 3_600_000
/** Wait after a failed run. Nothing depends on its success. */
const RETRY_MS = 60_000
/** Entities looked at in one step of the event loop: about a millisecond. */
const PER_STEP = 10
const FOLDERS_BY_ENTITY = [`${LOCAL_FOLDER}alias/`, `${LOCAL_FOLDER}entity-group/`]

/** What does not count of one entity: all of it if the entity is gone, else these memberships and aliases. */
type Leftovers = {
  readonly isGone: boolean
  readonly memberships: readonly Membership[]
  readonly aliases: readonly Alias[]
}

/** What else the sweep asks of its server. */
type Needs = {
  /** Whether another cluster changes what the set shares. */
  readonly follows: () => boolean
  readonly namespaces: Pick<Namespaces, 'byId' | 'refresh'>
}

const sameMembership = (one: Membership, other: Membership): boolean =>
  one.groupId === other.groupId && haveSameStamps(one, other)

/** The sweep of a cluster that may write its own data. */
export class AliasSweep {
  readonly #parts: IdentityParts
  readonly #needs: Needs
  readonly #task: PeriodicTask
  /**
   * What did not count at the last look, by entity. On a secondary it goes at the next one if it still does not: an
   * entity or an alias that a primary has just made may come after the login that asked for it.
   */
  #before: ReadonlyMap<string, Leftovers> = new Map()
  /** True once all was looked through that a server which follows no other has left. */
  #isDone = false

  constructor(parts: IdentityParts, needs: Needs, log: Log) {
    this.#parts = parts
    this.#needs = needs
    const failure = 'Aliases without an entity could not be removed: they count for nothing, and it is retried'
    const { world } = parts
    this.#task = new PeriodicTask(() => this.#sweep(), { world, log, failure, retryMs: RETRY_MS, isClosed })
  }

  /** Starts the sweep. Runs from unseal to seal, where the cluster's own data may be written. */
  start(): void {
    this.#before = new Map()
    this.#isDone = false
    this.#task.start(EVERY_MS)
  }

  stop(): void {
    this.#task.stop()
  }

  /** Looks through all entries once, if the role asks for it; never throws. */
  runNow(): Promise<void> {
    return this.#task.now()
  }

  async #sweep(): Promise<number> {
    const follows = this.#needs.follows()
    // The role may change while this runs, so it is asked each hour.
    if (!follows && this.#isDone) return EVERY_MS
    await this.#needs.namespaces.refresh()
    const found = new Map<string, Leftovers>()
    for (const folder of FOLDERS_BY_ENTITY) await this.#collect(folder, found)
    for (const [entityId, leftovers] of found) {
      const known = follows ? this.#before.get(entityId) : leftovers
      if (known !== undefined) await this.#parts.view.transaction((tx) => this.#remove(tx, entityId, known))
    }
    this.#before = found
    this.#isDone = !follows
    return EVERY_MS
  }

  /** Adds what does not count of the entities that are named in the folder. */
  async #collect(folder: string, found: Map<string, Leftovers>): Promise<void> {
    const { view, world } = this.#parts
    for await (const ids of idPagesOfAll(view, folder)) {
      for (const [at, entityId] of ids.entries()) {
        if (at % PER_STEP === 0) await world.timers.sleep(0)
        if (!this.#isHere(entityId)) continue
        const leftovers = await this.#leftoversOf(view, entityId)
        const { isGone, memberships, aliases } = leftovers
        if (isGone || memberships.length + aliases.length > 0) found.set(entityId, leftovers)
      }
    }
  }

  /** Removes what does not count now and is among what did not count before. */
  async #remove(tx: ViewTransaction, entityId: string, before: Leftovers): Promise<void> {
    const { isGone, memberships, aliases } = await this.#leftoversOf(tx, entityId)
    for (const membership of memberships) {
      if (before.memberships.some((one) => sameMembership(one, membership))) removeMembership(tx, membership)
    }
    // An entity that was not here at the last look may have been on the way, but what is retired stays so.
    if (isGone && !before.isGone) return
    for (const alias of aliases) await removeAlias(tx, alias, this.#parts.digest(alias.name))
  }

  async #leftoversOf(from: From, entityId: string): Promise<Leftovers> {
    const isGone = (await findEntity(from, entityId)) === undefined
    const given = await (isGone ? givenMemberships(from, entityId) : idleMemberships(from, entityId))
    const memberships = given.filter(({ groupId }) => this.#isHere(groupId))
    const aliases: Alias[] = []
    for (const alias of await storedAliasesOf(from, entityId, LOCAL_FOLDER))
      if (isGone || (await isRetired(from, alias))) aliases.push(alias)
    return { isGone, memberships, aliases }
  }

  /** True for an id of a namespace that this cluster has. */
  #isHere(id: string): boolean {
    const { namespaceId } = splitId(id)
    return namespaceId === ROOT_ID || this.#needs.namespaces.byId(namespaceId) !== undefined
  }
}

const givenMemberships = async (from: From, entityId: string): Promise<Membership[]> =>
  (await membershipsOf(from, entityId)).filter(({ local }) => local)
