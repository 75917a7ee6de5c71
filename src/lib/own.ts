// Look-ups by a name that comes from outside. A plain object answers to `constructor` and `__proto__` with what it
// inherits (threats N-07): such a header name once made every write of a server fail.

/** Returns the object's own member, never an inherited one. */
export function own<T>(object: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined
}

/** Returns an object that inherits nothing: any name can be written and read. */
export function dictionary<T>(): Record<string, T> {
  return Object.create(null)
}
