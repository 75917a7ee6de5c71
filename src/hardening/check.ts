// Defines a check of the surroundings: one question about the machine, the files, the network or the configuration, and
// an answer that says what to do (threats part 8).
import type { Machine } from './machine.ts'
import type { HardeningSetting } from './setting.ts'

/** 'refuse': the server does not start in this state. 'unknown': the check cannot be made here. */
export type Verdict = 'ok' | 'warn' | 'refuse' | 'unknown'

/** The answer of one check, or of a part of one; `worst` joins the parts. */
export type Finding = {
  readonly verdict: Verdict
  /**
   * The observation and, unless all is well, the remedy: one sentence without a full stop.
   * '' if there is nothing to say.
   */
  readonly sentence: string
}

/** Groups of checks, in the order in which reports show them. */
export const GROUPS = ['process', 'runtime', 'files', 'network', 'storage', 'secrets', 'accountability'] as const
/** One of GROUPS. */
export type CheckGroup = (typeof GROUPS)[number]

/** One check of the surroundings. */
export type Check = {
  /** Number in the list of threats, such as B-01. */
  readonly id: string
  readonly title: string
  readonly group: CheckGroup
  /** The sources that the check looks at. */
  readonly how: string
  /**
   * True if the check is repeated whenever the report is asked for. The others keep their answer of the start: they are
   * too slow to repeat, or ask about a moment that is over.
   */
  readonly again: boolean
  readonly run: (machine: Machine, setting: HardeningSetting) => Finding | Promise<Finding>
}

/** A finding together with the check it belongs to; plain data, so it can be sent to other threads. */
export type Result = Finding & Pick<Check, 'id' | 'title' | 'group'>

/** A finding that all is well; the others say what stands against it. */
export const ok = (sentence: string): Finding => ({ verdict: 'ok', sentence })
/** A finding that lets the server start, unless `strict_hardening` is set. */
export const warn = (sentence: string): Finding => ({ verdict: 'warn', sentence })
/** A finding that keeps the server from starting. */
export const refusing = (sentence: string): Finding => ({ verdict: 'refuse', sentence })
/** A finding that the check could not be made here. It never keeps the server from starting. */
export const unknown = (sentence: string): Finding => ({ verdict: 'unknown', sentence })

/** From best to worst. What is unknown is better than a known fault. */
const SEVERITY: readonly Verdict[] = ['ok', 'unknown', 'warn', 'refuse']

/**
 * Joins findings: returns the worst verdict, with the sentences of all findings that have it. If all is well, the first
 * sentence alone speaks for all.
 */
export function worst(findings: readonly Finding[]): Finding {
  const verdict = findings.reduce<Verdict>(
    (worse, each) => (SEVERITY.indexOf(each.verdict) > SEVERITY.indexOf(worse) ? each.verdict : worse),
    'ok',
  )
  const sentences = findings.filter((each) => each.verdict === verdict).map(({ sentence }) => sentence)
  return { verdict, sentence: verdict === 'ok' ? (sentences[0] ?? '') : sentences.join('; ') }
}
