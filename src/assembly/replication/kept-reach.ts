// What the filter of this secondary lets it have, on the thread that writes: as the primary told it last, and what is
// still here of the rest. The record is of class local, so that a DR secondary of this cluster has it too.
//
//   root/core/replication/performance/reach   what it is to have; missing: everything
import { strict as assert } from 'node:assert'
import type { MountEntry } from '../../api/mount.ts'
import { dataFolder, decodeMountEntry } from '../../core/mount-entries.ts'
import { reachedScopes, type SetReach } from '../../replication/reach.ts'
import {
  decodeReach,
  EVERYTHING,
  encodeReach,
  isTelling,
  type NotedReach,
  readReach,
  SETS_FOLDER,
  setPath,
} from '../../replication/set/records.ts'
import type { Barrier } from '../../storage/barrier.ts'
import { namespaceEntryOf, namespaceOfKey, OWN_PARTS } from '../../storage/classes.ts'
import { type KeyLeaf, type Snapshot, type Store, systemScope, type Transaction } from '../../storage/contract.ts'
import { placesOfScope, treeScopeOf } from '../../storage/log/tree.ts'
import type { View } from '../../storage/sealed-storage.ts'

const KEY = SETS_FOLDER + setPath('performance', 'reach')
/** Keys that are looked at in one step. */
const KEYS_AT_ONCE = 1_000

type KeptReachParts = {
  readonly view: View
  readonly store: Pick<Store, 'scopes' | 'snapshot'>
  readonly barrier: Barrier
}

/** The record, and what lies outside of it. */
export class KeptReach {
  readonly #parts: KeptReachParts
  #news = 0

  constructor(parts: KeptReachParts) {
    this.#parts = parts
  }

  /** As it is noted. */
  noted(): Promise<NotedReach> {
    return this.#parts.view.transaction((tx) => readReach(tx))
  }

  /** How often something was allowed that was being removed, since this cluster was opened. */
  get news(): number {
    return this.#news
  }

  /** Stores it in the step that applies what it is about. Without a word of it, a cluster is to have everything. */
  async store(tx: Transaction, noted: NotedReach): Promise<void> {
    const stored = await tx.get(KEY)
    const before = stored === undefined ? EVERYTHING : decodeReach(this.#parts.barrier.open(KEY, stored))
    const leaving = new Set(noted.leaving)
    if (noted.reach === undefined || before.leaving.some((scope) => !leaving.has(scope))) this.#news++
    if (isTelling(noted)) tx.put(systemScope, KEY, this.#parts.barrier.seal(KEY, encodeReach(noted)))
    else if (stored !== undefined) tx.delete(systemScope, KEY)
  }

  /** Comes when `look` need not wait for the tree. */
  async readyToLook(): Promise<void> {
    if ((await this.noted()).reach !== undefined) await this.#parts.store.scopes()
  }

  /**
   * Notes what is here of what this cluster is not to have, without news: an earlier program had some of it in another
   * scope of the tree, which the filter lets it have.
   */
  async look(): Promise<void> {
    const { reach, leaving } = await this.noted()
    if (reach === undefined) return
    const rest = await this.restOf(reach, false)
    if (rest.leaving.every((scope) => leaving.includes(scope))) return
    await this.#parts.view.transaction(async (tx) => {
      const noted = { ...(await readReach(tx)), leaving: rest.leaving, leftPaths: rest.leftPaths }
      // It may have left its set meanwhile.
      if (noted.reach !== undefined) tx.put(setPath('performance', 'reach'), encodeReach(noted))
    })
  }

