// Look-ups by a name that somebody else chose. A plain object answers to `constructor` and `__proto__` with what it
// inherits (threats N-07): such a header name made every write of a server fail.

/** The member that the object itself has. */
export function own<T>(object: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined
}

/** An object that inherits nothing: any name can be written and read. */
export function dictionary<T>(): Record<string, T> {
  return Object.create(null)
}
