import { timingSafeEqual } from 'node:crypto'

/**
 * Compares secrets and MACs in a time that depends on their length only. Different lengths are unequal; Node's own
 * comparison throws there (threats N-22).
 */
export function constantTimeEqual(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}
