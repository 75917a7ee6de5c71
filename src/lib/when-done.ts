/**
 * Calls `use` with a value, or with what a promise settles to. A value is used at once, without a turn of the event
 * loop.
 */
export function whenDone<T, R>(value: T | Promise<T>, use: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(use) : use(value)
}
