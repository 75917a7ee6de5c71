// The tree over the leaves of all entries. Two stores compare their roots instead of their entries. If the roots
// differ, the tree tells in which few keys. Pure: commits change it, and storage gets its pages
// (docs/storage-format.md).
//
//   bucket    first 16 bits of HMAC-SHA-256(bucket key, key): high byte the page, low byte the place in it
//   digest    XOR of the leaves of the bucket's entries. Leaves are keyed and each is there once, so only a holder of
//             the key can bring a digest to a wanted value
//   page      ( place u8 | digest 16 ) ..., in the order of places, empty buckets left out
//   scope     SHA-256 over ( page u8 | SHA-256(page) 32 ) ..., empty pages left out
//   class     SHA-256 over ( length u16 | scope's name | scope's hash 32 ) ..., in the order of names
//   all       SHA-256( class replicated | class local )
import { strict as assert } from 'node:assert'
import type { KeyObject } from 'node:crypto'
import { deriveKey } from '../../crypto/primitives/derivation.ts'
import { hmacSha256, sha256 } from '../../crypto/primitives/digest.ts'
import {
  entriesOfMount,
  entriesOfNamespace,
  FOLDERS_OF_ALL,
  filteredMountOf,
  filteredNamespaceOf,
  namespaceEntryOf,
} from '../classes.ts'
import {
  type ChangeOperation,
  type PageAddress,
  ROOT_NAMESPACE,
  SYSTEM_SCOPE,
  type TreeClass,
  type TreePage,
  type TreeRoots,
} from '../contract.ts'
import { compareKeys } from '../key-order.ts'
import { LEAF_BYTES } from './leaf.ts'

/** The classes in the order in which the root over all of them is hashed. */
export const TREE_CLASSES: readonly TreeClass[] = ['replicated', 'local']

/** A bucket. `place` is its number in the page, 0 to 255. */
export type BucketAddress = PageAddress & { readonly place: number }

/** Bytes that a bucket takes in a page: its place and its digest. */
export const PAGE_ENTRY_BYTES = 1 + LEAF_BYTES
const PAGES = 256
const BUCKETS_PER_PAGE = 256
const BUCKET_KEY_BYTES = 32
const BUCKET_KEY_INFO = Buffer.from('keywright tree buckets')
const EMPTY = Buffer.alloc(0)
const NO_DIGEST = Buffer.alloc(LEAF_BYTES)

/**
 * The key that assigns entries to buckets. Derived from the leaf key, so nothing more is stored. Without it a writer
 * cannot choose names that fall into one bucket.
 */
export function bucketKeyOf(leafKey: KeyObject): KeyObject {
  return deriveKey(leafKey, BUCKET_KEY_INFO, BUCKET_KEY_BYTES)
}

/** Number of the key's bucket among the 65,536 of its scope. */
export function bucketOf(bucketKey: KeyObject, key: string): number {
  return hmacSha256(bucketKey, Buffer.from(key)).readUInt16BE(0)
}

/** Version of the scopes that `treeScopeOf` makes. Saved pages of another version are of another tree. */
export const TREE_VERSION = 4

/**
 * The part of the tree that an entry belongs to: one for each mount, one for the entry of each namespace, and one for
 * the rest of each namespace. Filters of replication name mounts and namespaces, so two clusters can compare what both
 * of them have. A change here needs a new TREE_VERSION.
 */
export function treeScopeOf(key: string): string {
  const entry = namespaceEntryOf(key)
  return entry === undefined ? `${filteredNamespaceOf(key)}/${filteredMountOf(key)}` : ENTRY_SCOPES + entry
}

/** How scopes begin that are of the entry of one namespace; its `PARENT/NAME` follows. */
export const ENTRY_SCOPES = `${ROOT_NAMESPACE}/namespace/`

/** Picks scopes by their names. */
type IsWanted = (scope: string) => boolean
const isAny: IsWanted = () => true

/** Where the entries of a scope lie: all of them have one of these keys, or lie in one of these folders. */
type PlacesOfScope = {
  readonly folders: readonly string[]
  /** In each folder that lies directly in `within`, the one of this name is such a folder too. */
  readonly spread: readonly { readonly within: string; readonly name: string }[]
  readonly keys: readonly string[]
  /** The keys without which nobody sees the rest. */
  readonly shown: readonly string[]
}

