// Looks before a step of replication, as a person reads them: what was looked at, what was found, and the verdict.
import { own } from '../lib/own.ts'
import { lineIn } from './answer-members.ts'
import type { Json } from './exact-json.ts'
import { type Style, type Tone, toned, wrapped } from './picture.ts'

/** A look that was not taken has a bad one before it, or is not needed: a token with a key needs no way to the API. */
const GOOD_ENOUGH = ['good', 'not looked at']

/** True for a look that keeps nothing from success. */
export const isGoodEnough = (look: Json): boolean => GOOD_ENOUGH.includes(lineIn(look, 'result'))

/** What looks lead to: the tone, and a sentence without a full stop. */
export type LooksVerdict = readonly [tone: Tone, said: string]

/** Formats the looks and their verdict. */
export function formatLooks(
  looks: readonly Json[],
  verdict: (looks: readonly Json[]) => LooksVerdict,
  style: Style,
): string {
  const width = Math.max(...looks.map((look) => lineIn(look, 'what').length))
  const lines = looks.flatMap((look) => lookLines(look, width, style))
  return `${lines.join('\n')}\n\n${toned(style, ...verdict(looks))}\n`
}

/** The verdict of the looks before an activation. */
export function activationVerdict(looks: readonly Json[]): LooksVerdict {
  if (!looks.every(isGoodEnough)) return ['bad', 'An activation would not work']
  const isPortGood = looks.some((look) => lineIn(look, 'what') === 'cluster port' && lineIn(look, 'result') === 'good')
  if (isPortGood) return ['good', 'An activation would work']
  return ['caution', 'Nothing found against an activation. The cluster port of the primary was not checked']
}

/** Of one width, so that what they stand before is aligned. */
const MARKS: Readonly<Record<string, readonly [tone: Tone, mark: string]>> = {
  good: ['good', '[good]'],
  'not looked at': ['faint', '[-]   '],
}

function lookLines(look: Json, width: number, style: Style): string[] {
  const [tone, mark] = own(MARKS, lineIn(look, 'result')) ?? ['bad', '[bad] ']
  const name = lineIn(look, 'what').padEnd(width)
  const indent = ' '.repeat(`${mark}  ${name}  `.length)
  const [first = '', ...rest] = wrapped(lineIn(look, 'sentence'), style.width - indent.length)
  return [`${toned(style, tone, mark)}  ${name}  ${first}`.trimEnd(), ...rest.map((line) => indent + line)]
}
