// Makes, changes, locks and marks namespaces for deletion: on the writing thread alone, each in one transaction.
import { fail } from '../api/errors.ts'
import type { Namespace, Namespaces } from '../api/namespace.ts'
import { constantTimeEqual } from '../crypto/primitives/constant-time.ts'
import { sha256 } from '../crypto/primitives/digest.ts'
import { randomBase62 } from '../lib/base62.ts'
import type { World } from '../lib/world.ts'
import { type Reader, systemScope } from '../storage/contract.ts'
import type { Folders, Guard, SealedStorage, View, ViewTransaction } from '../storage/sealed-storage.ts'
import { MAX_DEPTH, MAX_PATH_LENGTH } from './names.ts'
import type { NamespaceTable } from './namespace-table.ts'
import {
  GONE_NAMESPACES,
  LEAVING_FOLDER,
  NAMESPACE,
  NAMESPACE_FOLDER,
  namespaceKey,
  type StoredNamespace,
} from './records.ts'

const ID_LENGTH = 6
const NOTHING = Buffer.alloc(0)
const UNLOCK_KEY_LENGTH = 24
/** Bounds of metadata, as other servers of this API document them for metadata elsewhere. */
const MAX_METADATA = { pairs: 64, keyBytes: 128, valueBytes: 512 }

/** Pairs to set; null removes one. */
export type MetadataChange = Readonly<Record<string, string | null>>

/** Returns the path, within the parent, of a mount that is in the way of a namespace of this name. */
export type MountInTheWay = (folders: Folders, parent: Namespace, name: string) => Promise<string | undefined>

/** What a namespace is made of, and how it changes. */
export class NamespaceStore {
  readonly #storage: SealedStorage
  readonly #view: View
  readonly #table: NamespaceTable
  readonly #world: World
  readonly #mountInTheWay: MountInTheWay

  constructor(storage: SealedStorage, table: NamespaceTable, world: World, mountInTheWay: MountInTheWay) {
    this.#storage = storage
    this.#view = storage.view(systemScope, NAMESPACE_FOLDER)
    this.#table = table
    this.#world = world
    this.#mountInTheWay = mountInTheWay
  }

  /**
   * Makes the namespace, or replaces the metadata of the one that is there. `name` has passed `namespaceName`.
   * @throws Refusal if a mount is in the way, for a tree that would be too deep, and while one of the name is going
   */
  async write(parent: Namespace, name: string, metadata: Readonly<Record<string, string>>): Promise<Namespace> {
    requireMetadata(metadata)
    await this.#storage.transaction(async (folders) => {
      const tx = folders.at(systemScope, NAMESPACE_FOLDER)
      const key = namespaceKey({ parent: parent.id, name })
      const leaving = await folders.at(systemScope, LEAVING_FOLDER).get(key)
      // Wire text.
      if (leaving !== undefined)
        throw fail('path_in_use', ['namespace with that name exists and is currently tainted: it is being deleted'])
      const before = await entryAt(tx, key)
      if (before !== undefined) {
        tx.put(key, NAMESPACE.encode({ ...before, customMetadata: metadata }))
        return
      }
      await requireAlive(folders.raw, parent)
      requireRoom(parent, name)
      const mount = await this.#mountInTheWay(folders, parent, name)
      // Wire text.
      if (mount !== undefined) throw fail('path_in_use', [`new namespace conflicts with existing mount: ${mount}`])
      tx.put(key, NAMESPACE.encode(this.#newEntry(parent, name, metadata)))
    })
    return this.#named(parent, name)
  }

  #newEntry(parent: Namespace, name: string, customMetadata: Readonly<Record<string, string>>): StoredNamespace {
    const { random } = this.#world
    let id = randomBase62(ID_LENGTH, random.bytes)
    while (this.#table.byId(id) !== undefined) id = randomBase62(ID_LENGTH, random.bytes)
    const uuid = random.uuid()
    return { format: 1, id, uuid, parent: parent.id, name, customMetadata, lockDigest: null }
  }

