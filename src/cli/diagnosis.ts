// The output of `keywright operator diagnose`: every check with its mark, by group, and what to do about those that
// are not well. A table of checks comes from this machine (src/offline/diagnosis.ts) or from a running server.
import { type ExitCode, RemoteFailure } from './cli-error.ts'
import type { Client } from './client.ts'
import { exactMember, isList, type Json, plainText } from './exact-json.ts'
import type { Diagnosed, DiagnosedVerdict, Diagnosis } from './io.ts'
import { type Style, type Tone, toned, wrapped } from './picture.ts'
import { printableLine } from './terminal-text.ts'

/**
 * Reads what the checks of a running server found. A verdict that is not known here counts as `unknown`: the server
 * may be newer. @throws RemoteFailure if the server does not tell
 */
export async function readDiagnosis(client: Client): Promise<Diagnosis> {
  const { body } = await client.send({ doing: 'reading the checks', method: 'GET', path: 'sys/hardening' })
  const checks = exactMember(exactMember(body, 'data'), 'checks')
  if (!isList(checks)) throw new RemoteFailure('Error reading the checks: the answer has none')
  const text = (check: Json, name: string): string => plainText(exactMember(check, name) ?? '')
  return {
    subject: client.address,
    checks: checks.map((check) => ({
      id: text(check, 'id'),
      title: text(check, 'title'),
      group: text(check, 'group'),
      verdict: VERDICTS.find((verdict) => verdict === text(check, 'verdict')) ?? 'unknown',
      sentence: text(check, 'message'),
    })),
  }
}

const VERDICTS: readonly DiagnosedVerdict[] = ['ok', 'warn', 'refuse', 'unknown']

/** A verdict on the screen: the sign, or the plain text without Unicode. All plain texts have the same width. */
type Mark = { readonly tone: Tone; readonly sign: string; readonly plain: string }

const MARKS: Readonly<Record<DiagnosedVerdict, Mark>> = {
  ok: { tone: 'good', sign: '✔', plain: '[ok]  ' },
  warn: { tone: 'caution', sign: '!', plain: '[warn]' },
  refuse: { tone: 'bad', sign: '✘', plain: '[stop]' },
  unknown: { tone: 'faint', sign: '?', plain: '[?]   ' },
}

/** Formats checks for a person, within the width of the terminal. */
export function formatDiagnosis({ subject, checks }: Diagnosis, style: Style): string {
  const titles = Math.max(...checks.map(({ title }) => title.length))
  const groups = [...new Set(checks.map(({ group }) => group))]
  const lines = [toned(style, 'strong', printableLine(subject)), '']
  for (const group of groups) {
    lines.push(toned(style, 'faint', printableLine(group)))
    for (const check of checks) if (check.group === group) lines.push(...checkLines(check, titles, style))
    lines.push('')
  }
  return `${[...lines, summary(checks, style)].join('\n')}\n`
}

/** Characters: if less is left beside the titles, the sentences stand under them, indented. */
const LEAST_BESIDE = 36
const UNDER = 10

function checkLines({ title, verdict, sentence }: Diagnosed, titles: number, style: Style): string[] {
  const { tone, sign, plain } = MARKS[verdict]
  const mark = style.isUnicode ? sign : plain
  const isBeside = style.width - `  ${mark} `.length - titles - 2 >= LEAST_BESIDE
  const indent = isBeside ? `  ${mark} `.length + titles + 2 : UNDER
  // Checks that are well are faint: the eye should pass over them.
  const shown = (text: string): string =>
    verdict === 'ok' || verdict === 'unknown' ? toned(style, 'faint', text) : text
  const lines = wrapped(printableLine(sentence), style.width - indent).map(shown)
  const [beside, under] = isBeside ? [lines[0] ?? '', lines.slice(1)] : ['', lines]
  const name = printableLine(title)
  const head = `  ${toned(style, tone, mark)} ${isBeside ? name.padEnd(titles + 2) : name}`
  return [`${head}${beside}`.trimEnd(), ...under.map((line) => ' '.repeat(indent) + line)]
}

function summary(checks: readonly Diagnosed[], style: Style): string {
  const count = (verdict: DiagnosedVerdict): number => checks.filter((each) => each.verdict === verdict).length
  const parts = [
    toned(style, 'good', `${count('ok')} passed`),
    count('warn') === 0 ? '' : toned(style, 'caution', `${count('warn')} with warnings`),
    count('refuse') === 0 ? '' : toned(style, 'bad', `${count('refuse')} that prevent a start`),
    count('unknown') === 0 ? '' : toned(style, 'faint', `${count('unknown')} not checked`),
  ].filter((part) => part !== '')
  return parts.join(', ')
}

/** Returns the same for programs, with the verdict on the whole. */
export function diagnosisJson({ subject, checks }: Diagnosis): object {
  return { subject, verdict: verdictOf(checks), checks }
}

/** The worst verdict counts. `unknown` does not: a check that cannot be made from here says nothing bad. */
function verdictOf(checks: readonly Diagnosed[]): DiagnosedVerdict {
  const has = (verdict: DiagnosedVerdict): boolean => checks.some((each) => each.verdict === verdict)
  return has('refuse') ? 'refuse' : has('warn') ? 'warn' : 'ok'
}

/** Exit codes as with the reference: 0 all is well, 1 the server would not start, 2 there are warnings. */
export function diagnosisExitCode({ checks }: Diagnosis): ExitCode {
  const verdict = verdictOf(checks)
  return verdict === 'refuse' ? 1 : verdict === 'warn' ? 2 : 0
}
