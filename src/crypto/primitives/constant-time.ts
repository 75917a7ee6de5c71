import { timingSafeEqual } from 'node:crypto'

/**
 * Compares secrets and MACs in a time that depends only on their lengths (threats P-17). Different lengths are unequal;
 * Node's own comparison throws for them (threats N-22).
 */
export function constantTimeEqual(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}
