// Checks of a role that is bound to resources: the caller is the machine, scale set or other resource that it names, by
// its token and by the resource manager (Interface 4.1; threats L-01, V-01 to V-05).
import { known, type LoginAttempt, type LoginCheck, type Stage } from './attempt.ts'
import { textClaim } from './claims.ts'
import { hasName, isSameName, isSameRegion } from './names.ts'
import { loginRefused, quotedInput } from './refusals.ts'
import {
  formatResourceId,
  isOfType,
  isSameResource,
  parseResourceId,
  type ResourceId,
  resourceIn,
  SCALE_SET,
  USER_ASSIGNED_IDENTITY,
  VIRTUAL_MACHINE,
} from './resource-id.ts'
import { findIdentity } from './resource-identity.ts'
import { findRecord, type Named } from './resource-lookup.ts'
import { bindsResource } from './roles.ts'

/** Returns the resource that the caller names; undefined if it names none, or none that is well-formed. */
export function namedResource({ input }: LoginAttempt): Named | undefined {
  const { subscription_id: subscription, resource_group_name: group, vm_name, vmss_name, resource_id } = input
  if (vmss_name !== '') return { field: 'vmss_name', id: resourceIn(subscription, group, SCALE_SET, vmss_name) }
  if (vm_name !== '') return { field: 'vm_name', id: resourceIn(subscription, group, VIRTUAL_MACHINE, vm_name) }
  const id = resource_id === '' ? undefined : parseResourceId(resource_id)
  return id === undefined ? undefined : { field: 'resource_id', id }
}

/** True for a machine, a scale set, or something inside one. Their tokens name the machine that they were issued to. */
function isMachine(id: ResourceId): boolean {
  const outermost = { ...id, types: id.types.slice(0, 1) }
  return isOfType(outermost, VIRTUAL_MACHINE) || isOfType(outermost, SCALE_SET)
}

/**
 * Returns the resource on which the token was issued. All of it is read from one claim (threats V-01).
 * @throws Refusal if a claim is not a resource id.
 */
export function hostOf({ jwt }: LoginAttempt): ResourceId | undefined {
  const { claims } = known(jwt)
  const [azRid, mirid] = ['xms_az_rid', 'xms_mirid'].map((name) => {
    const text = textClaim(claims, name)
    const id = text === undefined ? undefined : parseResourceId(text)
    if (text !== undefined && id === undefined)
      throw loginRefused(`claim ${name} is no name of a resource: ${quotedInput(text)}`)
    return id
  })
  return azRid ?? (mirid === undefined || isOfType(mirid, USER_ASSIGNED_IDENTITY) ? undefined : mirid)
}

const named: LoginCheck = {
  name: 'the caller names its resource',
  run: (attempt) => {
    const found = namedResource(attempt)
    if (found === undefined) throw loginRefused('one of vm_name, vmss_name or resource_id is required')
    return `by ${found.field}`
  },
}

const host: LoginCheck = {
  name: 'the token names its host',
  run: (attempt) => {
    attempt.host = hostOf(attempt)
    if (attempt.host !== undefined) return quotedInput(formatResourceId(attempt.host))
    const { field, id } = known(namedResource(attempt))
    if (field !== 'resource_id' || isMachine(id))
      throw loginRefused('xms_az_rid and xms_mirid claims are missing: no machine is named by the token')
    return 'no: the resource’s identities decide'
  },
}

function matching(
  name: string,
  isSame: (host: ResourceId, attempt: LoginAttempt) => boolean,
  field: string,
): LoginCheck {
  return {
    name,
    run: (attempt) => {
      if (attempt.host === undefined) return 'the token names no host'
      if (!isSame(attempt.host, attempt))
        throw loginRefused(`claim does not match ${field}: it names ${quotedInput(formatResourceId(attempt.host))}`)
      return 'yes'
    },
  }
}

/**
 * True if the token's host is the named resource. In a scale set whose members are virtual machines of their own, only
 * the member's record tells the set, so that is checked later.
 */
function isNamedHost(hostId: ResourceId, attempt: LoginAttempt): boolean {
  const { field, id } = known(namedResource(attempt))
  if (field !== 'vmss_name') return isSameResource(hostId, id)
  if (isOfType(hostId, VIRTUAL_MACHINE)) return true
  const [type = '', instance] = hostId.types
  const isSet = isOfType({ ...hostId, types: [type] }, SCALE_SET)
  const isInSet =
    hostId.types.length === 1 || (hostId.types.length === 2 && isSameName(instance ?? '', 'virtualMachines'))
  return isSet && isInSet && isSameName(hostId.names[0] ?? '', id.names[0] ?? '')
}

