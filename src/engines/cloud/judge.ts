// Login and explain judge by this one list, so they cannot disagree. A login that explain allows succeeds. The first
// check that explain shows as failed is the one that refuses the login.
import { Refusal } from '../../api/errors.ts'
import type { LoginRule } from '../../api/login-method.ts'
import type { MountEntry } from '../../api/mount.ts'
import type { LoginAttempt, LoginCheck, Stage } from './attempt.ts'
import { REQUEST_STAGES } from './checks-request.ts'
import { RECORD_STAGES, RESOURCE_STAGES } from './checks-resource.ts'
import { ROLE_STAGES } from './checks-role.ts'
import { TOKEN_STAGES } from './checks-token.ts'
import { loginOf } from './login-result.ts'
import { asRefusal } from './refusals.ts'

const FIRST_STAGES: readonly Stage[] = [...REQUEST_STAGES, ...TOKEN_STAGES, ...ROLE_STAGES, ...RESOURCE_STAGES]

/** One check in the answer of explain. */
export type CheckResult = {
  readonly name: string
  readonly verdict: 'passed' | 'failed' | 'not reached'
  readonly detail: string
}

/** Returns the first refusal; undefined if all checks pass. */
export async function judge(attempt: LoginAttempt): Promise<Refusal | undefined> {
  const refusal = await firstRefusal(FIRST_STAGES, attempt)
  if (refusal !== undefined) return refusal
  const byRecord = await firstRefusal(RECORD_STAGES, attempt)
  return isFinal(byRecord, attempt) ? byRecord : firstRefusal(RECORD_STAGES, attempt)
}

async function firstRefusal(stages: readonly Stage[], attempt: LoginAttempt): Promise<Refusal | undefined> {
  for (const check of stages.flat()) {
    const refusal = await refusalOf(check, attempt, () => {})
    if (refusal !== undefined) return refusal
  }
  return undefined
}

/** False if a kept record refused the login: the attempt is then reset, and the stages of the record must run again. */
const isFinal = (refusal: Refusal | undefined, attempt: LoginAttempt): boolean =>
  refusal === undefined || refusal.code !== 'login_refused' || !attempt.looksAgain()

/**
 * Runs the same checks and returns what each found. If one fails, the others of its stage still run, and later stages
 * do not. After them come the rules that hold for tokens of all methods.
 */
export async function explain(
  attempt: LoginAttempt,
  rules: readonly LoginRule[],
  mount: MountEntry,
): Promise<{ readonly refusal: Refusal | undefined; readonly results: readonly CheckResult[] }> {
  const before = await explainStages(FIRST_STAGES, attempt)
  let byRecord = await explainStages(RECORD_STAGES, attempt, before.refusal)
  if (before.refusal === undefined && !isFinal(byRecord.refusal, attempt))
    byRecord = await explainStages(RECORD_STAGES, attempt)
  const ruleStages = rules.map((rule) => stageOf(rule, mount))
  const byRules = await explainStages(ruleStages, attempt, byRecord.refusal)
  return { refusal: byRules.refusal, results: [...before.results, ...byRecord.results, ...byRules.results] }
}

/** Runs the stages; with `refusedBefore` every check is only listed as not reached. */
async function explainStages(
  stages: readonly Stage[],
  attempt: LoginAttempt,
  refusedBefore?: Refusal,
): Promise<{ readonly refusal: Refusal | undefined; readonly results: readonly CheckResult[] }> {
  const results: CheckResult[] = []
  let refusal = refusedBefore
  for (const stage of stages) {
    const isReached = refusal === undefined
    for (const check of stage) {
      if (!isReached) {
        results.push({ name: check.name, verdict: 'not reached', detail: '' })
        continue
      }
      let detail = ''
      const found = await refusalOf(check, attempt, (text) => {
        detail = text
      })
      refusal ??= found
      if (found === undefined) results.push({ name: check.name, verdict: 'passed', detail })
      else results.push({ name: check.name, verdict: 'failed', detail: found.message })
    }
  }
  return { refusal, results }
}

const stageOf = ({ name, run }: LoginRule, mount: MountEntry): Stage => [
  { name, run: (attempt) => run(loginOf(attempt), mount) },
]

async function refusalOf(
  check: LoginCheck,
  attempt: LoginAttempt,
  note: (detail: string) => void,
): Promise<Refusal | undefined> {
  try {
    note(await check.run(attempt))
    return undefined
  } catch (cause) {
    const told = asRefusal(cause)
    if (told instanceof Refusal) return told
    throw cause
  }
}
