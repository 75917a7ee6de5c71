// Options that are given several times as NAME=VALUE.
import { UsageError } from './cli-error.ts'

/** Returns the values by name; the last of a repeated name counts. @throws UsageError, which never quotes a value */
export function namedValues(option: string, texts: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf('=')
      if (at < 1) throw new UsageError(`-${option} must be NAME=VALUE`)
      return [text.slice(0, at), text.slice(at + 1)]
    }),
  )
}
