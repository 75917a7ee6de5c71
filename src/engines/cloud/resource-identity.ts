// Whether the identity of a token is one of the resource, or else a user-assigned one that lies in a group of the role.
import { known, type LoginAttempt } from './attempt.ts'
import { textClaim } from './claims.ts'
import { hasName, isSameName } from './names.ts'
import { CloudRefusal, loginRefused } from './refusals.ts'
import {
  isOfType,
  isSameResource,
  parseResourceId,
  type ResourceId,
  resourceIn,
  USER_ASSIGNED_IDENTITY,
} from './resource-id.ts'
import { told } from './resource-lookup.ts'

/** Look-ups that one login may cause. */
const MOST_IDENTITIES = 32
const MOST_GROUPS = 32

/** @throws Refusal, CloudUnavailable */
export async function findIdentity(attempt: LoginAttempt): Promise<string> {
  const { oid, clientId } = known(attempt.identity)
  const { ownPrincipal, principals } = known(attempt.resource)
  attempt.isOwnIdentity = ownPrincipal !== undefined && isSameName(ownPrincipal, oid)
  if (hasName(principals, oid)) return 'yes'
  if (await isAmongUnresolved(attempt, oid)) return 'yes, by a look-up of the identity'
  // Where the token names its host, only what the host has now counts: what was taken away may still lie in a group.
  if (clientId === '' || attempt.host !== undefined)
    throw loginRefused('neither oid nor appid match: the resource does not have this identity')
  const group = await groupOfIdentity(attempt, oid, clientId)
  if (group === undefined) throw loginRefused('neither oid nor appid match: the resource does not have this identity')
  attempt.effectiveGroup = group
  attempt.isForeignIdentity = true
  return 'no, but it lies in a resource group that is looked into'
}

/** Identities that the resource names without their principals; the one that the token names comes first. */
async function isAmongUnresolved(attempt: LoginAttempt, oid: string): Promise<boolean> {
  const { unresolved } = known(attempt.resource)
  const { resources } = known(attempt.provider)
  const isIt = async (id: ResourceId): Promise<boolean> => {
    const found = await orNone(() => told(id, () => resources.identity(id, attempt.parts.deadline)))
    return found !== undefined && isSameName(found.principalId, oid)
  }
  const claimed = claimedIdentity(attempt)
  const first = unresolved.filter((id) => claimed !== undefined && isSameResource(id, claimed)).slice(0, 1)
  const others = unresolved.filter((id) => !first.includes(id)).slice(0, MOST_IDENTITIES - first.length)
  const failures: unknown[] = []
  for (const round of [first, others]) if (await isAnyTrue(round.map(isIt), failures)) return true
  // One that could not be read may have been it.
  if (failures.length > 0) throw failures[0]
  return false
}

/** The user-assigned identity that the token is of, by its own words. */
function claimedIdentity({ jwt }: LoginAttempt): ResourceId | undefined {
  const text = textClaim(known(jwt).claims, 'xms_mirid')
  const id = text === undefined ? undefined : parseResourceId(text)
  return id !== undefined && isOfType(id, USER_ASSIGNED_IDENTITY) ? id : undefined
}

/** As soon as one is; what failed until then is added to `failures`. */
async function isAnyTrue(all: readonly Promise<boolean>[], failures: unknown[]): Promise<boolean> {
  const waiting = new Map(all.map((each, at) => [at, settled(each, at)]))
  while (waiting.size > 0) {
    const { at, value, cause } = await Promise.race(waiting.values())
    if (value) return true
    waiting.delete(at)
    if (cause !== undefined) failures.push(cause)
  }
  return false
}

type Settled = { readonly at: number; readonly value: boolean; readonly cause?: unknown }

const settled = (work: Promise<boolean>, at: number): Promise<Settled> =>
  work.then(
    (value) => ({ at, value }),
    (cause: unknown) => ({ at, value: false, cause }),
  )

/** The first of the caller's group and the role's that has the identity. */
async function groupOfIdentity(attempt: LoginAttempt, oid: string, clientId: string): Promise<string | undefined> {
  const { subscription_id: subscription, resource_group_name: own } = attempt.input
  const { resourceGroups } = known(attempt.role).bounds
  const { resources } = known(attempt.provider)
  const groups = [own, ...resourceGroups.filter((each) => !isSameName(each, own))]
  for (const group of groups.slice(0, MOST_GROUPS)) {
    const any = resourceIn(subscription, group, USER_ASSIGNED_IDENTITY, 'any')
    const list = await orNone(() =>
      told(any, () => resources.identitiesIn(subscription, group, attempt.parts.deadline)),
    )
    const isThere = list?.some((each) => isSameName(each.clientId, clientId) && isSameName(each.principalId, oid))
    if (isThere === true) return group
  }
  return undefined
}

/** What is not there has no identities; every other failure is one. */
async function orNone<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (cause) {
    if ((cause as Error).cause instanceof CloudRefusal && ((cause as Error).cause as CloudRefusal).status === 404)
      return undefined
    throw cause
  }
}
