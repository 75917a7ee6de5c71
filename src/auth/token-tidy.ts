// Looks through all tokens and what leads to them, and removes what leads nowhere: tokens that can never be used again
// but were not removed, and index entries without their token. Nothing of it is needed for what is refused.
import type { Log } from '../lib/log.ts'
import type { World } from '../lib/world.ts'
import { isClosed } from '../storage/contract.ts'
import { isExpired } from './token-entry.ts'
import {
  ACCESSOR_FOLDER,
  EXPIRY_FOLDER,
  ID_FOLDER,
  idKey,
  LEASE_FOLDER,
  PARENT_FOLDER,
  tokenOfLeaf,
} from './token-keys.ts'
import type { TokenStore } from './token-store.ts'
import { leavesBelow } from './view-walk.ts'

/** Entries are looked at in pages of so many, with a pause in between. */
const PAUSE_MS = 1

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

  /** Begins, unless it is under way: whether it did. It goes on behind the answer. */
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

  /** Resolves when it is through. */
  async run(): Promise<void> {
    const tokens = await this.#dropDeadTokens()
    let keys = await this.#dropDangling(ACCESSOR_FOLDER, async (key) =>
      (await this.#tokens.view.get(key))?.toString('latin1'),
    )
    keys += await this.#dropDangling(PARENT_FOLDER, async (key) => lastSegment(key))
    keys += await this.#dropDangling(EXPIRY_FOLDER, async (key) => lastSegment(key))
    keys += await this.#dropDangling(LEASE_FOLDER, async (key) => tokenOfLeaf(lastSegment(key)))
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

  /** `alive`: tokens whose whole line was looked at just now; without them a long line is climbed from each token. */
  async #isDead(id: string, alive: Set<string>): Promise<boolean> {
    if (this.#tokens.isServingLast(id)) return false
    let entry = await this.#tokens.entryOf(id)
    if (entry === undefined) return false
    if (entry.numUses < 0) return true
    const line: string[] = []
    // Whether its login's mount is there is not asked: one that this version does not know may come back with another.
    for (let at = id; !alive.has(at); entry = await this.#tokens.entryOf(at)) {
      if (entry === undefined || isExpired(entry, this.#world.clock.nowMs())) return true
      line.push(at)
      if (entry.parent === '') break
      at = entry.parent
    }
    for (const one of line) alive.add(one)
    return false
  }

  /** `tokenOf` says which token a key leads to. */
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

/** Of the endpoints that start it. */
export const tidyWarning = (isStarted: boolean): string =>
  isStarted
    ? "Tidy operation successfully started. What it found will be printed to the server's log."
    : 'Tidy operation already in progress.'

const lastSegment = (key: string): string => key.slice(key.lastIndexOf('/') + 1)
