// Checks whether the token's identity is one of the resource's, or a user-assigned one in a group that the role allows.
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

/** Look-ups that one login may cause, of identities and of groups. */
const MOST_IDENTITIES = 32
const MOST_GROUPS = 32

/** Checks the identity and notes on the attempt how it was found. @throws Refusal, CloudUnavailable */
export async function findIdentity(attempt: LoginAttempt): Promise<string> {
  const { oid, clientId } = known(attempt.identity)
  const { ownPrincipal, principals } = known(attempt.resource)
  attempt.isOwnIdentity = ownPrincipal !== undefined && isSameName(ownPrincipal, oid)
  if (hasName(principals, oid)) return 'yes'
  if (await isAmongUnresolved(attempt, oid)) return 'yes, by a look-up of the identity'
  // If the token names its host, only identities that the host has now count. One that was taken away may still lie in
  // a group (threats L-14).
  if (clientId === '' || attempt.host !== undefined)
    throw loginRefused('neither oid nor appid match: the resource does not have this identity')
  const group = await groupOfIdentity(attempt, oid, clientId)
  if (group === undefined) throw loginRefused('neither oid nor appid match: the resource does not have this identity')
  attempt.effectiveGroup = group
  attempt.isForeignIdentity = true
  return 'no, but it lies in a resource group that is looked into'
}

/** Looks up identities whose principal the resource does not show. The one that the token names comes first. */
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
  // An identity that could not be read may have been the caller's, so this is no refusal.
  if (failures.length > 0) throw failures[0]
  return false
}

/** Returns the user-assigned identity that the token claims to be of; undefined if it names none. */
function claimedIdentity({ jwt }: LoginAttempt): ResourceId | undefined {
  const text = textClaim(known(jwt).claims, 'xms_mirid')
  const id = text === undefined ? undefined : parseResourceId(text)
  return id !== undefined && isOfType(id, USER_ASSIGNED_IDENTITY) ? id : undefined
}

/** Returns true as soon as one is true. Earlier failures are added to `failures`. */
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

/** Returns the first group that has the identity, among the caller's and the role's; undefined if none has. */
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

/** Returns undefined for what does not exist, which has no identities. Every other failure is thrown. */
async function orNone<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (cause) {
    if ((cause as Error).cause instanceof CloudRefusal && ((cause as Error).cause as CloudRefusal).status === 404)
      return undefined
    throw cause
  }
}
