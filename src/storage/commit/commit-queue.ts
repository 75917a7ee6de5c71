// The order of commits. Transactions that finish while others are being written wait, and then become durable together:
// one flush of the device serves all of them. Only one group is written at a time.
import type { Ticks } from '../../lib/world.ts'
import type { CommitOutcome, Committer } from './committer.ts'
import type { OpenTransaction } from './open-transaction.ts'

/** Bounds how long the callers of one group wait for each other. */
const MAX_GROUP_TRANSACTIONS = 512
/** A group that has exceeded this takes no further transaction. */
const MAX_GROUP_BYTES = 16 * 1024 * 1024

/** A finished transaction; `settle` tells its caller the outcome. */
type WaitingCommit = { readonly transaction: OpenTransaction; readonly settle: (outcome: CommitOutcome) => void }
/** Nothing else commits from the call of `alone` until its promise resolves. */
type ExclusiveUse = { readonly alone: () => Promise<void> }

/** First come, first served. An exclusive use waits in the same line, so it neither overtakes nor starves. */
export class CommitQueue {
  readonly #committer: Committer
  readonly #ticks: Ticks
  readonly #waiting: (WaitingCommit | ExclusiveUse)[] = []
  #draining: Promise<void> | undefined

  constructor(committer: Committer, ticks: Ticks) {
    this.#committer = committer
    this.#ticks = ticks
  }

  /** Resolves when the transaction is durable, has lost or has failed. */
  commit(transaction: OpenTransaction): Promise<CommitOutcome> {
    return new Promise((settle) => this.#add({ transaction, settle }))
  }

  /** Resolves with a function that lets others commit again. Until it is called, the queue commits nothing. */
  exclusiveCommit(): Promise<() => void> {
    return new Promise((granted) => {
      this.#add({ alone: () => new Promise((giveBack) => granted(giveBack)) })
    })
  }

  /** Resolves when everything that waits is committed, also what is added meanwhile. */
  async drained(): Promise<void> {
    while (this.#draining !== undefined) await this.#draining
  }

  #add(waiting: WaitingCommit | ExclusiveUse): void {
    this.#waiting.push(waiting)
    this.#draining ??= this.#drain()
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      // Lets requests that arrived with the first one finish reading and join its group.
      await this.#ticks.next()
      const first = this.#waiting[0]
      if (first !== undefined && 'alone' in first) {
        this.#waiting.shift()
        await first.alone()
      } else {
        const group = this.#takeGroup()
        const outcomes = await this.#committer.commit(group.map(({ transaction }) => transaction))
        group.forEach(({ settle }, at) => {
          settle(outcomes[at] ?? new Error('A transaction was left without an outcome'))
        })
      }
      await this.#committer.rest()
    }
    this.#draining = undefined
  }

  #takeGroup(): WaitingCommit[] {
    const group: WaitingCommit[] = []
    let bytes = 0
    for (const waiting of this.#waiting) {
      if ('alone' in waiting || group.length === MAX_GROUP_TRANSACTIONS || bytes > MAX_GROUP_BYTES) break
      group.push(waiting)
      bytes += waiting.transaction.bytes
    }
    this.#waiting.splice(0, group.length)
    return group
  }
}
