// Removes tokens that have ended, in the order of their ends. What ended while the server was down is due at once.
// Ended tokens are refused by the clock in any case (threats P-27). This only tidies up, so it may be late, and it
// yields to callers between its pages.
import type { Log } from '../lib/log.ts'
import { PeriodicTask } from '../lib/periodic-task.ts'
import type { World } from '../lib/world.ts'
import { isClosed } from '../storage/errors.ts'
import { decodeTokenEntry } from './token-entry.ts'
import { EXPIRY_FOLDER, expiryKey, goneKey, idKey } from './token-keys.ts'
import type { TokenStore } from './token-store.ts'

const ROUND_EVERY_MS = 1_000
/** Tokens that are listed and removed at once: enough to share a sync, few enough to keep the writing thread free. */
const PAGE = 100
/** Pause after each page, in which requests run. */
const PAUSE_MS = 1
/** A failed removal is retried after this time, which doubles with each failure up to the second. */
const FIRST_RETRY_MS = 10_000
const LAST_RETRY_MS = 3_600_000
/** Failures after which a removal is shown as stuck. It is retried nevertheless. */
const STUCK_AFTER = 6

/** A token to remove, and the key that listed it. */
type Due = { readonly id: string; readonly key: string }
type Pages = AsyncGenerator<readonly Due[]>
type Failure = { readonly attempts: number; readonly retryAtMs: number; readonly cause: string }

/** Removes ended tokens on the thread that may write them. */
export class TokenExpiry {
  readonly #tokens: TokenStore
  readonly #world: World
  readonly #log: Log
  readonly #failures = new Map<string, Failure>()
  readonly #task: PeriodicTask

  constructor(tokens: TokenStore, world: World, log: Log) {
    this.#tokens = tokens
    this.#world = world
    this.#log = log
    const failure = 'The removal of expired tokens stopped: it is tried again'
    this.#task = new PeriodicTask(() => this.#removeEnded(), { world, log, failure, retryMs: ROUND_EVERY_MS, isClosed })
  }

  /** Starts the rounds, one each second. Runs from unseal to seal, where tokens may be written. */
  start(): void {
    this.#task.start(ROUND_EVERY_MS)
  }

  /** Stops. Work under way ends with its page, or fails when the barrier closes. */
  stop(): void {
    this.#task.stop()
    this.#failures.clear()
  }

  /** Removes everything that is due now; never throws. */
  runNow(): Promise<void> {
    return this.#task.now()
  }

  /** Returns tokens whose removal failed several times, by storage id. */
  stuck(): ReadonlyMap<string, { readonly cause: string }> {
    return new Map([...this.#failures].filter(([, { attempts }]) => attempts >= STUCK_AFTER))
  }

  async #removeEnded(): Promise<number> {
    const failed = new Map<string, string>()
    const { removal } = this.#tokens
    await this.#removeEach(this.#begun(), (page) => removal.removeAll(page.map(({ id }) => id)), failed)
    await this.#removeEach(this.#due(), (page) => this.#removeDue(page), failed)
    const [first] = failed.values()
    if (first !== undefined) {
      this.#log('warn', 'Tokens could not be removed after their end: they are refused, and their removal is retried', {
        tokens: failed.size,
        cause: first,
      })
    }
    return ROUND_EVERY_MS
  }

  /** Lists tokens whose removal began and did not end, after a failure or a restart. */
  async *#begun(): Pages {
    const nowMs = this.#world.clock.nowMs()
    for (let after = ''; ; ) {
      const ids = await this.#tokens.removal.begun(after, PAGE)
      const page = ids.filter((id) => !this.#waits(id, nowMs)).map((id) => ({ id, key: goneKey(id) }))
      if (page.length > 0) yield page
      if (ids.length < PAGE) return
      after = ids.at(-1) ?? ''
    }
  }

  /** Lists tokens that are due, oldest first, in pages. */
  async *#due(): Pages {
    const nowMs = this.#world.clock.nowMs()
    let page: Due[] = []
    for (let after = ''; ; ) {
      const folders = await this.#tokens.view.list(EXPIRY_FOLDER, { after, limit: PAGE })
      for (const folder of folders) {
        if (Number(folder.slice(0, -1)) * 1000 > nowMs) {
          if (page.length > 0) yield page
          return
        }
        for await (const ids of this.#idsIn(folder)) {
          for (const id of ids) if (!this.#waits(id, nowMs)) page.push({ id, key: EXPIRY_FOLDER + folder + id })
          if (page.length < PAGE) continue
          yield page
          page = []
        }
      }
      if (folders.length < PAGE) break
      after = folders.at(-1) ?? ''
    }
    if (page.length > 0) yield page
  }

  async *#idsIn(folder: string): AsyncGenerator<readonly string[]> {
    for (let after = ''; ; ) {
      const ids = await this.#tokens.view.list(EXPIRY_FOLDER + folder, { after, limit: PAGE })
      yield ids
      if (ids.length < PAGE) return
      after = ids.at(-1) ?? ''
    }
  }

  #waits(id: string, nowMs: number): boolean {
    const failure = this.#failures.get(id)
    return failure !== undefined && failure.retryAtMs > nowMs
  }

  /**
   * Removes each page as a whole. If that fails, removes its tokens one by one, so that one that cannot be removed
   * holds up no other.
   */
  async #removeEach(pages: Pages, remove: (page: readonly Due[]) => Promise<void>, failed: Map<string, string>) {
    for await (const page of pages) {
      if (!this.#task.isOn) return
      const isDone = await this.#tried(page, remove)
      if (isDone === true) continue
      for (const due of page) {
        const cause = await this.#tried([due], remove)
        if (cause === true) continue
        failed.set(due.id, cause)
        this.#noteFailure(due.id, cause)
      }
    }
  }

  /** Returns true, or the name of the error. @throws Sealed, StorageClosed, since going on would be pointless. */
  async #tried(page: readonly Due[], remove: (page: readonly Due[]) => Promise<void>): Promise<true | string> {
    try {
      await remove(page)
    } catch (cause) {
      if (isClosed(cause)) throw cause
      return nameOf(cause)
    }
    for (const { id } of page) this.#failures.delete(id)
    await this.#world.timers.sleep(PAUSE_MS)
    return true
  }

  #noteFailure(id: string, cause: string): void {
    const attempts = (this.#failures.get(id)?.attempts ?? 0) + 1
    const delayMs = Math.min(FIRST_RETRY_MS * 2 ** (attempts - 1), LAST_RETRY_MS)
    this.#failures.set(id, { attempts, retryAtMs: this.#world.clock.nowMs() + delayMs, cause })
  }

  async #removeDue(page: readonly Due[]): Promise<void> {
    const { view, removal } = this.#tokens
    const next = await view.transaction(async (tx) => {
      const ended: string[] = []
      for (const { id, key } of page) {
        const bytes = await tx.get(idKey(id))
        // The token may have been renewed or removed since it was listed. Then only the stale key goes.
        if (bytes !== undefined && expiryKey(id, decodeTokenEntry(bytes)) === key) ended.push(id)
        else tx.delete(key)
      }
      return removal.removeSome(tx, ended)
    })
    await removal.removeAll(next)
  }
}

const nameOf = (cause: unknown): string => (cause instanceof Error ? cause.name : typeof cause)
