// The namespaces as one thread knows them. They are read when the server opens, and again one by one as they change.
import { type Namespace, type Namespaces, ROOT } from '../api/namespace.ts'
import { ROOT_NAMESPACE, systemScope } from '../storage/contract.ts'
import type { Invalidation } from '../storage/invalidation.ts'
import type { SealedStorage, View } from '../storage/sealed-storage.ts'
import { LEAVING_FOLDER, NAMESPACE, NAMESPACE_FOLDER, type StoredNamespace } from './records.ts'

const CORE = `${ROOT_NAMESPACE}/core/`
const FOLDERS = [NAMESPACE_FOLDER, LEAVING_FOLDER].map((folder) => folder.slice(CORE.length))
const [, LEAVING = ''] = FOLDERS

/** The tree of one thread. */
export class NamespaceTable implements Namespaces {
  readonly #view: View
  /** By the key of the entry, below `CORE`. */
  readonly #stored = new Map<string, StoredNamespace>()
  readonly #made: Made = new WeakMap()
  /** Such keys that changed since the last load; undefined: all must be read. */
  #changed: Set<string> | undefined
  #tree = treeOf(new Map())
  #generation = 0
  #refreshing: Promise<void> | undefined

  constructor(storage: SealedStorage, invalidation: Invalidation) {
    this.#view = storage.view(systemScope, CORE)
    const reset = () => this.#reset()
    for (const folder of FOLDERS)
      invalidation.register({ prefix: `core/${folder}`, changed: (rest) => this.#changed?.add(folder + rest), reset })
  }

  /** At seal nothing is known any more. */
  #reset(): void {
    this.#changed = undefined
    this.#stored.clear()
    this.#replace()
  }

  #replace(): void {
    this.#tree = treeOf(this.#stored, this.#made)
    this.#generation++
  }

  get generation(): number {
    return this.#generation
  }

  get stale(): boolean {
    return this.#refreshing !== undefined || this.#changed === undefined || this.#changed.size > 0
  }

  /** Resolves when the tree has the changes that this thread knew of at the call. @throws Sealed */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#loadUntilFresh().finally(() => {
      this.#refreshing = undefined
    })
    return this.#refreshing
  }

  async #loadUntilFresh(): Promise<void> {
    do await this.#load()
    while (this.#changed === undefined || this.#changed.size > 0)
  }

  async #load(): Promise<void> {
    const changed = this.#changed
    this.#changed = new Set()
    try {
      if (changed === undefined) this.#stored.clear()
      for (const key of changed ?? (await this.#keys())) {
        const bytes = await this.#view.get(key)
        if (bytes === undefined) this.#stored.delete(key)
        else this.#stored.set(key, NAMESPACE.decode(bytes))
      }
      // A reset meanwhile has emptied all of it: what was read since is not whole.
      if (this.#changed !== undefined) this.#replace()
    } catch (cause) {
      this.#changed = undefined
      throw cause
    }
  }

  async #keys(): Promise<string[]> {
    const keys: string[] = []
    for (const folder of FOLDERS) {
      for (const parent of await this.#view.list(folder))
        for (const name of await this.#view.list(folder + parent)) keys.push(folder + parent + name)
    }
    return keys
  }

  get count(): number {
    return this.#tree.byId.size - 1
  }

  byId(id: string): Namespace | undefined {
    return this.#tree.byId.get(id)
  }

  byPath(path: string): Namespace | undefined {
    return this.#tree.byPath.get(path)
  }

  around(fullPath: string): Namespace {
    const { byPath } = this.#tree
    let found = ROOT
    if (byPath.size === 1) return found
    for (let slash = fullPath.indexOf('/'); slash !== -1; slash = fullPath.indexOf('/', slash + 1)) {
      const inner = byPath.get(fullPath.slice(0, slash + 1))
      if (inner === undefined) return found
      found = inner
    }
    return found
  }

  children(of: Namespace): readonly Namespace[] {
    return this.#tree.children.get(of.id) ?? []
  }

  below(of: Namespace): readonly Namespace[] {
    return this.children(of).flatMap((child) => [child, ...this.below(child)])
  }
}

type Found = { readonly stored: StoredNamespace; readonly isGoing: boolean }

type Tree = {
  readonly byId: ReadonlyMap<string, Namespace>
  readonly byPath: ReadonlyMap<string, Namespace>
  readonly children: ReadonlyMap<string, readonly Namespace[]>
}

/** Puts the entries together from the root on. One whose parent is not there is reachable by nothing, and left out. */
function treeOf(stored: ReadonlyMap<string, StoredNamespace>, made: Made = new WeakMap()): Tree {
  const byParent = new Map<string, Found[]>()
  for (const [key, one] of stored) {
    const others = byParent.get(one.parent) ?? []
    byParent.set(one.parent, others)
    others.push({ stored: one, isGoing: key.startsWith(LEAVING) })
  }
  const byId = new Map([[ROOT.id, ROOT]])
  const byPath = new Map([[ROOT.path, ROOT]])
  const children = new Map<string, readonly Namespace[]>()
  for (const parent of byId.values()) {
    const inner = (byParent.get(parent.id) ?? []).map((one) => namespaceOf(one, parent, made))
    inner.sort((one, other) => (one.name < other.name ? -1 : 1))
    children.set(parent.id, inner)
    for (const one of inner) {
      byId.set(one.id, one)
      byPath.set(one.path, one)
    }
  }
  return { byId, byPath, children }
}

/** What was made of an entry as it is stored now. */
type Made = WeakMap<StoredNamespace, Namespace>

/** A stored namespace as the program has it: the same object as before where nothing of it has changed. */
function namespaceOf({ stored, isGoing }: Found, parent: Namespace, made: Made): Namespace {
  const before = made.get(stored)
  if (before?.parent === parent && before.isGoing === isGoing) return before
  const { id, uuid, name, customMetadata, lockDigest } = stored
  const path = `${parent.path}${name}/`
  const isLocked = lockDigest !== null
  const namespace = Object.freeze({ id, uuid, name, path, parent, customMetadata, isLocked, isGoing })
  made.set(stored, namespace)
  return namespace
}
