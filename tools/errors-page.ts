// Writes docs/errors.md: every refusal of src/api/errors.ts, in the order of its table, a section for each group.
import { REFUSAL_GROUPS } from '../src/api/errors.ts'
import type { RefusalRows } from '../src/api/refusals/row.ts'

const HEAD = `# Refusals

<!-- Written by tools/generate.ts from src/api/refusals: change those tables, not this page. -->

Every refusal has a status and the body \`{"errors": [sentence]}\`; the list is empty where there is nothing to say.
What a sentence fills in for one request stands here as \`…\`; where it is all of it, the sentence is of the one place
that refuses, and many are those that clients know. Some fields have such a sentence in place of the usual one. The
code says what was wrong, whatever the sentence; it does not travel to clients.

Two answers with such a status are no refusals: \`sys/health\` says the state of the node in its status (200, 501, 503,
or what the request asks for), and a batch of which some items fail answers 400, or what
\`partial_failure_response_code\` asks for, with the results of all items.
`

const TABLE_HEAD = `| Code | Status | Sentence | What to do |
|---|---|---|---|
`

/** Returns the page. */
export function errorsPage(): string {
  return [HEAD, ...REFUSAL_GROUPS.map(({ title, rows }) => `## ${title}\n\n${TABLE_HEAD}${lines(rows)}`)].join('\n')
}

function lines(rows: RefusalRows): string {
  return Object.entries(rows)
    .map(([code, row]) => `| \`${code}\` | ${row.status} | ${shownSentence(row.message)} | ${cell(row.remedy)} |\n`)
    .join('')
}

function shownSentence(message: (...args: never[]) => string): string {
  const gaps = Array.from({ length: message.length }, () => '…')
  const sentence = (message as (...args: string[]) => string)(...gaps)
  return sentence === '' ? '(none)' : cell(`\`${sentence}\``)
}

/** Escapes bars, which would end a cell. */
export const cell = (text: string): string => text.replaceAll('|', '\\|')
