// Tables of several columns, in the layout of the reference's command line.
import { type Json, plainText } from './exact-json.ts'
import { printableLine } from './terminal-text.ts'

const GAP = '    '
const NOTHING = 'n/a'

/** Formats heads, a line under each, and the rows. An empty or missing value is printed as `n/a`. */
export function formatColumns(heads: readonly string[], rows: readonly (readonly (Json | undefined)[])[]): string {
  const texts = rows.map((row) => row.map(cellText))
  const widths = heads.map((head, at) =>
    texts.reduce((widest, row) => Math.max(widest, row[at]?.length ?? 0), head.length),
  )
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join(GAP)
      .trimEnd()
  return `${[heads, heads.map((head) => '-'.repeat(head.length)), ...texts].map(line).join('\n')}\n`
}

function cellText(value: Json | undefined): string {
  return value === undefined || value === null || value === '' ? NOTHING : printableLine(plainText(value))
}
