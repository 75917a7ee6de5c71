// Removes tokens whose end has come, in the order of their ends: whatever was due while the server was down is due now.
// Use is refused by the clock in any case (threats P-27); this only tidies up, so it may be late, and gives way to
// callers between its pages.
import type { Log } from '../lib/log.ts'
import { PeriodicTask } from '../lib/periodic-task.ts'
import type { World } from '../lib/world.ts'
import { isClosed } from '../storage/contract.ts'
import { decodeTokenEntry } from './token-entry.ts'
import { EXPIRY_FOLDER, expiryKey, goneKey, idKey } from './token-keys.ts'
import type { TokenStore } from './token-store.ts'

const LOOK_EVERY_MS = 1_000
const PAGE = 100
const PAUSE_MS = 1
const FIRST_RETRY_MS = 10_000
const LAST_RETRY_MS = 3_600_000
/** Failures after which a removal is shown as one that does not come to its end; it is tried on nevertheless. */
const STUCK_AFTER = 6

type Due = { readonly id: string; readonly key: string }
type Pages = AsyncGenerator<readonly Due[]>
type Failure = { readonly attempts: number; readonly retryAtMs: number; readonly cause: string }

export class TokenExpiry {
  readonly #tokens: TokenStore
  readonly #world: World
  readonly #log: Log
  readonly #failures = new Map<string, Failure>()
  readonly #looks: PeriodicTask

  constructor(tokens: TokenStore, world: World, log: Log) {
    this.#tokens = tokens
    this.#world = world
    this.#log = log
    const failure = 'The removal of expired tokens stopped: it is tried again'
    this.#looks = new PeriodicTask(() => this.#look(), { world, log, failure, retryMs: LOOK_EVERY_MS, isClosed })
  }

  /** Where tokens may be written, from unseal to seal. */
  start(): void {
    this.#looks.start(LOOK_EVERY_MS)
  }

  /** What is under way ends with its page, or with the barrier. */
  stop(): void {
    this.#looks.stop()
    this.#failures.clear()
  }

  /** Removes all that is due now; never throws. */
  look(): Promise<void> {
    return this.#looks.now()
  }

  /** Tokens that could not be removed several times, by storage name. */
  stuck(): ReadonlyMap<string, { readonly cause: string }> {
    return new Map([...this.#failures].filter(([, { attempts }]) => attempts >= STUCK_AFTER))
  }

  async #look(): Promise<number> {
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
    return LOOK_EVERY_MS
  }

  /** Whose removal was begun: what an earlier process, or a failure, left. */
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

  /** What is due, oldest first, in pages. */
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

  /** Together where that works, else each for itself, so that one that cannot be removed holds up no other. */
  async #removeEach(pages: Pages, remove: (page: readonly Due[]) => Promise<void>, failed: Map<string, string>) {
    for await (const page of pages) {
      if (!this.#looks.isOn) return
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

  /** True, or the name of what went wrong. @throws Sealed, StorageClosed: there is no point in going on */
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
        // It may have been renewed or removed since it was listed.
        if (bytes !== undefined && expiryKey(id, decodeTokenEntry(bytes)) === key) ended.push(id)
        else tx.delete(key)
      }
      return removal.removeSome(tx, ended)
    })
    await removal.removeAll(next)
  }
}

const nameOf = (cause: unknown): string => (cause instanceof Error ? cause.name : typeof cause)
