/** Goes on with a value that may be there already: then at once, without a turn of the event loop. */
export function whenDone<T, R>(value: T | Promise<T>, use: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(use) : use(value)
}
