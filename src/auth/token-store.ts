// Tokens: who a caller is, and until when. A token's text is known to its holder alone; storage knows a keyed hash of
// it (threats P-26). token-keys.ts says what is stored where.
import type { KeyObject } from 'node:crypto'
import { fail } from '../api/errors.ts'
import { importSecret } from '../crypto/primitives/secret-key.ts'
import { fastDigest, keyedDigest } from '../crypto/token-digest.ts'
import { CoherentCache, type Lookups } from '../lib/coherent-cache.ts'
import type { World } from '../lib/world.ts'
import type { Barrier } from '../storage/barrier.ts'
import { faultOfKey } from '../storage/classes.ts'
import { Sealed, systemScope } from '../storage/contract.ts'
import type { Invalidation } from '../storage/invalidation.ts'
import type { SealedStorage, View, ViewTransaction } from '../storage/sealed-storage.ts'
import { isBatchText, openBatchToken, sealBatchToken } from './batch-tokens.ts'
import { decodeTokenEntry, encodeTokenEntry, isExpired, type TokenEntry } from './token-entry.ts'
import {
  ACCESSOR_FOLDER,
  expiryKey,
  goneKey,
  ID_FOLDER,
  INDEXED_PATH,
  idKey,
  indexKeys,
  KEY_PATH,
  SYSTEM_FOLDER,
} from './token-keys.ts'
import { TokenLines, WALKED_ANCESTORS } from './token-lines.ts'
import { type Belongings, TokenRemoval } from './token-removal.ts'
import { newAccessorText, newTokenText } from './token-text.ts'
import { countBelow } from './view-walk.ts'

/** Most entries are half a KB, the largest (meta, policies, addresses) some 80: all together are bounded as well. */
const CACHED_TOKENS = 20_000
export const CACHED_CHARACTERS = 50_000_000
const KEY_BYTES = 32
const NOTHING = Buffer.alloc(0)

/** A token that may be used now. */
export type LiveToken = { readonly id: string; readonly entry: TokenEntry }

export class TokenStore {
  readonly view: View
  readonly removal: TokenRemoval
  readonly #world: World
  readonly #barrier: Barrier
  readonly #entries = new CoherentCache<TokenEntry>(CACHED_TOKENS, { of: charactersOf, most: CACHED_CHARACTERS })
  readonly #lines = new TokenLines()
  /** From a digest under a key of this process alone to the storage name: spares the slower keyed hash. */
  readonly #ids = new Map<string, string>()
  /** By storage name: spares opening their texts. */
  readonly #batch = new Map<string, TokenEntry>()
  readonly #processKey: string
  /** Tokens whose last request is being served. */
  readonly #lastUses = new Set<string>()
  #key: KeyObject | undefined
  readonly #isMounted: (mountUuid: string) => boolean

  /** Tokens of a login are dead where `isMounted` says that its mount is gone: nobody waits for their removal. */
  constructor(
    storage: SealedStorage,
    world: World,
    invalidation: Invalidation,
    isMounted: (mountUuid: string) => boolean,
  ) {
    this.#isMounted = isMounted
    this.view = storage.view(systemScope, SYSTEM_FOLDER)
    this.removal = new TokenRemoval(this.view, ({ accessor }) => this.#accessorKey(accessor))
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

  /** Look-ups in the cache, since the beginning. */
  get lookups(): Lookups {
    return this.#entries
  }

  /** Adds to what is removed with each token. */
  addBelongings(belongings: Belongings): void {
    this.removal.addBelongings(belongings)
  }

  /** Part of the initialisation's one transaction, on root/sys/; leaves the store open. */
  initialize(tx: ViewTransaction): void {
    const key = this.#world.random.bytes(KEY_BYTES)
    tx.put(KEY_PATH, key)
    tx.put(INDEXED_PATH, NOTHING)
    this.#key = importSecret(key)
    key.fill(0)
  }

  /** After unseal. */
  async open(): Promise<void> {
    const bytes = await this.view.get(KEY_PATH)
    if (bytes === undefined) throw new Error('The token store was never initialised')
    this.#key = importSecret(bytes)
    bytes.fill(0)
  }

  /** Before seal. */
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

  /** How many tokens are stored, those among them that ended and are not removed yet. */
  count(): Promise<number> {
    return countBelow(this.view, ID_FOLDER, this.#world.timers)
  }

  #accessorKey(accessor: string): string {
    return ACCESSOR_FOLDER + this.idOf(accessor)
  }

  /** The token if it may be used now. Does not count the use. Waits only where something is not cached. */
  find(token: string): LiveToken | undefined | Promise<LiveToken | undefined> {
    const id = this.idOf(token)
    return isBatchText(token) ? this.#live(id, this.#batchEntry(id, token)) : this.#find(id)
  }

  /** Of service tokens. */
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

  /** The entry as it is stored, whether the token may be used or not. */
  #entry(id: string): TokenEntry | Promise<TokenEntry | undefined> {
    return this.#entries.get(id, (key) => this.#read(key))
  }

  async #read(id: string): Promise<TokenEntry | undefined> {
    const bytes = await this.view.get(idKey(id))
    return bytes === undefined ? undefined : decodeTokenEntry(bytes)
  }

