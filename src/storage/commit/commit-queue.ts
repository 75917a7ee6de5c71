// The order of commits. Transactions that finish while others are being written wait, and then become durable
// together: one flush of the device serves all of them.
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Committer, Outcome } from './committer.ts'
import type { OpenTransaction } from './open-transaction.ts'

const MAX_GROUP_TRANSACTIONS = 512
/** A group that has passed this takes no further transaction. */
const MAX_GROUP_BYTES = 16 * 1024 * 1024

type WaitingCommit = { readonly transaction: OpenTransaction; readonly settle: (outcome: Outcome) => void }
/** Runs its whole turn alone; resolves when it gives the turn back. */
type WaitingTurn = { readonly turn: () => Promise<void> }

export class CommitQueue {
  readonly #committer: Committer
  readonly #waiting: (WaitingCommit | WaitingTurn)[] = []
  #draining: Promise<void> | undefined

  constructor(committer: Committer) {
    this.#committer = committer
  }

  /** Resolves when the transaction is durable, has lost or has failed. */
  commit(transaction: OpenTransaction): Promise<Outcome> {
    return new Promise((settle) => this.#add({ transaction, settle }))
  }

  /** Resolves with the function that gives the turn back; until that is called, nobody else commits. */
  exclusiveTurn(): Promise<() => void> {
    return new Promise((granted) => {
      this.#add({ turn: () => new Promise((giveBack) => granted(giveBack)) })
    })
  }

  /** Resolves when everything that waits has had its turn. */
  async drained(): Promise<void> {
    while (this.#draining !== undefined) await this.#draining
  }

  #add(waiting: WaitingCommit | WaitingTurn): void {
    this.#waiting.push(waiting)
    this.#draining ??= this.#drain()
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      // The requests that arrived with this one finish their reading first, and join the group.
      await nextTurn()
      const first = this.#waiting[0]
      if (first !== undefined && 'turn' in first) {
        this.#waiting.shift()
        await first.turn()
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
      if ('turn' in waiting || group.length === MAX_GROUP_TRANSACTIONS || bytes > MAX_GROUP_BYTES) break
      group.push(waiting)
      bytes += waiting.transaction.bytes
    }
    this.#waiting.splice(0, group.length)
    return group
  }
}
