// Tokens: who a caller is, and until when. Only the holder of a token knows its text; storage has a keyed hash of it
// (threats P-26). token-keys.ts says what is stored where.
import type { KeyObject } from 'node:crypto'
import { fail } from '../api/errors.ts'
import { type Namespace, type Namespaces, ROOT_ID, splitId } from '../api/namespace.ts'
import { importSecret } from '../crypto/primitives/secret-key.ts'
import { fastDigest, keyedDigest } from '../crypto/token-digest.ts'
import { CoherentCache, type Lookups } from '../lib/coherent-cache.ts'
import type { World } from '../lib/world.ts'
import { unlessGoing } from '../namespaces/namespace-store.ts'
import type { Barrier } from '../storage/barrier.ts'
import { faultOfKey } from '../storage/classes.ts'
import { systemScope } from '../storage/contract.ts'
import { Sealed } from '../storage/errors.ts'
import type { Invalidation } from '../storage/invalidation.ts'
import type { SealedStorage, View, ViewTransaction } from '../storage/sealed-storage.ts'
import { isBatchText, openBatchToken, sealBatchToken } from './batch-tokens.ts'
import { decodeTokenEntry, encodeTokenEntry, isExpired, isGivenBy, type TokenEntry } from './token-entry.ts'
import {
  accessorFolder,
  expiryKey,
  goneKey,
  ID_FOLDER,
  INDEXED_PATH,
  idKey,
  indexKeys,
  KEY_PATH,
  SYSTEM_FOLDER,
} from './token-keys.ts'
import { type LineGrounds, TokenLines, WALKED_ANCESTORS } from './token-lines.ts'
import { type Belongings, TokenRemoval } from './token-removal.ts'
import { newAccessorText, newTokenText } from './token-text.ts'
import { countBelow } from './view-walk.ts'

/**
 * Entries in the cache. Most have half a KB, the largest (metadata, policies, addresses) some 80 KB, so their size is
 * bounded as well.
 */
const CACHED_TOKENS = 20_000
/** Characters of all cached entries that callers chose the length of (threats A-09). */
export const CACHED_CHARACTERS = 50_000_000
const KEY_BYTES = 32
const NOTHING = Buffer.alloc(0)

/** A token that may be used now, with its storage id. */
export type LiveToken = { readonly id: string; readonly entry: TokenEntry }

/** What the store needs of its node. */
export type TokenStoreParts = {
  readonly storage: SealedStorage
  readonly world: World
  readonly invalidation: Invalidation
  readonly namespaces: Namespaces
  /**
   * Tokens that a mount gave count as dead as soon as this says that it is gone, before they are removed. One that
   * moved to another namespace is none for the tokens that it gave before.
   */
  readonly isMounted: (mountUuid: string, namespaceId: string) => boolean
}

/**
 * The tokens of a node, as one thread sees them. Reads answer from the cache where they can; writes need the writing
 * thread.
 */
