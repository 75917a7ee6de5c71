// docs/errors.md: every refusal of src/api/errors.ts, in the order of its table.
import { ERRORS } from '../src/api/errors.ts'

const HEAD = `# Refusals

<!-- Written by tools/generate.ts from src/api/errors.ts: change that table, not this page. -->

Every refusal has a status and the body \`{"errors": [sentence]}\`; the list is empty where there is nothing to say.
What a sentence fills in for one request stands here as \`…\`. The code names the row for us; it does not travel.

Two answers with such a status are no refusals: \`sys/health\` says the state of the node in its status (200, 501, 503,
or what the request asks for), and a batch of which some items fail answers 400, or what
\`partial_failure_response_code\` asks for, with the results of all items.

| Code | Status | Sentence | What to do |
|---|---|---|---|
`

export function errorsPage(): string {
  const rows = Object.entries(ERRORS).map(
    ([code, row]) => `| \`${code}\` | ${row.status} | ${shownSentence(row.message)} | ${cell(row.remedy)} |\n`,
  )
  return HEAD + rows.join('')
}

function shownSentence(message: (...args: never[]) => string): string {
  const gaps = Array.from({ length: message.length }, () => '…')
  const sentence = (message as (...args: string[]) => string)(...gaps)
  return sentence === '' ? '(none)' : cell(`\`${sentence}\``)
}

/** A bar ends a cell. */
export const cell = (text: string): string => text.replaceAll('|', '\\|')
