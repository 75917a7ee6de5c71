// Removes what an entity left on this cluster when it was deleted elsewhere: aliases of local mounts, and memberships
// that logins gave. None of it counts without the entity, so the sweep may come at any time.
import type { Log } from '../lib/log.ts'
import { PeriodicTask } from '../lib/periodic-task.ts'
import { isClosed } from '../storage/contract.ts'
import type { ViewTransaction } from '../storage/sealed-storage.ts'
import { membershipsOf, removeMembership } from './memberships.ts'
import { aliasesOf, type IdentityParts, LOCAL_FOLDER, removeAlias } from './records.ts'

const EVERY_MS = 3_600_000
/** Wait after a failed run. Nothing depends on its success. */
const RETRY_MS = 60_000
const PAGE = 500
const FOLDERS_BY_ENTITY = [`${LOCAL_FOLDER}alias/`, `${LOCAL_FOLDER}entity-group/`]

/** The sweep of a cluster that may write its own data. */
export class AliasSweep {
  readonly #parts: IdentityParts
  readonly #task: PeriodicTask
  /**
   * Entities that were missing at the last run. What belongs to them goes at the next one: an entity that a primary has
   * just made may come to this cluster after the login that asked for it.
   */
  #missing: ReadonlySet<string> = new Set()

  constructor(parts: IdentityParts, log: Log) {
    this.#parts = parts
    const failure = 'Aliases without an entity could not be removed: they count for nothing, and it is retried'
    const { world } = parts
    this.#task = new PeriodicTask(() => this.#sweep(), { world, log, failure, retryMs: RETRY_MS, isClosed })
  }

  /** Starts the sweep. Runs from unseal to seal, where the cluster's own data may be written. */
  start(): void {
    this.#missing = new Set()
    this.#task.start(EVERY_MS)
  }

  stop(): void {
    this.#task.stop()
  }

  /** Looks through all entries once; never throws. */
  runNow(): Promise<void> {
    return this.#task.now()
  }

  async #sweep(): Promise<number> {
    const missing = new Set<string>()
    for (const folder of FOLDERS_BY_ENTITY) await this.#collect(folder, missing)
    for (const entityId of missing) {
      if (this.#missing.has(entityId)) await this.#parts.view.transaction((tx) => this.#remove(tx, entityId))
    }
    this.#missing = missing
    return EVERY_MS
  }

  /** Adds the entities that are named in the folder and are not there. */
  async #collect(folder: string, missing: Set<string>): Promise<void> {
    const { view, world } = this.#parts
    for (let after: string | undefined = ''; after !== undefined; ) {
      const names: string[] = await view.list(folder, { after, limit: PAGE })
      for (const name of names) {
        const entityId = name.replace(/\/$/, '')
        if ((await view.get(`identity/entity/${entityId}`)) === undefined) missing.add(entityId)
      }
      after = names.length === PAGE ? names.at(-1) : undefined
      await world.timers.sleep(0)
    }
  }

  async #remove(tx: ViewTransaction, entityId: string): Promise<void> {
    if ((await tx.get(`identity/entity/${entityId}`)) !== undefined) return
    for (const alias of await aliasesOf(tx, entityId)) {
      if (alias.local) await removeAlias(tx, alias, this.#parts.digest(alias.name))
    }
    for (const membership of await membershipsOf(tx, entityId)) {
      if (membership.local) removeMembership(tx, membership)
    }
  }
}
