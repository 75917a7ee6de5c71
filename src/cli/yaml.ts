// Values as YAML 1.2 that YAML 1.1 reads the same way: in block style, and every text that might be taken for something
// else in the quotes of JSON.
import { isExactNumber, isList, isMembers, type Json, plainText } from './exact-json.ts'

const INDENT = '  '

/** The document, with a line break at its end. */
export function formatYaml(value: Json): string {
  return `${lines(value).join('\n')}\n`
}

function lines(value: Json): string[] {
  if (isMembers(value) && Object.keys(value).length > 0) {
    return Object.entries(value).flatMap(([name, each]) => memberLines(name, each))
  }
  // The lines of an item stand behind its dash, and under what stands there.
  if (isList(value) && value.length > 0) {
    return value.flatMap((each) => lines(each).map((line, index) => (index === 0 ? `- ${line}` : INDENT + line)))
  }
  return [scalar(value)]
}

function memberLines(name: string, value: Json): string[] {
  const head = `${textOf(name)}:`
  const isNested = (isMembers(value) && Object.keys(value).length > 0) || (isList(value) && value.length > 0)
  if (!isNested) return [`${head} ${scalar(value)}`]
  return [head, ...lines(value).map((line) => (isList(value) ? line : INDENT + line))]
}

/** What stands in one line; empty lists and objects among it. */
function scalar(value: Json): string {
  if (typeof value === 'string') return textOf(value)
  return isExactNumber(value) ? plainText(value) : JSON.stringify(value)
}

/** What every version of YAML reads as null, a bool or a special number. */
const WORDS = new Set(['null', 'true', 'false', 'yes', 'no', 'on', 'off', 'y', 'n'])

/** A text in letters, digits and what has no meaning between them; everything else as JSON, which is YAML too. */
function textOf(text: string): string {
  const isTame = /^[A-Za-z_/]/.test(text) && text.split(' ').every((word) => /^[\w./@-]+$/.test(word))
  const isPlain = isTame && !WORDS.has(text.toLowerCase())
  return isPlain ? text : JSON.stringify(text)
}
