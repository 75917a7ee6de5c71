// What logins need of the resource manager's answers. An answer that does not fit counts as no answer: nothing is
// guessed.
import { isJsonObject, type JsonObject, type JsonValue } from '../../lib/json.ts'
import { isGuid, isSameName } from './names.ts'
import { isOfType, isSameResource, parseResourceId, type ResourceId, USER_ASSIGNED_IDENTITY } from './resource-id.ts'

/** A resource as the cloud describes it. */
export type ResourceRecord = {
  /** The id in the spelling of the cloud. */
  readonly id: ResourceId
  /** The region; empty if there is none. */
  readonly location: string
  readonly hasIdentity: boolean
  /** Object id of the identity that belongs to this resource alone; undefined if there is none. */
  readonly ownPrincipal: string | undefined
  /** Object ids of its identities, including that one. */
  readonly principals: readonly string[]
  /** User-assigned identities of which the answer has the name but not the principal. */
  readonly unresolved: readonly ResourceId[]
  /** The scale set that a virtual machine is a member of. */
  readonly scaleSet: ResourceId | undefined
}

/** A user-assigned identity, with its ids in the directory. */
export type IdentityRecord = { readonly id: ResourceId; readonly principalId: string; readonly clientId: string }

/** Reads an answer; undefined if it is not about the resource that was asked for. */
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

/** Reads an identity; undefined if it is none, or has no principal yet. */
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

/** Returns the API versions of a type, newest first, without previews. */
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
