// Runs the checks, adjusts their verdicts to the configuration, and sums up what they found.
import { storeLocation } from '../storage/drivers.ts'
import { ACCOUNTABILITY_CHECKS } from './accountability-checks.ts'
import { type Check, type Finding, GROUPS, type Result, type Verdict } from './check.ts'
import { FILE_CHECKS } from './file-checks.ts'
import type { Machine } from './machine.ts'
import { NETWORK_CHECKS } from './network-checks.ts'
import { PROCESS_CHECKS } from './process-checks.ts'
import { RUNTIME_CHECKS } from './runtime-checks.ts'
import type { HardeningSetting } from './setting.ts'
import { STORAGE_CHECKS } from './storage-checks.ts'

/** All checks, by group and then by number. */
export const CHECKS: readonly Check[] = [
  ...PROCESS_CHECKS,
  ...RUNTIME_CHECKS,
  ...FILE_CHECKS,
  ...NETWORK_CHECKS,
  ...STORAGE_CHECKS,
  ...ACCOUNTABILITY_CHECKS,
].sort((a, b) => GROUPS.indexOf(a.group) - GROUPS.indexOf(b.group) || (a.id < b.id ? -1 : 1))

/** The results of the start, and the setting of the checks; plain data that goes to every thread. */
export type HardeningFound = {
  readonly setting: HardeningSetting
  readonly results: readonly Result[]
  readonly startedAtMs: number
}

/** How many checks came to each verdict. */
export type Summary = Readonly<Record<Verdict, number>>

/**
 * The only checks whose refusal stands on a development server: it could not run without them. Other
 * refusals become warnings there.
 */
const HARD_IN_DEVELOPMENT = ['B-09', 'B-11', 'B-15', 'B-17']

/**
 * Runs the checks one after the other, in their order. With `strict_hardening` every warning becomes a refusal; the
 * caller decides what follows from one.
 */
export async function runChecks(
  machine: Machine,
  setting: HardeningSetting,
  checks: readonly Check[] = CHECKS,
): Promise<readonly Result[]> {
  const results: Result[] = []
  for (const { id, title, group, run } of checks) {
    results.push({ id, title, group, ...judged(id, setting, await run(machine, setting)) })
  }
  return results
}

/** Returns the results of the start, replaced by a new answer where a check may be repeated while the server runs. */
export async function refreshed(
  results: readonly Result[],
  machine: Machine,
  setting: HardeningSetting,
): Promise<readonly Result[]> {
  const fresh = await runChecks(
    machine,
    setting,
    CHECKS.filter(({ again }) => again),
  )
  const byId = new Map([...results, ...fresh].map((result) => [result.id, result]))
  return CHECKS.flatMap(({ id }) => byId.get(id) ?? [])
}

/** Adjusts the verdict: stricter under `strict_hardening`, milder on a development server. */
function judged(id: string, { isStrict, isDevelopment }: HardeningSetting, finding: Finding): Finding {
  const { verdict } = finding
  if (isDevelopment)
    return verdict === 'refuse' && !HARD_IN_DEVELOPMENT.includes(id) ? { ...finding, verdict: 'warn' } : finding
  return verdict === 'warn' && isStrict ? { ...finding, verdict: 'refuse' } : finding
}

/** Counts the verdicts, for the log line of the start and for `sys/hardening`. */
export function summaryOf(results: readonly Result[]): Summary {
  const count = (verdict: Verdict): number => results.filter((each) => each.verdict === verdict).length
  return { ok: count('ok'), warn: count('warn'), refuse: count('refuse'), unknown: count('unknown') }
}

/** Returns refusals, then warnings; each in the order of the checks. */
export function faultsOf(results: readonly Result[]): readonly Result[] {
  return [
    ...results.filter(({ verdict }) => verdict === 'refuse'),
    ...results.filter(({ verdict }) => verdict === 'warn'),
  ]
}

/**
 * Size of the store with its journal. Returns 0 if nothing is stored or the store cannot
 * be seen; the checks report why.
 */
export function storeFileBytes({ storage }: HardeningSetting): number {
  try {
    const { database, journal } = storeLocation(storage).durable?.bytes() ?? { database: 0, journal: 0 }
    return database + journal
  } catch {
    return 0
  }
}