export class TokenStore {
  readonly view: View
  readonly removal: TokenRemoval
  readonly #storage: SealedStorage
  readonly #namespaces: Namespaces
  readonly #world: World
  readonly #barrier: Barrier
  readonly #entries = new CoherentCache<TokenEntry>(CACHED_TOKENS, { of: charactersOf, most: CACHED_CHARACTERS })
  readonly #lines = new TokenLines()
  /**
   * From a digest under a key of this process to the storage id. Saves the slower keyed hash on every request; tokens
   * themselves are not kept.
   */
  readonly #ids = new Map<string, string>()
  /** What remembered lines stand on, besides the entries. */
  readonly #grounds: LineGrounds = {
    isMounted: (uuid, namespaceId) => this.#isMounted(uuid, namespaceId),
    isInNamespace: (id) => this.#isInNamespace(id),
  }
  /** Entries of batch tokens by storage id. Saves opening their texts. */
  readonly #batch = new Map<string, TokenEntry>()
  readonly #processKey: string
  /** Tokens whose last request is being served. */
  readonly #lastUses = new Set<string>()
  #key: KeyObject | undefined
  readonly #isMounted: TokenStoreParts['isMounted']

  constructor({ storage, world, invalidation, namespaces, isMounted }: TokenStoreParts) {
    this.#isMounted = isMounted
    this.#storage = storage
    this.#namespaces = namespaces
    this.view = storage.view(systemScope, SYSTEM_FOLDER)
    this.removal = new TokenRemoval(this.view, (entry) => this.#accessorKey(entry))
    this.#barrier = storage.barrier
    this.#world = world
    this.#processKey = world.random.bytes(KEY_BYTES).toString('hex')
    invalidation.register({
      prefix: `sys/${ID_FOLDER}`,
      changed: (id) => {
        this.#entries.forget(id)
        this.#lines.changed(id)
      },
      reset: () => this.#forgetEntries(),
    })
  }

  /** Counts of look-ups in the cache since the start, for metrics. */
  get lookups(): Lookups {
    return this.#entries
  }

  /** Adds to what is removed with each token. Called while the server is put together. */
  addBelongings(belongings: Belongings): void {
    this.removal.addBelongings(belongings)
  }

  /** Makes the key of the hashes on root/sys/, where there is none. It is used after `open`. */
  async addKey(tx: ViewTransaction): Promise<void> {
    if ((await tx.get(KEY_PATH)) !== undefined) return
    const key = this.#world.random.bytes(KEY_BYTES)
    tx.put(KEY_PATH, key)
    tx.put(INDEXED_PATH, NOTHING)
    key.fill(0)
  }

  /** True once the key of the hashes is loaded. */
  get isOpen(): boolean {
    return this.#key !== undefined
  }

  /**
   * Loads the key of the hashes after unseal; until then every look-up throws Sealed. It stays so where there is no key
   * yet: on a node whose role does not let it make one, which serves no callers. The transaction of initialisation
   * hands itself in, so that it can add a token.
   */
  async open(from: Pick<View, 'get'> = this.view): Promise<void> {
    const bytes = await from.get(KEY_PATH)
    if (bytes === undefined) return
    this.#key = importSecret(bytes)
    bytes.fill(0)
  }

  /** Forgets the key and everything cached, before seal. */
  close(): void {
    this.#key = undefined
    this.#ids.clear()
    this.#batch.clear()
    this.#forgetEntries()
    this.#lastUses.clear()
  }

  #forgetEntries(): void {
    this.#entries.clear()
    this.#lines.clear()
  }

  /**
   * Returns the storage id of a token's text, or the hash of an accessor.
   * @throws Sealed before `open` and after `close`.
   */
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

  /**
   * Counts the stored tokens of the namespace, those of all for the root. Ended ones that are not removed yet are among
   * them.
   */
  count(namespaceId: string): Promise<number> {
    const folder = namespaceId === ROOT_ID ? ID_FOLDER : accessorFolder(namespaceId)
    return countBelow(this.view, folder, this.#world.timers)
  }

  #accessorKey({ namespace, accessor }: Pick<TokenEntry, 'namespace' | 'accessor'>): string {
    return accessorFolder(namespace) + this.idOf(accessor)
  }

  /** The namespace of a token; undefined if it is gone or going, and all of its tokens with it. */
  namespaceOf({ namespace }: Pick<TokenEntry, 'namespace'>): Namespace | undefined {
    const found = this.#namespaces.byId(namespace)
    return found?.isGoing === true ? undefined : found
  }

  /**
   * Returns the token if it may be used now; does not count the use. Answers without a promise if everything is cached.
   * @throws Sealed.
   */
  find(token: string): LiveToken | undefined | Promise<LiveToken | undefined> {
    const id = this.idOf(token)
    return isBatchText(token) ? this.#live(id, this.#batchEntry(id, token)) : this.#find(id)
  }

  /**
   * Returns the entry of a live batch token without a parent: one that no write of this cluster could have ended. Needs
   * no key of the hashes, which a secondary may not have yet. @throws Sealed
   */
  findOrphanBatch(token: string): TokenEntry | undefined {
    const entry = isBatchText(token) ? openBatchToken(this.#barrier, token) : undefined
    if (entry === undefined || entry.parent !== '' || !this.#usable(entry)) return undefined
    return this.#hasOrigin(entry) ? entry : undefined
  }

  /** Finds a live service token by its storage id. Batch tokens are not stored, so they have none. */
  async findById(id: string): Promise<LiveToken | undefined> {
    return this.#find(id)
  }

  #find(id: string): LiveToken | undefined | Promise<LiveToken | undefined> {
    const entry = this.#entry(id)
    return entry instanceof Promise ? entry.then((found) => this.#live(id, found)) : this.#live(id, entry)
  }

  #batchEntry(id: string, token: string): TokenEntry | undefined {
    const known = this.#batch.get(id)
    if (known !== undefined) return known
    const entry = openBatchToken(this.#barrier, token)
    if (entry === undefined) return undefined
    if (this.#batch.size >= CACHED_TOKENS) this.#batch.clear()
    this.#batch.set(id, entry)
    return entry
  }

  /** Returns the stored entry, whether the token may be used or not. */
  #entry(id: string): TokenEntry | Promise<TokenEntry | undefined> {
    return this.#entries.get(id, (key) => this.#read(key))
  }

  async #read(id: string): Promise<TokenEntry | undefined> {
    const bytes = await this.view.get(idKey(id))
    return bytes === undefined ? undefined : decodeTokenEntry(bytes)
  }

  #live(id: string, entry: TokenEntry | undefined): LiveToken | undefined | Promise<LiveToken | undefined> {
    if (entry === undefined || !this.#usable(entry) || !this.#hasOrigin(entry)) return undefined
    const line = this.#lineAlive(entry)
    if (line === true) return { id, entry }
    return line === false ? undefined : line.then((alive) => (alive ? { id, entry } : undefined))
  }

  #usable(entry: TokenEntry): boolean {
    return entry.numUses >= 0 && !isExpired(entry, this.#world.clock.nowMs()) && this.#isInNamespace(entry.namespace)
  }

  #isInNamespace(namespace: string): boolean {
    return namespace === ROOT_ID || this.namespaceOf({ namespace }) !== undefined
  }

  /** False once the mount that gave the token, by a login or to wrap an answer, is gone, or in another namespace. */
  #hasOrigin(entry: TokenEntry): boolean {
    return isGivenBy((uuid) => this.#isMounted(uuid, entry.namespace), entry) ?? true
  }

  /**
   * Checks the ancestors. A token dies at once with any of them; the removal of the descendants only tidies up (threats
   * T-07).
   */
  #lineAlive(entry: TokenEntry): boolean | Promise<boolean> {
    let walked = 0
    for (let at = entry; at.parent !== ''; ) {
      if (walked === WALKED_ANCESTORS) return this.#restAlive(at.parent)
      walked++
      const parent = this.#entry(at.parent)
      if (parent instanceof Promise) return parent.then((loaded) => this.#ancestorAlive(loaded))
      if (!this.#isAncestor(parent)) return false
      at = parent
    }
    return true
  }

  /** Checks a far ancestor and all above it: once, and again when a token of the line changes or ends. */
  #restAlive(from: string): boolean | Promise<boolean> {
    const nowMs = this.#world.clock.nowMs()
    if (this.#lines.isAlive(from, nowMs, this.#grounds)) return true
    const line: { id: string; entry: TokenEntry }[] = []
    for (let id = from; id !== ''; ) {
      const entry = this.#entry(id)
      // Remembered only if all entries were at hand without waiting. Otherwise an entry seen earlier could have changed
      // meanwhile.
      if (entry instanceof Promise) return entry.then((loaded) => this.#ancestorAlive(loaded))
      if (!this.#isAncestor(entry)) return false
      line.push({ id, entry })
      id = entry.parent
    }
    this.#lines.keep(line)
    return true
  }

  /** Counts the ancestors of a token, up to `most`. */
  async ancestorsOf({ parent }: TokenEntry, most: number): Promise<number> {
    let count = 0
    for (let id = parent; id !== '' && count < most; count++) id = (await this.#entry(id))?.parent ?? ''
    return count
  }

  #ancestorAlive(ancestor: TokenEntry | undefined): boolean | Promise<boolean> {
    return this.#isAncestor(ancestor) && this.#lineAlive(ancestor as TokenEntry)
  }

  #isAncestor(entry: TokenEntry | undefined): entry is TokenEntry {
    if (entry === undefined || isExpired(entry, this.#world.clock.nowMs())) return false
    return this.#hasOrigin(entry) && this.#isInNamespace(entry.namespace)
  }

  /** Finds a live token by its accessor, whatever namespace it is of. */
  async findByAccessor(accessor: string): Promise<LiveToken | undefined> {
    const { namespaceId: namespace } = splitId(accessor)
    if (this.namespaceOf({ namespace }) === undefined) return undefined
    const id = await this.view.get(this.#accessorKey({ namespace, accessor }))
    return id === undefined ? undefined : this.findById(id.toString('latin1'))
  }

  /** Returns the entry of a storage id, whether the token may be used or not. */
  async entryOf(id: string): Promise<TokenEntry | undefined> {
    return this.#entry(id)
  }

  /** True while the last request of a token is served. Tidying must not remove such a token. */
  isServingLast(id: string): boolean {
    return this.#lastUses.has(id)
  }

  /** Returns the entry as the transaction sees it, if the token may be used. */
  async readUsable(tx: ViewTransaction, id: string): Promise<TokenEntry | undefined> {
    const bytes = await tx.get(idKey(id))
    const entry = bytes === undefined ? undefined : decodeTokenEntry(bytes)
    return entry !== undefined && this.#usable(entry) ? entry : undefined
  }

  /**
   * Takes one use from a token that has a limited number. Exact under concurrency, since the count is read and written
   * in one transaction (threats T-05). Returns undefined if no use was left. A token on its last use gets -1, and the
   * caller must revoke it after the request.
   */
  async takeUse(token: LiveToken): Promise<LiveToken | undefined> {
    const taken = await this.view.transaction(async (tx) => {
      const current = await this.readUsable(tx, token.id)
      if (current === undefined || current.numUses === 0) return current
      const { numUses, usesGiven = numUses } = current
      const entry = { ...current, numUses: numUses === 1 ? -1 : numUses - 1, usesGiven }
      tx.put(idKey(token.id), encodeTokenEntry(entry))
      return entry
    })
    if (taken === undefined) return undefined
    if (taken.numUses < 0) this.#lastUses.add(token.id)
    return { id: token.id, entry: taken }
  }

  /** Returns the text of a new service token of the namespace. */
  newToken(namespaceId: string): string {
    return newTokenText(this.#world.random, namespaceId)
  }

  /** Returns a new accessor for a token of the namespace. */
  newAccessor(namespaceId: string): string {
    return newAccessorText(this.#world.random, namespaceId)
  }

  /**
   * Runs a transaction on root/sys/ that adds something of the namespace. Its deletion, if it begins meanwhile, makes
   * the transaction lose: nothing is added behind its back.
   * @throws Refusal if the namespace is gone, or going
   */
  async transactionIn<T>(namespaceId: string, work: (tx: ViewTransaction) => Promise<T>): Promise<T> {
    if (namespaceId === ROOT_ID) return this.view.transaction(work)
    // Another thread may have learnt of the namespace first, and have asked this one.
    if (this.#namespaces.stale) await this.#namespaces.refresh()
    const guard = unlessGoing(this.#namespaces, namespaceId)
    return this.#storage.view(systemScope, SYSTEM_FOLDER, guard).transaction(work)
  }

  /**
   * Makes a token of the kind that the entry says, and returns its text.
   * @throws Refusal if its parent is gone meanwhile, or a batch token would be too long.
   */
  async issue(entry: TokenEntry): Promise<string> {
    if (entry.type === 'batch') return sealBatchToken(this.#barrier, entry)
    const token = this.newToken(entry.namespace)
    if (!(await this.insert(token, entry))) throw fail('permission_denied', [])
    return token
  }

  /**
   * Stores a new service token. Returns false if the text is taken, or its parent is gone.
   * @throws Refusal as `transactionIn`
   */
  async insert(token: string, entry: TokenEntry): Promise<boolean> {
    return this.transactionIn(entry.namespace, (tx) => this.insertWith(tx, token, entry))
  }

  /** Like `insert`, in a transaction of `transactionIn`. */
  async insertWith(tx: ViewTransaction, token: string, entry: TokenEntry): Promise<boolean> {
    const id = this.idOf(token)
    // A text may be used again only after everything of its last token is gone, or the new token would get a stranger's
    // belongings.
    if ((await tx.get(idKey(id))) !== undefined || (await tx.get(goneKey(id))) !== undefined) return false
    if (entry.parent !== '' && (await tx.get(idKey(entry.parent))) === undefined) return false
    tx.put(idKey(id), encodeTokenEntry(entry))
    tx.put(this.#accessorKey(entry), Buffer.from(id))
    for (const key of indexKeys(id, entry)) {
      if (faultOfKey(SYSTEM_FOLDER + key) !== undefined)
        throw fail('out_of_range', ['The path of the request is too long to be the name of a lease'])
      tx.put(key, NOTHING)
    }
    return true
  }

  /**
   * Replaces the entry by what `change` makes of it. Returns undefined if the token is not live, or `change` returns
   * so.
   */
  update(id: string, change: (entry: TokenEntry) => TokenEntry | undefined): Promise<TokenEntry | undefined> {
    return this.view.transaction(async (tx) => {
      const entry = await this.readUsable(tx, id)
      const changed = entry === undefined ? undefined : change(entry)
      if (entry === undefined || changed === undefined) return undefined
      tx.put(idKey(id), encodeTokenEntry(changed))
      const [before, after] = [expiryKey(id, entry), expiryKey(id, changed)]
      if (before !== undefined && before !== after) tx.delete(before)
      if (after !== undefined) tx.put(after, NOTHING)
      return changed
    })
  }

  /** Revokes a token and all its descendants. They are dead after the first commit; resolves when they are removed. */
  async revoke(id: string): Promise<void> {
    try {
      await this.removal.removeAll([id])
    } finally {
      this.#lastUses.delete(id)
    }
  }
}

/** Counts the characters whose number a caller can choose. */
function charactersOf({ meta, policies, boundCidrs, login }: TokenEntry): number {
  const texts = [...Object.entries(meta ?? {}).flat(), ...policies, ...boundCidrs]
  const ofLogin = login === null ? 0 : JSON.stringify(login.renewal).length
  return texts.reduce((sum, text) => sum + text.length, ofLogin)
}
