// Removes what is left of namespaces whose deletion has begun: in the background, in steps that bear to be taken again.
// It runs where the data of the set may be written, from unseal to seal, and first finishes what was interrupted.
import { type Namespace, type Namespaces, ROOT } from '../api/namespace.ts'
import type { Log } from '../lib/log.ts'
import { oneByOne } from '../lib/one-by-one.ts'
import { PeriodicTask } from '../lib/periodic-task.ts'
import type { World } from '../lib/world.ts'
import { CLASSES } from '../storage/classes.ts'
import { isClosed } from '../storage/errors.ts'
import type { SealedStorage } from '../storage/sealed-storage.ts'
import { wipeFolder } from '../storage/wipe-folder.ts'
import type { NamespaceStore } from './namespace-store.ts'
import { scopeOfNamespace } from './records.ts'

/** Removes one kind of thing of a namespace, and ends when none is left. Must bear to be called again. */
export type NamespaceWork = (namespace: Namespace) => Promise<void>

/** How long the request that begins a deletion waits for its end: most have little to remove. */
const ANSWERED_WITHIN_MS = 500
const RETRY_MS = 10_000

/**
 * Folders of what a namespace has besides its mounts. Data of mounts lie in others: those of a mount that moved to
 * another namespace stay where they are.
 */
const OWN_FOLDERS = CLASSES.filter(
  ({ path, class: storageClass }) => storageClass !== 'mount' && path.endsWith('/'),
).map(({ path }) => path)

type Parts = {
  readonly namespaces: Namespaces
  readonly store: Pick<NamespaceStore, 'endDeletion'>
  readonly storage: Pick<SealedStorage, 'view'>
  /** Taken in this order. What is stored below the namespace's id is removed behind them. */
  readonly works: readonly NamespaceWork[]
  /** True while other clusters follow this one: they have parts of their own of a namespace (own-part.ts). */
  readonly isFollowed: () => boolean
  readonly world: World
  readonly log: Log
}

/** The deletions of one server. */
export class NamespaceDeletion {
  readonly #parts: Parts
  readonly #task: PeriodicTask

  constructor(parts: Parts) {
    this.#parts = parts
    const { world, log } = parts
    const failure = 'A namespace could not be deleted to its end: it takes no requests, and its removal is tried again'
    this.#task = new PeriodicTask(() => this.#run(), { world, log, failure, retryMs: RETRY_MS, isClosed })
  }

  start(): void {
    this.#task.start(0)
  }

  stop(): void {
    this.#task.stop()
  }

  /** Lets a deletion begin. Resolves at its end, or a moment later if there is much to remove. */
  async begun(): Promise<void> {
    // A run under way may have looked before the namespace was marked.
    const done = this.#task.now().then(() => this.#task.now())
    await Promise.race([done, this.#parts.world.timers.sleep(ANSWERED_WITHIN_MS)])
  }

  async #run(): Promise<number> {
    const { namespaces } = this.#parts
    if (namespaces.stale) await namespaces.refresh()
    const going = namespaces.below(ROOT).filter(({ isGoing }) => isGoing)
    await oneByOne(going.map((namespace) => () => this.#delete(namespace)))
    return Infinity
  }

  async #delete(namespace: Namespace): Promise<void> {
    for (const work of this.#parts.works) await work(namespace)
    const own = this.#parts.storage.view(scopeOfNamespace(namespace.id), `${namespace.id}/`)
    for (const folder of OWN_FOLDERS) await wipeFolder(own, folder)
    await this.#parts.store.endDeletion(namespace, this.#parts.isFollowed())
  }
}
