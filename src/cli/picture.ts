// Marks, colours and widths of what people like to read on a terminal; elsewhere the same in plain letters.
import type { CliIo, CliOutput } from './io.ts'

export type Tone = 'good' | 'caution' | 'bad' | 'faint' | 'strong'

export type Style = {
  /** Colours and cursor movements reach a person. */
  readonly isTerminal: boolean
  /** Characters beyond ASCII are shown. */
  readonly isUnicode: boolean
  readonly hasColour: boolean
  /** Characters in a line. */
  readonly width: number
}

const PLAIN_WIDTH = 100
const NARROWEST = 60
const WIDEST = 120

/** NO_COLOR (no-color.org) and TERM=dumb are honoured. */
export function styleOf({ env }: Pick<CliIo, 'env'>, stream: CliOutput): Style {
  const isTerminal = stream.isTTY === true && env.TERM !== 'dumb'
  const locale = (env.LC_ALL ?? '') || (env.LC_CTYPE ?? '') || (env.LANG ?? '')
  const width = isTerminal ? (stream.columns ?? PLAIN_WIDTH) : PLAIN_WIDTH
  return {
    isTerminal,
    isUnicode: isTerminal && /utf-?8/i.test(locale),
    hasColour: isTerminal && (env.NO_COLOR ?? '') === '',
    width: Math.min(Math.max(width, NARROWEST), WIDEST),
  }
}

const CODES: Readonly<Record<Tone, number>> = { good: 32, caution: 33, bad: 31, faint: 2, strong: 1 }

export function toned({ hasColour }: Style, tone: Tone, text: string): string {
  return hasColour && text !== '' ? `\u001b[${CODES[tone]}m${text}\u001b[0m` : text
}

/** `done` of `all` as a bar of `cells`; each share of a few gets cells of its own. */
export function bar(style: Style, done: number, all: number, cells: number): string {
  const full = all <= 0 ? 0 : Math.min(cells, Math.round((done / all) * cells))
  const [on, off] = style.isUnicode ? ['█', '░'] : ['#', '.']
  return `${toned(style, 'good', on.repeat(full))}${toned(style, 'faint', off.repeat(cells - full))}`
}

/** Words in lines of at most `width` characters; one that is longer has a line of its own. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}
