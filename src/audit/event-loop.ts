// Lets other requests run during long work of audit.

/** Resolves once the event loop has handled what is ready. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
