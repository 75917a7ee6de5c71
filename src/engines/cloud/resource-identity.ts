// Whether the identity of a token is one of the resource, or else a user-assigned one that lies in a group of the role.
import { type Attempt, known } from './attempt.ts'
import { hasName, isSameName } from './names.ts'
import { CloudRefusal, refuse } from './refusals.ts'
import { resourceIn, USER_ASSIGNED_IDENTITY } from './resource-id.ts'
import { told } from './resource-lookup.ts'

/** Look-ups that one login may cause. */
const MOST_IDENTITIES = 32
const MOST_GROUPS = 32

/** @throws Refusal, CloudUnavailable */
export async function findIdentity(attempt: Attempt): Promise<string> {
  const { oid, clientId } = known(attempt.identity)
  if (hasName(known(attempt.resource).principals, oid)) return 'yes'
  if (await isAmongUnresolved(attempt, oid)) return 'yes, by a look-up of the identity'
  if (clientId === '') throw refuse('neither oid nor appid match: the resource does not have this identity')
  const group = await groupOfIdentity(attempt, oid, clientId)
  if (group === undefined) throw refuse('neither oid nor appid match: the resource does not have this identity')
  attempt.effectiveGroup = group
  attempt.isForeignIdentity = true
  return 'no, but it lies in a resource group that is looked into'
}

/** Identities that the resource names without their principals. */
async function isAmongUnresolved({ resource, provider, parts }: Attempt, oid: string): Promise<boolean> {
  const { resources } = known(provider)
  const found = await Promise.all(
    known(resource)
      .unresolved.slice(0, MOST_IDENTITIES)
      .map((id) => orNone(() => told(id, () => resources.identity(id, parts.deadline)))),
  )
  return found.some((each) => each !== undefined && isSameName(each.principalId, oid))
}

/** The first of the caller's group and the role's that has the identity. */
async function groupOfIdentity(attempt: Attempt, oid: string, clientId: string): Promise<string | undefined> {
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
