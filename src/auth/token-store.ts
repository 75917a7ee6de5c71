// Tokens: who a caller is, and until when. A token's text is known to its holder alone; storage knows a keyed hash of
// it (threats P-26).
//
//   root/sys/token/key                    the hash's key, made at initialisation
//   root/sys/token/id/HASH                the entry
//   root/sys/token/accessor/HASH          HASH of the token that has the accessor
//   root/sys/token/parent/HASH/CHILD      empty: the child falls with its parent
import type { KeyObject } from 'node:crypto'
import { fail } from '../api/errors.ts'
import { importSecret } from '../crypto/secret-key.ts'
import { fastDigest, keyedDigest } from '../crypto/token-digest.ts'
import { randomBase62 } from '../lib/base62.ts'
import { CoherentCache } from '../lib/coherent-cache.ts'
import type { World } from '../lib/world.ts'
import { ROOT_NAMESPACE, Sealed, systemScope } from '../storage/contract.ts'
import type { Invalidation } from '../storage/invalidation.ts'
import type { SealedStorage, View, ViewTransaction } from '../storage/sealed-storage.ts'
import { decodeTokenEntry, encodeTokenEntry, isExpired, type TokenEntry } from './token-entry.ts'

export const TOKEN_FOLDER = `${ROOT_NAMESPACE}/sys/token/`
/** The largest entry (meta, policies) is some 50 KB, most are half of one. */
const CACHED_TOKENS = 20_000
const ACCESSOR_LENGTH = 24
const TOKEN_PREFIX = 'hvs.'
const TOKEN_LENGTH = 24
/** Of the tokens made here, prefix included. */
export const NEW_TOKEN_LENGTH = TOKEN_PREFIX.length + TOKEN_LENGTH
const KEY_BYTES = 32
const REVOKE_PAGE = 500
const NOTHING = Buffer.alloc(0)

/** A token that may be used now. */
export type LiveToken = { readonly id: string; readonly entry: TokenEntry }

export class TokenStore {
  readonly #view: View
  readonly #world: World
  readonly #entries = new CoherentCache<TokenEntry>(CACHED_TOKENS)
  /** From a digest under a key of this process alone to the storage name: spares the slower keyed hash. */
  readonly #ids = new Map<string, string>()
  readonly #processKey: string
  #key: KeyObject | undefined

  constructor(storage: SealedStorage, world: World, invalidation: Invalidation) {
    this.#view = storage.view(systemScope, TOKEN_FOLDER)
    this.#world = world
    this.#processKey = world.random.bytes(KEY_BYTES).toString('hex')
    invalidation.register({
      prefix: 'sys/token/id/',
      changed: (id) => this.#entries.forget(id),
      reset: () => this.#entries.clear(),
    })
  }

  /** Part of the initialisation's one transaction; leaves the store open. */
  initialize(tx: ViewTransaction): void {
    const key = this.#world.random.bytes(KEY_BYTES)
    tx.put('key', key)
    this.#key = importSecret(key)
    key.fill(0)
  }

  /** After unseal. */
  async open(): Promise<void> {
    const bytes = await this.#view.get('key')
    if (bytes === undefined) throw new Error('The token store was never initialised')
    this.#key = importSecret(bytes)
    bytes.fill(0)
  }

  /** Before seal. */
  close(): void {
    this.#key = undefined
    this.#ids.clear()
    this.#entries.clear()
  }