  /**
   * What was leaving was removed, and forgotten up to an index of the log, all of it after so much news. With more of
   * it something may have been allowed and forbidden since: then it is here again, if only in the log. The same is true
   * of what this cluster has counted in it meanwhile.
   */
  async left(swept: Pick<NotedReach, 'leaving' | 'mustPurge'>, purgedAt: number, news: number): Promise<void> {
    const path = setPath('performance', 'reach')
    const isSame = news === this.#news
    const gone = new Set<string>()
    await this.#viewed(async (snapshot) => {
      for (const scope of isSame ? swept.leaving : []) if ((await keysIn(snapshot, scope)).length === 0) gone.add(scope)
    })
    await this.#parts.view.transaction(async (tx) => {
      const { reach, ...before } = await readReach(tx)
      const leaving = before.leaving.filter((scope) => !gone.has(scope))
      const leftPaths = leaving.length === 0 ? [] : before.leftPaths
      const mustPurge = before.mustPurge && !(isSame && swept.mustPurge)
      const noted = { reach, leaving, leftPaths, purgedAt, mustPurge }
      if (isTelling(noted)) tx.put(path, encodeReach(noted))
      else if ((await tx.get(path)) !== undefined) tx.delete(path)
    })
  }

  /**
   * What is here, or being removed, and what a cluster with this reach is not to have. `shown`: keys of the entries
   * without which nobody sees it. `isNew`: the store has nothing of before, not even in its log.
   */
  async restOf(
    reach: SetReach | undefined,
    isNew: boolean,
  ): Promise<Omit<NotedReach, 'reach'> & { readonly shown: readonly string[] }> {
    const before = await this.noted()
    if (reach === undefined) return { ...EVERYTHING, purgedAt: before.purgedAt, shown: [] }
    const isReached = reachedScopes(reach)
    // The log of one that had no filter may have what is here no more, as that of a former primary.
    const mustPurge = before.mustPurge || (before.reach === undefined && !isNew)
    const scopes = new Set([...before.leaving, ...(await this.#parts.store.scopes())])
    const leaving = new Set([...scopes].filter((scope) => !isReached(scope)))
    return this.#viewed(async (snapshot) => {
      const shown = await replicatedOf(
        snapshot,
        [...leaving].flatMap((scope) => placesOfScope(scope).shown),
      )
      const leftPaths = new Set(leaving.size === 0 ? [] : before.leftPaths)
      for (const key of shown) {
        if (namespaceEntryOf(key) !== undefined) continue
        const mount = await this.#mountAt(snapshot, key)
        leftPaths.add(`${namespaceOfKey(key)}/${mount.path}`)
        // One that has moved may have nothing at home but what this cluster keeps of it for itself.
        leaving.add(treeScopeOf(dataFolder(mount)))
      }
      return { leaving: [...leaving], leftPaths: [...leftPaths], purgedAt: before.purgedAt, mustPurge, shown }
    })
  }

  async #mountAt(snapshot: Snapshot, key: string): Promise<MountEntry> {
    const stored = (await snapshot.get(key)) ?? assert.fail('a snapshot does not change')
    return decodeMountEntry(this.#parts.barrier.open(key, stored))
  }

  /** Some keys of the replicated entries of a scope, and of what was kept for it here; none if there are none. */
  keysOf(scope: string): Promise<readonly string[]> {
    return this.#viewed((snapshot) => keysIn(snapshot, scope))
  }

  async #viewed<T>(read: (snapshot: Snapshot) => Promise<T>): Promise<T> {
    const snapshot = await this.#parts.store.snapshot()
    try {
      return await read(snapshot)
    } finally {
      await snapshot.close()
    }
  }
}

async function keysIn(snapshot: Snapshot, scope: string): Promise<readonly string[]> {
  const { keys, folders, spread } = placesOfScope(scope)
  const found = [...(await replicatedOf(snapshot, keys))]
  for (const folder of [...folders, ...(await foldersIn(snapshot, spread))]) {
    if (found.length >= KEYS_AT_ONCE) break
    for await (const { key, class: of } of leavesBelow(snapshot, folder)) {
      if (of === 'replicated' && treeScopeOf(key) === scope) found.push(key)
      if (found.length >= KEYS_AT_ONCE) break
    }
  }
  return found.length > 0 ? found : ownKeysIn(snapshot, folders)
}

async function foldersIn(
  snapshot: Snapshot,
  spread: ReturnType<typeof placesOfScope>['spread'],
): Promise<readonly string[]> {
  const found: string[] = []
  for (const { within, name } of spread)
    for (const kind of await snapshot.list(within)) if (kind.endsWith('/')) found.push(within + kind + name)
  return found
}

async function replicatedOf(snapshot: Snapshot, keys: readonly string[]): Promise<readonly string[]> {
  const heads = await snapshot.heads(keys)
  return keys.filter((_, at) => heads[at]?.class === 'replicated')
}

/** Some keys of what a cluster and a server keep for themselves in these folders. */
async function ownKeysIn(snapshot: Snapshot, folders: readonly string[]): Promise<readonly string[]> {
  const found: string[] = []
  for (const folder of folders)
    for (const own of OWN_PARTS)
      for (const { key } of await snapshot.scan(folder + own, '', KEYS_AT_ONCE)) found.push(key)
  return found
}

async function* leavesBelow(snapshot: Snapshot, folder: string): AsyncGenerator<KeyLeaf> {
  for (let after = folder; ; ) {
    const leaves = await snapshot.leaves(after, KEYS_AT_ONCE)
    for (const leaf of leaves) {
      if (!leaf.key.startsWith(folder)) return
      yield leaf
    }
    if (leaves.length < KEYS_AT_ONCE) return
    after = leaves.at(-1)?.key ?? ''
  }
}
