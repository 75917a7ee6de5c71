// Formats JSON as `npm run format` does, so that the formatter leaves generated files alone: what fits on a line stands
// on one.

const WIDTH = 120
const INDENT = '  '

/** Returns the text, with a line break at its end. */
export function formatJson(value: unknown): string {
  return `${formatAt(value, '', 0)}\n`
}

/** `used` is the number of characters of the first line that indentation and name take already. */
function formatAt(value: unknown, indent: string, used: number): string {
  const line = onOneLine(value)
  // A comma may follow.
  if (typeof value !== 'object' || value === null || used + line.length < WIDTH) return line
  const inner = indent + INDENT
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  const parts = Array.isArray(value)
    ? value.map((item) => inner + formatAt(item, inner, inner.length))
    : membersOf(value).map(([name, member]) => {
        const head = `${inner}${JSON.stringify(name)}: `
        return head + formatAt(member, inner, head.length)
      })
  return `${open}\n${parts.join(',\n')}\n${indent}${close}`
}

function onOneLine(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(onOneLine).join(', ')}]`
  const parts = membersOf(value).map(([name, member]) => `${JSON.stringify(name)}: ${onOneLine(member)}`)
  return parts.length === 0 ? '{}' : `{ ${parts.join(', ')} }`
}

const membersOf = (value: object): [string, unknown][] =>
  Object.entries(value).filter(([, member]) => member !== undefined)
