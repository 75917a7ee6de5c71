// Work that seals messages: where a thread has used up what it may seal under a key version, the request waits until
// there is more, and begins anew. Nothing of it was answered by then.
import { fail } from '../../../api/errors.ts'
import type { Item } from '../../../api/fields.ts'
import { BudgetSpent, type MessageBudget } from './message-budget.ts'
import type { MessageCounter } from './message-counter.ts'

/** Times that a request may find everything used up by others again. */
const MAX_ATTEMPTS = 100

/** What has more messages to give, and forgets a key whose version they are used up for. */
export type CountedKeys = {
  readonly budgets: Pick<MessageCounter, 'more'>
  readonly keys: { forget(name: string): void }
}

/** A key as it is loaded. */
type CountedRing = {
  readonly header: { readonly latestVersion: number }
  version(number: number): { readonly budget: MessageBudget | undefined }
}

/**
 * `messages`: about how many are sealed. `work` finds its key itself.
 * @throws Refusal where the version has sealed as many as it may
 */
export function counted<T>(mount: CountedKeys, messages: number, work: () => T | Promise<T>): T | Promise<T> {
  try {
    const result = work()
    return result instanceof Promise ? result.catch((cause: unknown) => again(mount, messages, work, cause, 1)) : result
  } catch (cause) {
    return again(mount, messages, work, cause, 1)
  }
}

async function again<T>(
  mount: CountedKeys,
  messages: number,
  work: () => T | Promise<T>,
  cause: unknown,
  turn: number,
): Promise<T> {
  if (!(cause instanceof BudgetSpent)) throw cause
  if (turn > MAX_ATTEMPTS) throw fail('overloaded', [], cause)
  if (await mount.budgets.more(cause, messages)) mount.keys.forget(cause.budget.name)
  try {
    return await work()
  } catch (next) {
    return again(mount, messages, work, next, turn + 1)
  }
}

/** A batch asks at once for what it needs, instead of item after item. @throws BudgetSpent */
export function requireBudget(ring: CountedRing, items: readonly Item[]): void {
  // Items that name versions are rare, and counted one by one.
  if (items[0]?.key_version !== undefined && items[0].key_version !== 0) return
  const { budget } = ring.version(ring.header.latestVersion)
  if (budget !== undefined && budget.left < items.length) throw new BudgetSpent(budget, false)
}