  /** Merges into the metadata; undefined: nothing changes, null: all of it goes. @throws Refusal if there is none */
  async patch(parent: Namespace, name: string, change: MetadataChange | null | undefined): Promise<Namespace> {
    await this.#change(parent, name, (before) => {
      const kept = change === null ? {} : { ...before.customMetadata, ...change }
      const customMetadata = Object.fromEntries(
        Object.entries(kept).filter((pair): pair is [string, string] => pair[1] !== null),
      )
      requireMetadata(customMetadata)
      return { ...before, customMetadata }
    })
    return this.#named(parent, name)
  }

  /** Keeps all requests out. Returns the key that lets them in again. @throws Refusal for the root, or if locked */
  async lock(namespace: Namespace): Promise<string> {
    const locked = lockedAround(namespace)
    // Wire text.
    if (locked !== undefined)
      throw fail('namespace_lock', [`cannot lock namespace "${namespace.path}": is already locked at "${locked.path}"`])
    const key = randomBase62(UNLOCK_KEY_LENGTH, this.#world.random.bytes)
    await this.#change(requireParent(namespace), namespace.name, (before) => {
      if (before.lockDigest !== null) throw fail('namespace_lock', [`namespace "${namespace.path}" is already locked`])
      return { ...before, lockDigest: digestOf(key) }
    })
    return key
  }

  /** Lets requests in again. `key` undefined: the caller may do so without. @throws Refusal for a wrong key */
  async unlock(namespace: Namespace, key: string | undefined): Promise<void> {
    const { parent } = namespace
    const above = parent && lockedAround(parent)
    if (above !== undefined)
      throw fail('namespace_lock', [`cannot unlock "${namespace.path}": "${above.path}" must be unlocked first`])
    await this.#change(requireParent(namespace), namespace.name, (before) => {
      if (before.lockDigest === null) throw fail('namespace_lock', [`namespace "${namespace.path}" is not locked`])
      const isRight = key === undefined || constantTimeEqual(Buffer.from(digestOf(key)), Buffer.from(before.lockDigest))
      if (!isRight) throw fail('namespace_lock', ['incorrect unlock key']) // Wire text.
      return { ...before, lockDigest: null }
    })
  }

  /**
   * Marks it for deletion: from then on it takes no requests. Returns undefined if there is none.
   * @throws Refusal if any is below
   */
  async beginDeletion(parent: Namespace, name: string): Promise<Namespace | undefined> {
    await this.#storage.transaction(async (folders) => {
      const tx = folders.at(systemScope, NAMESPACE_FOLDER)
      const leaving = folders.at(systemScope, LEAVING_FOLDER)
      const key = namespaceKey({ parent: parent.id, name })
      const before = await entryAt(tx, key)
      if (before === undefined) return
      for (const inside of [tx, leaving])
        if ((await inside.list(`${before.id}/`, { limit: 1 })).length > 0)
          throw fail('namespace_not_empty', [`${parent.path}${name}/`])
      tx.delete(key)
      leaving.put(key, NAMESPACE.encode(before))
    })
    await this.#table.refresh()
    return this.#table.byPath(`${parent.path}${name}/`)
  }

  /** Removes the entry, once nothing else is left of the namespace. `isNoted`: the id stays, for other clusters. */
  async endDeletion(namespace: Namespace, isNoted: boolean): Promise<void> {
    const key = namespaceKey({ parent: requireParent(namespace).id, name: namespace.name })
    await this.#storage.transaction(async (folders) => {
      folders.at(systemScope, LEAVING_FOLDER).delete(key)
      if (isNoted) folders.at(systemScope, GONE_NAMESPACES).put(namespace.id, NOTHING)
    })
    await this.#table.refresh()
  }

  async #change(parent: Namespace, name: string, change: (before: StoredNamespace) => StoredNamespace): Promise<void> {
    await this.#view.transaction(async (tx) => {
      const key = namespaceKey({ parent: parent.id, name })
      const before = await entryAt(tx, key)
      if (before === undefined) throw fail('bad_namespace', [])
      tx.put(key, NAMESPACE.encode(change(before)))
    })
    await this.#table.refresh()
  }

  async #named(parent: Namespace, name: string): Promise<Namespace> {
    await this.#table.refresh()
    const found = this.#table.byPath(`${parent.path}${name}/`)
    if (found === undefined) throw fail('bad_namespace', [])
    return found
  }
}

/** The topmost locked namespace among this one and those that it lies in. */
export function lockedAround(namespace: Namespace): Namespace | undefined {
  let locked: Namespace | undefined
  for (let at: Namespace | undefined = namespace; at !== undefined; at = at.parent) if (at.isLocked) locked = at
  return locked
}

/** @throws Refusal for the root, which nothing can be done to */
function requireParent({ parent }: Namespace): Namespace {
  if (parent === undefined) throw fail('namespace_lock', ['root namespace cannot be locked/unlocked']) // Wire text.
  return parent
}

async function entryAt(tx: Pick<ViewTransaction, 'get'>, key: string): Promise<StoredNamespace | undefined> {
  const bytes = await tx.get(key)
  return bytes === undefined ? undefined : NAMESPACE.decode(bytes)
}

/**
 * Reads the namespace in the transaction, so that a deletion that begins meanwhile makes it lose.
 * @throws Refusal if the namespace is gone, or going
 */
export async function requireAlive(raw: Pick<Reader, 'get'>, { parent, name }: Namespace): Promise<void> {
  if (parent === undefined) return
  const key = NAMESPACE_FOLDER + namespaceKey({ parent: parent.id, name })
  if ((await raw.get(key)) === undefined) throw fail('bad_namespace', [])
}

/** Forbids the transactions of a view as soon as the namespace with this id is being deleted, or gone. */
export const unlessGoing =
  (namespaces: Namespaces, id: string): Guard =>
  async (raw) => {
    const namespace = namespaces.byId(id)
    if (namespace === undefined) throw fail('bad_namespace', [])
    await requireAlive(raw, namespace)
  }

function requireRoom(parent: Namespace, name: string): void {
  const path = `${parent.path}${name}/`
  const depth = path.split('/').length - 1
  if (depth > MAX_DEPTH) throw fail('limit_reached', [`namespaces lie at most ${MAX_DEPTH} levels deep`])
  if (path.length > MAX_PATH_LENGTH)
    throw fail('limit_reached', [`the path of a namespace has at most ${MAX_PATH_LENGTH} characters`])
}

/** @throws Refusal naming the bound that is exceeded */
function requireMetadata(metadata: Readonly<Record<string, string>>): void {
  const { pairs, keyBytes, valueBytes } = MAX_METADATA
  const given = Object.entries(metadata)
  const tooMany = given.length > pairs && `has more than ${pairs} pairs`
  const tooLong =
    given.some(([key, value]) => Buffer.byteLength(key) > keyBytes || Buffer.byteLength(value) > valueBytes) &&
    `has a key of more than ${keyBytes} bytes, or a value of more than ${valueBytes}`
  const fault = tooMany || tooLong
  if (fault !== false) throw fail('field_invalid', ['custom_metadata', fault])
}

const digestOf = (key: string): string => sha256(Buffer.from(key)).toString('hex')
