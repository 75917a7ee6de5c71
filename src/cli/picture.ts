// Marks, colours and widths for people at a terminal; elsewhere the same in plain characters.
import type { CliIo, CliOutput } from './io.ts'

/** The meaning of a colour; `toned` has the colours. */
export type Tone = 'good' | 'caution' | 'bad' | 'faint' | 'strong'

/** The abilities of an output stream. */
export type Style = {
  /** A person reads it, so colours and cursor movements make sense. */
  readonly isTerminal: boolean
  /** Characters beyond ASCII can be shown. */
  readonly isUnicode: boolean
  readonly hasColour: boolean
  /** Characters in a line, from 60 to 120. */
  readonly width: number
}

/** Files and pipes have no width of their own. */
const PLAIN_WIDTH = 100
const NARROWEST = 60
const WIDEST = 120

/** Returns the style of a stream. NO_COLOR (no-color.org) and TERM=dumb are honoured. */
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

/** SGR parameters (ECMA-48 section 8.3.117). */
const CODES: Readonly<Record<Tone, number>> = { good: 32, caution: 33, bad: 31, faint: 2, strong: 1 }

/** Returns the text in the colour of the tone, or as it is. The escape codes add to its length: pad before. */
export function toned({ hasColour }: Style, tone: Tone, text: string): string {
  return hasColour && text !== '' ? `\u001b[${CODES[tone]}m${text}\u001b[0m` : text
}

/** Draws `done` of `all` as a bar of `cells` characters. */
export function bar(style: Style, done: number, all: number, cells: number): string {
  const full = all <= 0 ? 0 : Math.min(cells, Math.round((done / all) * cells))
  const [on, off] = style.isUnicode ? ['█', '░'] : ['#', '.']
  return `${toned(style, 'good', on.repeat(full))}${toned(style, 'faint', off.repeat(cells - full))}`
}

/** Wraps words into lines of at most `width` characters; a longer word has a line of its own. */
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