const sameSubscription = matching(
  'the host is in subscription_id',
  (hostId, { input }) => isSameName(hostId.subscription, input.subscription_id),
  'subscription_id',
)
const sameGroup = matching(
  'the host is in resource_group_name',
  (hostId, { input }) => isSameName(hostId.group, input.resource_group_name),
  'resource_group_name',
)

const sameName: LoginCheck = {
  name: 'the host is the resource that the caller names',
  run: (attempt) => {
    const { field } = known(namedResource(attempt))
    return matching('', isNamedHost, field).run(attempt)
  },
}

const subscription: LoginCheck = {
  name: 'bound_subscription_ids',
  run: ({ role, input }) => {
    const { subscriptions } = known(role).bounds
    if (subscriptions.length === 0) return 'any'
    if (!hasName(subscriptions, input.subscription_id))
      throw loginRefused(`subscription not authorized: ${quotedInput(input.subscription_id)}`)
    return quotedInput(input.subscription_id)
  },
}

const NO_SET = {
  vm_name: "bound scale set defined but this vm isn't in a scale set", // Wire text.
  resource_id: 'scale set requires the vmss_name field to be set', // Wire text.
}

const scaleSet: LoginCheck = {
  name: 'bound_scale_sets',
  run: (attempt) => {
    const { scaleSets } = known(attempt.role).bounds
    if (scaleSets.length === 0) return 'any'
    const { field, id } = known(namedResource(attempt))
    if (field !== 'vmss_name') throw loginRefused(NO_SET[field])
    const [name = ''] = id.names
    if (!hasName(scaleSets, name)) throw loginRefused(`scale set not authorized: ${quotedInput(name)}`)
    return quotedInput(name)
  },
}

const record: LoginCheck = {
  name: 'the cloud knows the resource',
  run: async (attempt) => {
    attempt.beginAsking()
    attempt.resource = await findRecord(attempt, known(namedResource(attempt)))
    attempt.effectiveGroup = attempt.input.resource_group_name
    return quotedInput(formatResourceId(attempt.resource.id))
  },
}

const identity: LoginCheck = { name: 'the resource has the token’s identity', run: findIdentity }

const resourceGroup: LoginCheck = {
  name: 'bound_resource_groups',
  run: ({ role, effectiveGroup }) => {
    const { resourceGroups } = known(role).bounds
    if (resourceGroups.length === 0) return 'any'
    if (!hasName(resourceGroups, effectiveGroup))
      throw loginRefused(`resource group not authorized: ${quotedInput(effectiveGroup)}`)
    return quotedInput(effectiveGroup)
  },
}

const location: LoginCheck = {
  name: 'bound_locations',
  run: ({ role, resource, isForeignIdentity }) => {
    const { locations } = known(role).bounds
    const { location: at } = known(resource)
    if (locations.length === 0) return 'any'
    // The named resource is not the caller's, so its location says nothing of the caller. It is not revealed either.
    if (isForeignIdentity)
      throw loginRefused('location not authorized: nothing confirms where the bearer of the token runs')
    if (at === '') throw loginRefused('location not authorized: the resource has none')
    if (!locations.some((each) => isSameRegion(each, at)))
      throw loginRefused(`location not authorized: ${quotedInput(at)}`)
    return quotedInput(at)
  },
}

/** What explain shows for the checks of resources if the role is bound to none. */
const NOT_BOUND = 'the role is not bound to resources'

/** Skips the checks of a stage if the role is bound to no resource. */
const whereBound = (stage: Stage): Stage =>
  stage.map(({ name, run }) => ({
    name,
    run: (attempt) => (bindsResource(known(attempt.role).bounds) ? run(attempt) : NOT_BOUND),
  }))

/** The checks of the resource that need the token and the request only. */
export const RESOURCE_STAGES: readonly Stage[] = [
  [named],
  [host],
  [sameSubscription, sameGroup, sameName, subscription, scaleSet],
].map(whereBound)

/** The checks that need the resource's record from the cloud. */
export const RECORD_STAGES: readonly Stage[] = [[record], [identity], [resourceGroup, location]].map(whereBound)
