// The order of commits. Transactions that finish while others are being written wait, and then become durable
// together: one flush of the device serves all of them.
import { setImmediate as nextLoop } from 'node:timers/promises'
import type { CommitOutcome, Committer } from './committer.ts'
import type { OpenTransaction } from './open-transaction.ts'

const MAX_GROUP_TRANSACTIONS = 512
/** A group that has passed this takes no further transaction. */
const MAX_GROUP_BYTES = 16 * 1024 * 1024

type WaitingCommit = { readonly transaction: OpenTransaction; readonly settle: (outcome: CommitOutcome) => void }
/** Has the log to itself from the call until the promise resolves. */
type ExclusiveUse = { readonly alone: () => Promise<void> }

export class CommitQueue {
  readonly #committer: Committer
  readonly #waiting: (WaitingCommit | ExclusiveUse)[] = []
  #draining: Promise<void> | undefined

  constructor(committer: Committer) {
    this.#committer = committer
  }

  /** Resolves when the transaction is durable, has lost or has failed. */
  commit(transaction: OpenTransaction): Promise<CommitOutcome> {
    return new Promise((settle) => this.#add({ transaction, settle }))
  }

  /** Resolves with the function that lets others commit again; until that is called nobody does. */
  exclusiveCommit(): Promise<() => void> {
    return new Promise((granted) => {
      this.#add({ alone: () => new Promise((giveBack) => granted(giveBack)) })
    })
  }

  /** Resolves when everything that waits is committed. */
  async drained(): Promise<void> {
    while (this.#draining !== undefined) await this.#draining
  }

  #add(waiting: WaitingCommit | ExclusiveUse): void {
    this.#waiting.push(waiting)
    this.#draining ??= this.#drain()
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      // The requests that arrived with this one finish their reading first, and join the group.
      await nextLoop()
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
        await this.#committer.rest()
      }
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
