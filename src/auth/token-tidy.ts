// Goes through all tokens and index entries and removes what is stale: tokens that can never be used again but were not
// removed, and index entries without a token. No refusal depends on it.
import type { Log } from '../lib/log.ts'
import type { World } from '../lib/world.ts'
import { isClosed } from '../storage/errors.ts'
import { isExpired } from './token-entry.ts'
import {
  ACCESSOR_FOLDER,
  EXPIRY_FOLDER,
  ID_FOLDER,
  idKey,
  LEASE_FOLDERS,
  PARENT_FOLDER,
  tokenOfLeaf,
} from './token-keys.ts'
import type { TokenStore } from './token-store.ts'
import { leavesBelow } from './view-walk.ts'

/** Pause after each page, in which requests run. */
const PAUSE_MS = 1

/** The clean-up behind auth/token/tidy and sys/leases/tidy, on the writing thread. */
export class TokenTidy {
  readonly #tokens: TokenStore
  readonly #world: World
  readonly #log: Log
  #isRunning = false

  constructor(tokens: TokenStore, world: World, log: Log) {
    this.#tokens = tokens
    this.#world = world
    this.#log = log
  }

  /** Starts a run in the background. Returns false if one is already under way. */
  start(): boolean {
    if (this.#isRunning) return false
    this.#isRunning = true
    void this.run()
      .catch((cause: unknown) => {
        if (isClosed(cause)) return
        this.#log('warn', 'Tidying tokens stopped', { cause: cause instanceof Error ? cause.name : typeof cause })
      })
      .finally(() => {
        this.#isRunning = false
      })
    return true
  }

  /** Cleans up once; resolves when it is done. */
  async run(): Promise<void> {
    const tokens = await this.#dropDeadTokens()
    let keys = await this.#dropDangling(ACCESSOR_FOLDER, async (key) =>
      (await this.#tokens.view.get(key))?.toString('latin1'),
    )
    keys += await this.#dropDangling(PARENT_FOLDER, async (key) => lastSegment(key))
    keys += await this.#dropDangling(EXPIRY_FOLDER, async (key) => lastSegment(key))
    for (const folder of LEASE_FOLDERS)
      keys += await this.#dropDangling(folder, async (key) => tokenOfLeaf(lastSegment(key)))
    this.#log('info', 'Tokens are tidy', { tokens, keys })
  }

  async #dropDeadTokens(): Promise<number> {
    let count = 0
    for await (const page of leavesBelow(this.#tokens.view, ID_FOLDER)) {
      const dead: string[] = []
      const alive = new Set<string>()
      for (const key of page) if (await this.#isDead(lastSegment(key), alive)) dead.push(lastSegment(key))
      await this.#tokens.removal.removeAll(dead)
      count += dead.length
      await this.#world.timers.sleep(PAUSE_MS)
    }
    return count
  }

  /**
   * True if the token or an ancestor can never be used again. `alive` collects tokens whose whole line was just
   * checked; without it a long line would be climbed from each of its tokens.
   */
  async #isDead(id: string, alive: Set<string>): Promise<boolean> {
    if (this.#tokens.isServingLast(id)) return false
    let entry = await this.#tokens.entryOf(id)
    if (entry === undefined) return false
    if (entry.numUses < 0) return true
    const line: string[] = []
    // The mount of a login is not checked: a mount that this version does not know may come back with another version.
    for (let at = id; !alive.has(at); entry = await this.#tokens.entryOf(at)) {
      if (entry === undefined || isExpired(entry, this.#world.clock.nowMs())) return true
      line.push(at)
      if (entry.parent === '') break
      at = entry.parent
    }
    for (const one of line) alive.add(one)
    return false
  }

  /**
   * Removes keys below `folder` whose token is gone; `tokenOf` says which token a key leads to. Checked again in the
   * transaction, since a token may have been made meanwhile.
   */
  async #dropDangling(folder: string, tokenOf: (key: string) => Promise<string | undefined>): Promise<number> {
    let count = 0
    const { view } = this.#tokens
    for await (const page of leavesBelow(view, folder)) {
      for (const key of page) {
        const id = await tokenOf(key)
        if (id !== undefined && (await view.get(idKey(id))) !== undefined) continue
        count += await view.transaction(async (tx) => {
          if (id !== undefined && (await tx.get(idKey(id))) !== undefined) return 0
          tx.delete(key)
          return 1
        })
      }
      await this.#world.timers.sleep(PAUSE_MS)
    }
    return count
  }
}

/** Returns the warning with which the endpoints answer. */
export const tidyWarning = (isStarted: boolean): string =>
  isStarted
    ? "Tidy operation successfully started. What it found will be printed to the server's log."
    : 'Tidy operation already in progress.'

const lastSegment = (key: string): string => key.slice(key.lastIndexOf('/') + 1)
