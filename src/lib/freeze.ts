/** Nobody who gets a value that is shared may change it for the others: plain objects and lists, all the way down. */
export function freezePlain<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== Array.prototype && prototype !== null) return value
  for (const member of Object.values(value)) freezePlain(member)
  return Object.freeze(value)
}