  idOf(token: string): string {
    const digest = fastDigest(this.#processKey, token)
    const known = this.#ids.get(digest)
    if (known !== undefined) return known
    if (this.#key === undefined) throw new Sealed('The server is sealed')
    const id = keyedDigest(this.#key, token)
    if (this.#ids.size >= CACHED_TOKENS) this.#ids.clear()
    this.#ids.set(digest, id)
    return id
  }

  /** The token if it may be used now. Does not count the use. Waits only where something is not cached. */
  find(token: string): LiveToken | undefined | Promise<LiveToken | undefined> {
    return this.#find(this.idOf(token))
  }

  async findById(id: string): Promise<LiveToken | undefined> {
    return this.#find(id)
  }

  #find(id: string): LiveToken | undefined | Promise<LiveToken | undefined> {
    const entry = this.#entries.get(id, (key) => this.#read(key))
    return entry instanceof Promise ? entry.then((found) => this.#live(id, found)) : this.#live(id, entry)
  }

  #live(id: string, entry: TokenEntry | undefined): LiveToken | undefined | Promise<LiveToken | undefined> {
    if (entry === undefined || !this.#usable(entry)) return undefined
    const line = this.#lineAlive(entry)
    if (line === true) return { id, entry }
    return line === false ? undefined : line.then((alive) => (alive ? { id, entry } : undefined))
  }

  #usable(entry: TokenEntry): boolean {
    return entry.numUses >= 0 && !isExpired(entry, this.#world.clock.nowMs())
  }

  /** A token dies with any of its ancestors, at once: the removal of the tree below is only tidying up. */
  #lineAlive(entry: TokenEntry): boolean | Promise<boolean> {
    for (let at = entry; at.parent !== ''; ) {
      const parent = this.#entries.get(at.parent, (key) => this.#read(key))
      if (parent instanceof Promise) return parent.then((loaded) => this.#ancestorAlive(loaded))
      if (parent === undefined || isExpired(parent, this.#world.clock.nowMs())) return false
      at = parent
    }
    return true
  }

  #ancestorAlive(ancestor: TokenEntry | undefined): boolean | Promise<boolean> {
    if (ancestor === undefined || isExpired(ancestor, this.#world.clock.nowMs())) return false
    return this.#lineAlive(ancestor)
  }

  async findByAccessor(accessor: string): Promise<LiveToken | undefined> {
    const id = await this.#view.get(`accessor/${this.idOf(accessor)}`)
    return id === undefined ? undefined : this.findById(id.toString('latin1'))
  }

  async #read(id: string): Promise<TokenEntry | undefined> {
    const bytes = await this.#view.get(`id/${id}`)
    return bytes === undefined ? undefined : decodeTokenEntry(bytes)
  }

  /** The entry as the transaction sees it, if the token may be used. */
  async #readUsable(tx: ViewTransaction, id: string): Promise<TokenEntry | undefined> {
    const bytes = await tx.get(`id/${id}`)
    const entry = bytes === undefined ? undefined : decodeTokenEntry(bytes)
    return entry !== undefined && this.#usable(entry) ? entry : undefined
  }

  /**
   * Takes one use from a token that has a limited number, exactly, whatever happens at the same time. Undefined where
   * none was left. A token on its last use gets -1 and is to be revoked after the request.
   */
  takeUse(token: LiveToken): Promise<LiveToken | undefined> {
    return this.#view.transaction(async (tx) => {
      const current = await this.#readUsable(tx, token.id)
      if (current === undefined) return undefined
      if (current.numUses === 0) return { id: token.id, entry: current }
      const entry = { ...current, numUses: current.numUses === 1 ? -1 : current.numUses - 1 }
      tx.put(`id/${token.id}`, encodeTokenEntry(entry))
      return { id: token.id, entry }
    })
  }

  newToken(): string {
    return TOKEN_PREFIX + randomBase62(TOKEN_LENGTH, this.#world.random.bytes)
  }

  newAccessor(): string {
    return randomBase62(ACCESSOR_LENGTH, this.#world.random.bytes)
  }

  /** A new token with this entry. @throws Refusal where its parent is gone meanwhile */
  async issue(entry: TokenEntry): Promise<string> {
    const token = this.newToken()
    if (!(await this.insert(token, entry))) throw fail('permission_denied', [])
    return token
  }

  /** Stores a new token. False where `token` is taken, or its parent is gone meanwhile. */
  async insert(token: string, entry: TokenEntry): Promise<boolean> {
    return this.#view.transaction((tx) => this.insertWith(tx, token, entry))
  }

  async insertWith(tx: ViewTransaction, token: string, entry: TokenEntry): Promise<boolean> {
    const id = this.idOf(token)
    if ((await tx.get(`id/${id}`)) !== undefined) return false
    if (entry.parent !== '' && (await tx.get(`id/${entry.parent}`)) === undefined) return false
    tx.put(`id/${id}`, encodeTokenEntry(entry))
    tx.put(`accessor/${this.idOf(entry.accessor)}`, Buffer.from(id))
    if (entry.parent !== '') tx.put(`parent/${entry.parent}/${id}`, NOTHING)
    return true
  }

  /** Replaces the entry by what `change` makes of it; undefined where the token is not live, or `change` says so. */
  update(id: string, change: (entry: TokenEntry) => TokenEntry | undefined): Promise<TokenEntry | undefined> {
    return this.#view.transaction(async (tx) => {
      const entry = await this.#readUsable(tx, id)
      const changed = entry === undefined ? undefined : change(entry)
      if (changed !== undefined) tx.put(`id/${id}`, encodeTokenEntry(changed))
      return changed
    })
  }

  /**
   * Removes the token and all that descend from it, level by level. With the first commit the whole tree is dead,
   * because a token without its parent is; a stop in between leaves rubbish, not access.
   */
  async revoke(id: string): Promise<void> {
    const pending = [id]
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const current = next
      pending.push(...(await this.#view.transaction((tx) => this.#removeOne(tx, current))))
    }
  }

  /** Removes one token; returns the children that are still to go. */
  async #removeOne(tx: ViewTransaction, id: string): Promise<string[]> {
    const bytes = await tx.get(`id/${id}`)
    const children: string[] = []
    for (let after = ''; ; ) {
      const page = await tx.list(`parent/${id}/`, { after, limit: REVOKE_PAGE })
      children.push(...page)
      if (page.length < REVOKE_PAGE) break
      after = page.at(-1) as string
    }
    for (const child of children) tx.delete(`parent/${id}/${child}`)
    if (bytes !== undefined) {
      const entry = decodeTokenEntry(bytes)
      tx.delete(`id/${id}`)
      tx.delete(`accessor/${this.idOf(entry.accessor)}`)
      if (entry.parent !== '') tx.delete(`parent/${entry.parent}/${id}`)
    }
    return children
  }
}
