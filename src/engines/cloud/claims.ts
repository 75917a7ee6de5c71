// Claims of a token, read by kind. A claim of another kind than the directory writes is refused, not converted (threats
// L-07).
import { isJsonObject, type JsonObject } from '../../lib/json.ts'
import { own } from '../../lib/own.ts'
import { loginRefused } from './refusals.ts'

/** The groups that a token names. */
export type Groups = {
  readonly ids: readonly string[]
  /** True if the token has too many groups to list them, so the directory must be asked. */
  readonly isOverage: boolean
}

/** Groups in one token, which bounds what comparing them costs. */
const MAX_GROUPS = 1_000

/** Returns a text claim; undefined if it is absent, null or empty. @throws Refusal if it is of another kind. */
export function textClaim(claims: JsonObject, name: string): string | undefined {
  const value = own(claims, name)
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value !== 'string') throw loginRefused(`claim type: ${name} is not a text`)
  return value
}

/** Returns seconds since the epoch; undefined unless the claim is a number. Fractions are accepted, texts are not. */
export function timeClaim(claims: JsonObject, name: string): number | undefined {
  const value = own(claims, name)
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

/** Returns the audiences, from one text or a list; empty if `aud` is anything else. */
export function audiencesOf({ aud }: JsonObject): readonly string[] {
  if (typeof aud === 'string') return [aud]
  return Array.isArray(aud) && aud.every((each) => typeof each === 'string') ? (aud as string[]) : []
}

/** Returns the groups of the token. @throws Refusal if the claim is no list of texts, or too long. */
export function groupsOf(claims: JsonObject): Groups {
  const { groups, _claim_names: names, hasgroups } = claims
  const isOverage = (isJsonObject(names) && names.groups !== undefined) || hasgroups === true || hasgroups === 'true'
  if (groups === undefined || groups === null) return { ids: [], isOverage }
  if (!Array.isArray(groups) || !groups.every((each) => typeof each === 'string'))
    throw loginRefused('groups claim type: expected a list of texts')
  if (groups.length > MAX_GROUPS) throw loginRefused(`groups claim type: has more than ${MAX_GROUPS} entries`)
  return { ids: (groups as string[]).filter((id) => id !== ''), isOverage }
}

/** Returns the client id of the application: `appid` in version 1, `azp` in version 2; empty if absent. */
export const clientIdOf = (claims: JsonObject): string => textClaim(claims, 'appid') ?? textClaim(claims, 'azp') ?? ''

/** True if the token stands for a person. */
export const isOfUser = (claims: JsonObject): boolean => claims.idtyp === 'user' || typeof claims.scp === 'string'
