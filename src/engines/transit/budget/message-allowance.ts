// The allowance of a thread: what it may still seal under one key version. A version may have several names, as keys
// can be restored under others; all names share one allowance. What is left outlives deletion and restore.

import type { Standing } from './message-ledger.ts'

type AllowanceStanding = Pick<Standing, 'hasFirst' | 'from'>

/** An allowance, which the counter of its thread fills (message-counter.ts) and budgets take from. */
export class MessageAllowance {
  readonly identity: string
  /** What the ledger said of the version when a key was loaded with it last. */
  standing: AllowanceStanding
  /** Names of the keys that were loaded with it. */
  readonly names = new Set<string>()
  /** Messages that may be sealed now. */
  left = 0
  /** If fewer are left, more are asked for, before these are used up. */
  low = 0
  /** Whether the thread has had its free messages, which it need not ask for; or may have none. */
  isBegun = false
  /** Messages that were asked for last; the next block is twice as large. */
  block = 0
  /** About the most messages that all clusters together have sealed, as far as this thread knows. */
  total = 0

  constructor(identity: string, standing: AllowanceStanding) {
    this.identity = identity
    this.standing = standing
  }

  /** Adds messages that were stored as given. */
  add(messages: number): void {
    this.left += messages
    this.lower()
  }

  /** Sets the next request for more to when half of what is left is used. */
  lower(): void {
    this.low = Math.max(0, Math.floor(this.left / 2))
  }
}