  #live(id: string, entry: TokenEntry | undefined): LiveToken | undefined | Promise<LiveToken | undefined> {
    if (entry === undefined || !this.#usable(entry)) return undefined
    if (entry.login !== null && !this.#isMounted(entry.login.mountUuid)) return undefined
    const line = this.#lineAlive(entry)
    if (line === true) return { id, entry }
    return line === false ? undefined : line.then((alive) => (alive ? { id, entry } : undefined))
  }

  #usable(entry: TokenEntry): boolean {
    return entry.numUses >= 0 && !isExpired(entry, this.#world.clock.nowMs())
  }

  /** A token dies with any of its ancestors, at once: the removal of the tree below is only tidying up. */
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

  /** From a far ancestor on: looked at once, and again where a token of the line changes or ends. */
  #restAlive(from: string): boolean | Promise<boolean> {
    const nowMs = this.#world.clock.nowMs()
    if (this.#lines.isAlive(from, nowMs, this.#isMounted)) return true
    const line: { id: string; entry: TokenEntry }[] = []
    for (let id = from; id !== ''; ) {
      const entry = this.#entry(id)
      // Kept when all of them are at hand: by then a change of one that was seen is not missed.
      if (entry instanceof Promise) return entry.then((loaded) => this.#ancestorAlive(loaded))
      if (!this.#isAncestor(entry)) return false
      line.push({ id, entry })
      id = entry.parent
    }
    this.#lines.keep(line)
    return true
  }

  /** How many tokens are above it; counted to `most`. */
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
    return entry.login === null || this.#isMounted(entry.login.mountUuid)
  }

  async findByAccessor(accessor: string): Promise<LiveToken | undefined> {
    const id = await this.view.get(this.#accessorKey(accessor))
    return id === undefined ? undefined : this.findById(id.toString('latin1'))
  }

  /** The entry behind a storage name, whether the token may be used or not. */
  async entryOf(id: string): Promise<TokenEntry | undefined> {
    return this.#entry(id)
  }

  /** Its last request was admitted and is not answered yet. */
  isServingLast(id: string): boolean {
    return this.#lastUses.has(id)
  }

  /** The entry as the transaction sees it, if the token may be used. */
  async readUsable(tx: ViewTransaction, id: string): Promise<TokenEntry | undefined> {
    const bytes = await tx.get(idKey(id))
    const entry = bytes === undefined ? undefined : decodeTokenEntry(bytes)
    return entry !== undefined && this.#usable(entry) ? entry : undefined
  }

  /**
   * Takes one use from a token that has a limited number, exactly, whatever happens at the same time. Undefined where
   * none was left. A token on its last use gets -1 and is to be revoked after the request.
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

  newToken(): string {
    return newTokenText(this.#world.random)
  }

  newAccessor(): string {
    return newAccessorText(this.#world.random)
  }

  /**
   * A new token with this entry, of the kind that the entry says.
   * @throws Refusal where its parent is gone meanwhile, or a batch token would be too long
   */
  async issue(entry: TokenEntry): Promise<string> {
    if (entry.type === 'batch') return sealBatchToken(this.#barrier, entry)
    const token = this.newToken()
    if (!(await this.insert(token, entry))) throw fail('permission_denied', [])
    return token
  }

  /** Stores a new service token. False where `token` is taken, or its parent is gone meanwhile. */
  async insert(token: string, entry: TokenEntry): Promise<boolean> {
    return this.view.transaction((tx) => this.insertWith(tx, token, entry))
  }

  /** The same in a transaction on root/sys/. */
  async insertWith(tx: ViewTransaction, token: string, entry: TokenEntry): Promise<boolean> {
    const id = this.idOf(token)
    // A text is free again when all that belonged to its last token is gone.
    if ((await tx.get(idKey(id))) !== undefined || (await tx.get(goneKey(id))) !== undefined) return false
    if (entry.parent !== '' && (await tx.get(idKey(entry.parent))) === undefined) return false
    tx.put(idKey(id), encodeTokenEntry(entry))
    tx.put(this.#accessorKey(entry.accessor), Buffer.from(id))
    for (const key of indexKeys(id, entry)) {
      if (faultOfKey(SYSTEM_FOLDER + key) !== undefined)
        throw fail('out_of_range', ['The path of the request is too long to be the name of a lease'])
      tx.put(key, NOTHING)
    }
    return true
  }

  /** Replaces the entry by what `change` makes of it; undefined where the token is not live, or `change` says so. */
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

  /** Ends the token and all that descend from it, at once; resolves when they are removed. */
  async revoke(id: string): Promise<void> {
    try {
      await this.removal.removeAll([id])
    } finally {
      this.#lastUses.delete(id)
    }
  }
}

/** Of what its maker chose how long it is. */
function charactersOf({ meta, policies, boundCidrs, login }: TokenEntry): number {
  const texts = [...Object.entries(meta ?? {}).flat(), ...policies, ...boundCidrs]
  const ofLogin = login === null ? 0 : JSON.stringify(login.renewal).length
  return texts.reduce((sum, text) => sum + text.length, ofLogin)
}
