// Removes what a cluster keeps for itself of namespaces that were deleted: tokens, local mounts, local identities. The
// primary of a set deletes a namespace and what all share of it, but reaches no other cluster. It notes the id of what
// it deleted, and by nothing else is a namespace known to be gone: an entry may also be missing for a while.
import type { Log } from '../lib/log.ts'
import { oneByOne } from '../lib/one-by-one.ts'
import { PeriodicTask } from '../lib/periodic-task.ts'
import type { World } from '../lib/world.ts'
import { ROOT_NAMESPACE, systemScope } from '../storage/contract.ts'
import { isClosed } from '../storage/errors.ts'
import type { Invalidation } from '../storage/invalidation.ts'
import type { SealedStorage, View } from '../storage/sealed-storage.ts'
import { GONE_NAMESPACES } from './records.ts'

const RETRY_MS = 10_000

/** Removes one kind of thing that the cluster has of the namespace with this id. Must bear to be called again. */
export type OwnPartWork = (namespaceId: string) => Promise<void>

type Parts = {
  readonly storage: Pick<SealedStorage, 'view'>
  readonly invalidation: Invalidation
  /** Taken in this order. */
  readonly works: readonly OwnPartWork[]
  readonly world: World
  readonly log: Log
}

/** The removals of one cluster. They run wherever its own data may be written, from unseal to seal. */
export class OwnPartOfNamespaces {
  readonly #view: View
  readonly #works: readonly OwnPartWork[]
  readonly #task: PeriodicTask
  /** Ids of which nothing is left, since the last start. */
  readonly #done = new Set<string>()

  constructor({ storage, invalidation, works, world, log }: Parts) {
    this.#view = storage.view(systemScope, GONE_NAMESPACES)
    this.#works = works
    const failure = 'What this cluster keeps of a deleted namespace could not be removed: it is tried again'
    this.#task = new PeriodicTask(() => this.#run(), { world, log, failure, retryMs: RETRY_MS, isClosed })
    const changed = () => this.#task.within(0)
    const prefix = GONE_NAMESPACES.slice(ROOT_NAMESPACE.length + 1)
    invalidation.register({ prefix, changed, reset: () => this.#done.clear() })
  }

  start(): void {
    this.#done.clear()
    this.#task.start(0)
  }

  stop(): void {
    this.#task.stop()
  }

  async #run(): Promise<number> {
    const ids = (await this.#view.list('')).filter((id) => !this.#done.has(id))
    await oneByOne(ids.map((id) => () => this.#remove(id)))
    return Infinity
  }

  async #remove(id: string): Promise<void> {
    for (const work of this.#works) await work(id)
    this.#done.add(id)
  }
}
