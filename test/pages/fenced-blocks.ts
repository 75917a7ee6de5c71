// The fenced blocks of a page in Markdown, and what the output of a command must show of a block that follows it.

export type Block = {
  /** What stands behind the fence: sh, text, hcl. */
  readonly language: string
  readonly text: string
  /** Of the opening fence, counted from 1. */
  readonly line: number
}

const FENCE = '```'
const WILDCARD = '…'

export function fencedBlocks(page: string): Block[] {
  const blocks: Block[] = []
  let open: { language: string; line: number; lines: string[] } | undefined
  for (const [at, line] of page.split('\n').entries()) {
    if (!line.startsWith(FENCE)) open?.lines.push(line)
    else if (open === undefined) open = { language: line.slice(FENCE.length).trim(), line: at + 1, lines: [] }
    else {
      blocks.push({ language: open.language, text: open.lines.join('\n'), line: open.line })
      open = undefined
    }
  }
  if (open !== undefined) throw new Error(`the block that begins in line ${open.line} does not end`)
  return blocks
}

/** The first line of `shown` that does not stand in `output` behind the ones before it; blank lines are passed over. */
export function firstMissing(shown: string, output: string): string | undefined {
  const left = output.split('\n').values()
  for (const line of shown.split('\n')) {
    if (line.trim() === '') continue
    if (!left.some((candidate) => matches(line.trimEnd(), candidate.trimEnd()))) return line
  }
  return undefined
}

/** The whole line, with anything in place of each wildcard. */
function matches(pattern: string, line: string): boolean {
  const [first = '', ...others] = pattern.split(WILDCARD)
  const last = others.pop()
  if (last === undefined) return line === first
  if (!line.startsWith(first)) return false
  let at = first.length
  for (const part of others) {
    const found = line.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return line.length - last.length >= at && line.endsWith(last)
}
