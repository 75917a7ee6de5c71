// Values as YAML 1.2 that YAML 1.1 reads the same way. The style is that of blocks; a text that could be taken for
// another type stands in the quotes of JSON.
import { isExactNumber, isList, isMembers, type Json, plainText } from './exact-json.ts'

const INDENT = '  '

/** Formats a value as a document, with a line break at its end. */
export function formatYaml(value: Json): string {
  return `${lines(value).join('\n')}\n`
}

function lines(value: Json): string[] {
  if (isMembers(value) && Object.keys(value).length > 0) {
    return Object.entries(value).flatMap(([name, each]) => memberLines(name, each))
  }
  // The first line of an item stands behind its dash, the others under it.
  if (isList(value) && value.length > 0) {
    return value.flatMap((each) => lines(each).map((line, index) => (index === 0 ? `- ${line}` : INDENT + line)))
  }
  return [scalar(value)]
}

function memberLines(name: string, value: Json): string[] {
  const head = `${textOf(name)}:`
  // An empty list or object has no lines of its own, and stands behind its name.
  const isNested = (isMembers(value) && Object.keys(value).length > 0) || (isList(value) && value.length > 0)
  if (!isNested) return [`${head} ${scalar(value)}`]
  return [head, ...lines(value).map((line) => (isList(value) ? line : INDENT + line))]
}

/** Formats a value of one line: scalars, and empty lists and objects. */
function scalar(value: Json): string {
  if (typeof value === 'string') return textOf(value)
  return isExactNumber(value) ? plainText(value) : JSON.stringify(value)
}

/** Words that one version of YAML or another reads as null or a bool. */
const WORDS = new Set(['null', 'true', 'false', 'yes', 'no', 'on', 'off', 'y', 'n'])

/** Returns plain words as they are, and every other text as JSON, which is YAML too. */
function textOf(text: string): string {
  const isTame = /^[A-Za-z_/]/.test(text) && text.split(' ').every((word) => /^[\w./@-]+$/.test(word))
  const isPlain = isTame && !WORDS.has(text.toLowerCase())
  return isPlain ? text : JSON.stringify(text)
}
