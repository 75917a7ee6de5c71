// Work that seals messages. If a thread has used up what it may seal under a key version, the request waits for more
// and starts over. That is safe: nothing of it was answered by then.
import { fail } from '../../../api/errors.ts'
import type { Item } from '../../../api/fields.ts'
import { BudgetSpent, type MessageBudget } from './message-budget.ts'
import type { MessageCounter } from './message-counter.ts'

/** Attempts of a request that finds the new messages used up by other requests each time. */
const MAX_ATTEMPTS = 100

/** The parts of a mount that give more messages, and forget a key whose version has none left. */
export type CountedKeys = {
  readonly budgets: Pick<MessageCounter, 'more'>
  readonly keys: { forget(name: string): void }
}

/** A loaded key, as far as its messages are counted. */
type CountedRing = {
  readonly header: { readonly latestVersion: number }
  version(number: number): { readonly budget: MessageBudget | undefined }
}

/**
 * Runs `work`, again if messages ran out. `messages` is about how many it seals. `work` has to find its key itself, as
 * a second attempt may have to use another version.
 * @throws Refusal if the version has sealed as many messages as it may
 */
export function counted<T>(mount: CountedKeys, messages: number, work: () => T | Promise<T>): T | Promise<T> {
  try {
    const result = work()
    return result instanceof Promise ? result.catch((cause: unknown) => retry(mount, messages, work, cause, 1)) : result
  } catch (cause) {
    return retry(mount, messages, work, cause, 1)
  }
}

/** Waits for more messages and runs the work once more; any cause but BudgetSpent is thrown on. */
async function retry<T>(
  mount: CountedKeys,
  messages: number,
  work: () => T | Promise<T>,
  cause: unknown,
  attempt: number,
): Promise<T> {
  if (!(cause instanceof BudgetSpent)) throw cause
  if (attempt > MAX_ATTEMPTS) throw fail('overloaded', [], cause)
  if (await mount.budgets.more(cause, messages)) mount.keys.forget(cause.budget.name)
  try {
    return await work()
  } catch (next) {
    return retry(mount, messages, work, next, attempt + 1)
  }
}

/** Has a batch ask for all its messages at once: item by item it would start over many times. @throws BudgetSpent */
export function requireBudget(ring: CountedRing, items: readonly Item[]): void {
  // Items that name versions are rare, and counted one by one.
  if (items[0]?.key_version !== undefined && items[0].key_version !== 0) return
  const { budget } = ring.version(ring.header.latestVersion)
  if (budget !== undefined && budget.left < items.length) throw new BudgetSpent(budget, false)
}
