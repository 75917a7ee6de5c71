// What a check of the surroundings is: one question about the machine, the files, the network or the configuration, and
// an answer that says what to do (threats part 8).
import type { Machine } from './machine.ts'
import type { HardeningSetting } from './setting.ts'

/** 'refuse': the server does not start so. 'unknown': it could not be found out here. */
export type Verdict = 'ok' | 'warn' | 'refuse' | 'unknown'

export type Finding = {
  readonly verdict: Verdict
  /** What was found and, where it is not well, what to do: one sentence without a full stop. */
  readonly sentence: string
}

/** In the order in which they are shown. */
export const GROUPS = ['process', 'runtime', 'files', 'network', 'storage', 'secrets', 'accountability'] as const
export type CheckGroup = (typeof GROUPS)[number]

export type Check = {
  /** Of the list of threats: B-01. */
  readonly id: string
  readonly title: string
  readonly group: CheckGroup
  /** Where it looks. */
  readonly how: string
  /** It means as much while the server runs as at its start; the others keep the answer of the start. */
  readonly again: boolean
  readonly look: (machine: Machine, setting: HardeningSetting) => Finding | Promise<Finding>
}

export type Result = Finding & Pick<Check, 'id' | 'title' | 'group'>

export const ok = (sentence: string): Finding => ({ verdict: 'ok', sentence })
export const warn = (sentence: string): Finding => ({ verdict: 'warn', sentence })
export const refusing = (sentence: string): Finding => ({ verdict: 'refuse', sentence })
export const unknown = (sentence: string): Finding => ({ verdict: 'unknown', sentence })

const SEVERITY: readonly Verdict[] = ['ok', 'unknown', 'warn', 'refuse']

/** The worst of several findings, and the sentences of all that are as bad; the first where there is nothing to say. */
export function worst(findings: readonly Finding[]): Finding {
  const verdict = findings.reduce<Verdict>(
    (worse, each) => (SEVERITY.indexOf(each.verdict) > SEVERITY.indexOf(worse) ? each.verdict : worse),
    'ok',
  )
  const sentences = findings.filter((each) => each.verdict === verdict).map(({ sentence }) => sentence)
  return { verdict, sentence: verdict === 'ok' ? (sentences[0] ?? '') : sentences.join('; ') }
}
