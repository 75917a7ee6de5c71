// What a token says of its bearer, read by kind: a claim of another kind than the directory writes is a refusal.
import { isJsonObject, type JsonObject } from '../../lib/json.ts'
import { own } from '../../lib/own.ts'
import { loginRefused } from './refusals.ts'

export type Groups = {
  readonly ids: readonly string[]
  /** The token has too many to list them. */
  readonly isOverage: boolean
}

const MAX_GROUPS = 1_000

export function textClaim(claims: JsonObject, name: string): string | undefined {
  const value = own(claims, name)
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value !== 'string') throw loginRefused(`claim type: ${name} is not a text`)
  return value
}

/** Seconds since the epoch; a fraction is accepted, a text is not. */
export function timeClaim(claims: JsonObject, name: string): number | undefined {
  const value = own(claims, name)
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}

/** One audience, or a list of them. */
export function audiencesOf({ aud }: JsonObject): readonly string[] {
  if (typeof aud === 'string') return [aud]
  return Array.isArray(aud) && aud.every((each) => typeof each === 'string') ? (aud as string[]) : []
}

export function groupsOf(claims: JsonObject): Groups {
  const { groups, _claim_names: names, hasgroups } = claims
  const isOverage = (isJsonObject(names) && names.groups !== undefined) || hasgroups === true || hasgroups === 'true'
  if (groups === undefined || groups === null) return { ids: [], isOverage }
  if (!Array.isArray(groups) || !groups.every((each) => typeof each === 'string'))
    throw loginRefused('groups claim type: expected a list of texts')
  if (groups.length > MAX_GROUPS) throw loginRefused(`groups claim type: has more than ${MAX_GROUPS} entries`)
  return { ids: (groups as string[]).filter((id) => id !== ''), isOverage }
}

/** Of the application: `appid` in version 1, `azp` in version 2. */
export const clientIdOf = (claims: JsonObject): string => textClaim(claims, 'appid') ?? textClaim(claims, 'azp') ?? ''

/** Whether a person is behind it. */
export const isOfUser = (claims: JsonObject): boolean => claims.idtyp === 'user' || typeof claims.scp === 'string'