/** Where the entries of a scope lie. Entries of other scopes may be there too. */
export function placesOfScope(scope: string): PlacesOfScope {
  const slash = scope.indexOf('/')
  const [namespace, of] = [scope.slice(0, slash), scope.slice(slash + 1)]
  if (of === SYSTEM_SCOPE) {
    const spread = FOLDERS_OF_ALL.map((within) => ({ within, name: `${namespace}/` }))
    return { folders: [`${namespace}/sys/`, `${namespace}/core/`], spread, keys: [], shown: [] }
  }
  if (scope.startsWith(ENTRY_SCOPES)) {
    const keys = entriesOfNamespace(scope.slice(ENTRY_SCOPES.length))
    return { folders: [], spread: [], keys, shown: keys }
  }
  const keys = entriesOfMount(namespace, of)
  const shown = keys.filter((key) => key.startsWith(`${namespace}/core/mounts/`))
  return { folders: [`${namespace}/logical/${of}/`, `${namespace}/auth/${of}/`], spread: [], keys, shown }
}

/** `hash` is computed when it is first needed; undefined after a change. */
type Page = { digests: Buffer; hash: Buffer | undefined; isChanged: boolean }
type Scope = { readonly pages: Map<number, Page>; hash: Buffer | undefined }

/** Told of a key that came (`isThere`) or went. */
type KeyMoved = (key: string, bucket: number, isThere: boolean) => void

/** Hashes pages only when roots are asked for, and only those that changed. A commit costs an HMAC and XORs. */
export class Tree {
  /** The tree of these pages. The caller has checked them with `faultOfPage`. */
  static of(pages: readonly TreePage[]): Tree {
    const tree = new Tree()
    for (const page of pages) tree.load(page)
    return tree
  }

  readonly #scopes: Readonly<Record<TreeClass, Map<string, Scope>>> = { replicated: new Map(), local: new Map() }

  /**
   * Applies the operations of a commit. An `oldLeaf` that is not in the tree makes it wrong, and nothing notices.
   * `moved` hears of each key that came or went.
   */
  apply(operations: readonly ChangeOperation[], bucketKey: KeyObject, moved?: KeyMoved): void {
    for (const { class: storageClass, key, oldLeaf, newLeaf } of operations) {
      if (storageClass === 'ignored') continue
      const bucket = bucketOf(bucketKey, key)
      for (const leaf of [oldLeaf, newLeaf]) this.#toggle(storageClass, treeScopeOf(key), bucket, leaf)
      if (oldLeaf.length !== newLeaf.length) moved?.(key, bucket, newLeaf.length > 0)
    }
  }

