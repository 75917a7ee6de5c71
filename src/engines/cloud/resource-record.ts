// What the resource manager says of a resource, as far as logins ask for it. An answer that does not fit is as if there
// had been none: nothing is guessed.
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts'
import { isGuid, isSameName } from './names.ts'
import { isOfType, isSameResource, parseResourceId, type ResourceId, USER_ASSIGNED_IDENTITY } from './resource-id.ts'

export type ResourceRecord = {
  /** As the cloud spells it. */
  readonly id: ResourceId
  /** '' where it has none. */
  readonly location: string
  readonly hasIdentity: boolean
  /** Object id of the identity that it shares with nothing else; undefined where it has none. */
  readonly ownPrincipal: string | undefined
  /** Object ids of its identities, that one too. */
  readonly principals: readonly string[]
  /** User-assigned ones of which only the name is told. */
  readonly unresolved: readonly ResourceId[]
  /** That a virtual machine is a member of. */
  readonly scaleSet: ResourceId | undefined
}

export type IdentityRecord = { readonly id: ResourceId; readonly principalId: string; readonly clientId: string }

/** Undefined where the answer is not of the resource that was asked for. */
export function readResource(answer: JsonObject, asked: ResourceId): ResourceRecord | undefined {
  const id = idIn(answer.id)
  if (id === undefined || !isSameResource(id, asked)) return undefined
  const { location, identity, properties } = answer
  const own = isJsonObject(identity) ? guidIn(identity.principalId) : undefined
  const assigned =
    isJsonObject(identity) && isJsonObject(identity.userAssignedIdentities)
      ? Object.entries(identity.userAssignedIdentities)
      : []
  const known = assigned.flatMap(([, value]) => (isJsonObject(value) ? (guidIn(value.principalId) ?? []) : []))
  const unresolved = assigned.flatMap(([name, value]) => {
    if (isJsonObject(value) && guidIn(value.principalId) !== undefined) return []
    const named = idIn(name)
    return named !== undefined && isOfType(named, USER_ASSIGNED_IDENTITY) ? [named] : []
  })
  const set = isJsonObject(properties) ? properties.virtualMachineScaleSet : undefined
  return {
    id,
    location: typeof location === 'string' ? location : '',
    hasIdentity: own !== undefined || assigned.length > 0,
    ownPrincipal: own,
    principals: own === undefined ? known : [own, ...known],
    unresolved,
    scaleSet: isJsonObject(set) ? idIn(set.id) : undefined,
  }
}

/** Undefined where it is none, or has no principal yet. */
export function readIdentity(answer: JsonValue): IdentityRecord | undefined {
  if (!isJsonObject(answer) || !isJsonObject(answer.properties)) return undefined
  const id = idIn(answer.id)
  const principalId = guidIn(answer.properties.principalId)
  const clientId = guidIn(answer.properties.clientId)
  if (id === undefined || !isOfType(id, USER_ASSIGNED_IDENTITY) || principalId === undefined || clientId === undefined)
    return undefined
  return { id, principalId, clientId }
}

const idIn = (value: JsonValue | undefined): ResourceId | undefined =>
  typeof value === 'string' ? parseResourceId(value) : undefined

const guidIn = (value: JsonValue | undefined): string | undefined =>
  typeof value === 'string' && isGuid(value) ? value : undefined

/** Versions of the API that a type has, newest first; without those that are tried out. */
export function versionsOf(provider: JsonObject, type: string): readonly string[] {
  const { resourceTypes } = provider
  if (!Array.isArray(resourceTypes)) return []
  const found = resourceTypes.find(
    (each) => isJsonObject(each) && typeof each.resourceType === 'string' && isSameName(each.resourceType, type),
  )
  if (!isJsonObject(found) || !Array.isArray(found.apiVersions)) return []
  return found.apiVersions
    .filter((each): each is string => typeof each === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(each))
    .sort()
    .reverse()
}
