/**
 * Returns the name of the error and its first four stack frames, for the log. Leaves out the message, which may hold
 * what a caller sent.
 */
export function describeCause(cause: unknown): string {
  if (!(cause instanceof Error)) return typeof cause
  const frames = (cause.stack ?? '').split('\n').filter((line) => line.startsWith('    at '))
  return `${cause.name} ${frames
    .slice(0, 4)
    .map((line) => line.trim())
    .join(' ')}`
}