  /** The digest of a bucket, zero if nothing is in it. */
  digest({ class: storageClass, scope, page, place }: BucketAddress): Buffer {
    return digestAt(digestsOf(this.#scopes[storageClass].get(scope), page), place)
  }

  /**
   * Adds the leaf of an entry, which must not be in the tree yet: a second time would take it away. Returns its bucket.
   */
  add(storageClass: TreeClass, key: string, leaf: Buffer, bucketKey: KeyObject): number {
    const bucket = bucketOf(bucketKey, key)
    this.#toggle(storageClass, treeScopeOf(key), bucket, leaf)
    return bucket
  }

  /** Adds a leaf or takes it away: XOR does both. An empty leaf stands for no leaf and changes nothing. */
  #toggle(storageClass: TreeClass, scopeName: string, bucket: number, leaf: Buffer): void {
    if (leaf.length === 0) return
    assert(leaf.length === LEAF_BYTES)
    const scope = this.#scope(storageClass, scopeName)
    const page = pageOf(scope, bucket >>> 8)
    page.digests = toggled(page.digests, bucket & 0xff, leaf)
    page.hash = undefined
    page.isChanged = true
    scope.hash = undefined
  }

  /** The roots that the tree would have if only the wanted scopes were in it. */
  roots(isWanted: IsWanted = isAny): TreeRoots {
    const [replicated, local] = [this.#classRoot('replicated', isWanted), this.#classRoot('local', isWanted)]
    return { replicated, local, all: sha256(replicated, local) }
  }

  /** Names of the scopes that hold something, in the order of their bytes. */
  scopes(storageClass: TreeClass): string[] {
    const scopes = [...this.#scopes[storageClass]].filter(([, scope]) => !isEmpty(scope))
    return scopes.map(([name]) => name).sort(compareKeys)
  }

  /** Hash of a scope; undefined if nothing is in it. */
  scopeRoot(storageClass: TreeClass, name: string): Buffer | undefined {
    const scope = this.#scopes[storageClass].get(name)
    return scope === undefined || isEmpty(scope) ? undefined : scopeHash(scope)
  }

  /** Hashes of the pages of a scope that hold something, by their numbers. */
  pageHashes(storageClass: TreeClass, name: string): ReadonlyMap<number, Buffer> {
    const scope = this.#scopes[storageClass].get(name)
    const pages = [...(scope?.pages ?? [])].filter(([, page]) => page.digests.length > 0)
    return new Map(pages.map(([number, page]) => [number, pageHash(page)]))
  }

  /** The page with a copy of its digests; none if it holds nothing. */
  page({ class: storageClass, scope, page }: PageAddress): TreePage {
    const digests = Buffer.from(digestsOf(this.#scopes[storageClass].get(scope), page))
    return { class: storageClass, scope, page, digests }
  }

  /** The buckets in which two trees differ. */
  differences(other: Tree): BucketAddress[] {
    return TREE_CLASSES.flatMap((storageClass) => {
      const names = new Set([...this.scopes(storageClass), ...other.scopes(storageClass)])
      return [...names].sort(compareKeys).flatMap((scope) => this.#scopeDifferences(other, storageClass, scope))
    })
  }

  /** All pages that hold something, as copies. */
  pages(): TreePage[] {
    return this.#collect((page) => page.digests.length > 0)
  }

  /** Copies of the pages that changed since the last call, or since they were loaded; emptied pages have no digests. */
  takeChangedPages(): TreePage[] {
    const changed = this.#collect((page) => page.isChanged)
    for (const storageClass of TREE_CLASSES) {
      for (const scope of this.#scopes[storageClass].values()) forgetChanges(scope)
    }
    return changed
  }

  /** Sets a page as it was stored. The caller has checked it with `faultOfPage`. */
  load({ class: storageClass, scope: name, page: number, digests }: TreePage): void {
    const scope = this.#scope(storageClass, name)
    scope.pages.set(number, { digests: Buffer.from(digests), hash: undefined, isChanged: false })
    scope.hash = undefined
  }

  /** Sets a page to what it should be. It counts as changed. */
  change({ class: storageClass, scope: name, page: number, digests }: TreePage): void {
    const scope = this.#scope(storageClass, name)
    scope.pages.set(number, { digests: Buffer.from(digests), hash: undefined, isChanged: true })
    scope.hash = undefined
  }

  /** Hashes that are kept of a scope and are not those of what they are over. */
  staleHashes(storageClass: TreeClass, name: string): { readonly isScope: boolean; readonly pages: readonly number[] } {
    const scope = this.#scopes[storageClass].get(name)
    if (scope === undefined) return { isScope: false, pages: [] }
    const fresh: Scope = { pages: new Map(), hash: undefined }
    for (const [number, { digests }] of scope.pages) {
      fresh.pages.set(number, { digests, hash: undefined, isChanged: false })
    }
    const isScope = scope.hash !== undefined && !scope.hash.equals(scopeHash(fresh))
    const stale = [...scope.pages].filter(
      ([, { hash, digests }]) => hash !== undefined && !hash.equals(sha256(digests)),
    )
    return { isScope, pages: stale.map(([number]) => number).sort((a, b) => a - b) }
  }

  /** All hashes of a scope are computed anew. */
  forgetHashes(storageClass: TreeClass, name: string): void {
    const scope = this.#scopes[storageClass].get(name)
    if (scope === undefined) return
    scope.hash = undefined
    for (const page of scope.pages.values()) page.hash = undefined
  }

  copy(): Tree {
    return Tree.of(this.pages())
  }

  #scope(storageClass: TreeClass, name: string): Scope {
    let scope = this.#scopes[storageClass].get(name)
    if (scope === undefined) {
      scope = { pages: new Map(), hash: undefined }
      this.#scopes[storageClass].set(name, scope)
    }
    return scope
  }

  #classRoot(storageClass: TreeClass, isWanted: IsWanted): Buffer {
    const names = this.scopes(storageClass).filter((name) => isWanted(name))
    const parts = names.flatMap((name) => {
      const length = Buffer.alloc(2)
      length.writeUInt16BE(Buffer.byteLength(name))
      return [length, Buffer.from(name), scopeHash(this.#scope(storageClass, name))]
    })
    return sha256(EMPTY, ...parts)
  }

  /** The buckets of a scope in which two trees differ. Their digests alone are compared. */
  scopeDifferences(other: Tree, storageClass: TreeClass, scope: string): BucketAddress[] {
    return differencesOf(this.#scopes[storageClass].get(scope), other.#scopes[storageClass].get(scope), {
      class: storageClass,
      scope,
    })
  }

  #scopeDifferences(other: Tree, storageClass: TreeClass, scope: string): BucketAddress[] {
    const [mine, theirs] = [this.#scopes[storageClass].get(scope), other.#scopes[storageClass].get(scope)]
    if (mine !== undefined && theirs !== undefined && scopeHash(mine).equals(scopeHash(theirs))) return []
    return differencesOf(mine, theirs, { class: storageClass, scope })
  }

  #collect(isWanted: (page: Page) => boolean): TreePage[] {
    const found: TreePage[] = []
    for (const storageClass of TREE_CLASSES) {
      for (const [scope, { pages }] of this.#scopes[storageClass]) {
        for (const [number, page] of pages) {
          if (isWanted(page)) {
            found.push({ class: storageClass, scope, page: number, digests: Buffer.from(page.digests) })
          }
        }
      }
    }
    return found
  }
}

function differencesOf(
  mine: Scope | undefined,
  theirs: Scope | undefined,
  of: Pick<BucketAddress, 'class' | 'scope'>,
): BucketAddress[] {
  const differences: BucketAddress[] = []
  for (let page = 0; page < PAGES; page++) {
    const [here, there] = [digestsOf(mine, page), digestsOf(theirs, page)]
    for (const place of differingPlaces(here, there)) differences.push({ ...of, page, place })
  }
  return differences
}

/** The buckets in which two pages differ, by their places. Both are sound (`faultOfPage`). */
export function differingPlaces(here: Buffer, there: Buffer): number[] {
  if (here.equals(there)) return []
  const places = Array.from({ length: BUCKETS_PER_PAGE }, (_, place) => place)
  return places.filter((place) => !digestAt(here, place).equals(digestAt(there, place)))
}

/** Why a stored page is damaged, to follow its name in a sentence; undefined for a good one. */
export function faultOfPage({ page, digests }: TreePage): string | undefined {
  if (page < 0 || page >= PAGES || digests.length % PAGE_ENTRY_BYTES !== 0) return 'has a wrong number or length'
  for (let at = 0; at < digests.length; at += PAGE_ENTRY_BYTES) {
    if (at > 0 && digests.readUInt8(at) <= digests.readUInt8(at - PAGE_ENTRY_BYTES)) return 'is out of order'
    if (digests.subarray(at + 1, at + PAGE_ENTRY_BYTES).equals(NO_DIGEST)) return 'holds an empty bucket'
  }
  return undefined
}

function pageOf(scope: Scope, number: number): Page {
  let page = scope.pages.get(number)
  if (page === undefined) {
    page = { digests: EMPTY, hash: undefined, isChanged: false }
    scope.pages.set(number, page)
  }
  return page
}

/** Empty pages were kept until now so that the save could remove them from storage. */
function forgetChanges(scope: Scope): void {
  for (const [number, page] of scope.pages) {
    page.isChanged = false
    if (page.digests.length === 0) scope.pages.delete(number)
  }
}

function isEmpty(scope: Scope): boolean {
  for (const { digests } of scope.pages.values()) if (digests.length > 0) return false
  return true
}

function scopeHash(scope: Scope): Buffer {
  if (scope.hash !== undefined) return scope.hash
  const parts: Buffer[] = []
  for (const number of [...scope.pages.keys()].sort((a, b) => a - b)) {
    const page = scope.pages.get(number)
    if (page === undefined || page.digests.length === 0) continue
    parts.push(Buffer.from([number]), pageHash(page))
  }
  scope.hash = sha256(EMPTY, ...parts)
  return scope.hash
}

function pageHash(page: Page): Buffer {
  page.hash ??= sha256(page.digests)
  return page.hash
}

function digestsOf(scope: Scope | undefined, page: number): Buffer {
  return scope?.pages.get(page)?.digests ?? EMPTY
}

/** Offset at which the entry of `place` stands or would be inserted, by binary search. */
function offsetOf(digests: Buffer, place: number): number {
  let low = 0
  let high = digests.length / PAGE_ENTRY_BYTES
  while (low < high) {
    const middle = (low + high) >>> 1
    if (digests.readUInt8(middle * PAGE_ENTRY_BYTES) < place) low = middle + 1
    else high = middle
  }
  return low * PAGE_ENTRY_BYTES
}

function digestAt(digests: Buffer, place: number): Buffer {
  const at = offsetOf(digests, place)
  return digests[at] === place ? digests.subarray(at + 1, at + PAGE_ENTRY_BYTES) : NO_DIGEST
}

/** Toggles a leaf in the digests of a page: in place if the bucket stays, otherwise in a longer or shorter copy. */
function toggled(digests: Buffer, place: number, leaf: Buffer): Buffer {
  const at = offsetOf(digests, place)
  if (digests[at] !== place) {
    return Buffer.concat([digests.subarray(0, at), Buffer.from([place]), leaf, digests.subarray(at)])
  }
  let rest = 0
  for (let byte = 0; byte < LEAF_BYTES; byte++) {
    const mixed = digests.readUInt8(at + 1 + byte) ^ leaf.readUInt8(byte)
    digests.writeUInt8(mixed, at + 1 + byte)
    rest |= mixed
  }
  return rest === 0 ? Buffer.concat([digests.subarray(0, at), digests.subarray(at + PAGE_ENTRY_BYTES)]) : digests
}
