/**
 * Freezes plain objects and lists, all the way down, and returns the value: one that is shared cannot be changed by one
 * holder for the others. Objects of classes, such as bytes, stay as they are.
 */
export function freezePlain<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== Array.prototype && prototype !== null) return value
  for (const member of Object.values(value)) freezePlain(member)
  return Object.freeze(value)
}
