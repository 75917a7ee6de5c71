// Two judges of generated logins beside the service: an oracle that looks the answer up in the cloud's own records, and
// the rules of the reference, which compare by parts of texts. Both work on what the emulator keeps.
import { SAMPLE } from '../../emulator/sample-plan.ts'
import type { CloudServer } from '../fixtures/cloud-server.ts'

export type Generated = {
  readonly bounds: Readonly<Record<string, readonly string[]>>
  readonly input: Readonly<Record<string, string>>
  readonly claims: Readonly<Record<string, unknown>>
  /** Signed by the directory, for us, in time. */
  readonly isGood: boolean
}

const lower = (text: string): string => text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase())
const has = (list: readonly string[], text: string): boolean => list.some((each) => lower(each) === lower(text))
const isAny = (list: readonly string[] = []): boolean => list.length === 0 || (list.length === 1 && list[0] === '*')
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const RESOURCE_BOUNDS = ['subscription_ids', 'resource_groups', 'locations', 'scale_sets']

export type Place = {
  readonly subscription: string
  readonly group: string
  readonly type: string
  readonly name: string
}

function placeOf(id: string): Place {
  const [, , subscription = '', , group = '', , namespace = '', type = '', name = ''] = lower(id).split('/')
  return { subscription, group, type: `${namespace}/${type}`, name }
}

type Cloud = CloudServer['emulator']

function principalsOf({ resources }: Cloud, id: string): string[] {
  const own = resources.systemIdentityOf(id)?.id
  const assigned = (resources.find(id)?.identity?.userAssignedIdentities ?? {}) as Record<string, unknown>
  const others = Object.keys(assigned).map((each) => resources.userIdentityOf(each)?.id ?? '')
  return [own ?? '', ...others].filter((each) => each !== '')
}

/** Whether whoever is let in is what the role asks for: the cloud itself says so. */
export function mayBeAllowed(cloud: Cloud, { bounds, input, claims, isGood }: Generated): boolean {
  if (!isGood) return false
  const oid = textOf(claims.oid)
  const { service_principal_ids: principals = [], group_ids: groups = [] } = bounds
  if (!isAny(principals) && !has(principals, oid)) return false
  const own = Array.isArray(claims.groups) ? (claims.groups as string[]) : []
  if (!isAny(groups) && !own.some((each) => has(groups, each))) return false
  if (!RESOURCE_BOUNDS.some((bound) => (bounds[bound] ?? []).length > 0)) return !isAny(principals) || !isAny(groups)
  const host = hostOf(claims)
  return cloud.resources
    .all()
    .filter(({ id }) => host === undefined || isOn(cloud, host, id))
    .some((resource) => isThatResource(cloud, resource.id, resource.location, bounds, input, oid, host))
}

/** Whether names of a resource may be told of whoever was let in: its token, or an identity of it alone, says so. */
export function mayBeNamed({ resources }: Cloud, { input, claims }: Generated): boolean {
  if (hostOf(claims) !== undefined) return true
  const own = resources.systemIdentityOf(input.resource_id ?? '')?.id
  return own !== undefined && lower(own) === lower(textOf(claims.oid))
}

const MACHINE = /^microsoft\.compute\/virtualmachine(?:s|scalesets)$/

/** Where the token says that its bearer runs; an identity is no such place. */
function hostOf({ xms_az_rid: azRid, xms_mirid: mirid }: Generated['claims']): string | undefined {
  const text = lower(textOf(azRid) || textOf(mirid))
  return text === '' || text.includes('/microsoft.managedidentity/') ? undefined : text
}

/** It is the resource, or a machine that the cloud counts among the members of the set. */
function isOn({ resources }: Cloud, host: string, id: string): boolean {
  const set = resources.find(host)?.properties.virtualMachineScaleSet as { readonly id?: string } | undefined
  return host === lower(id) || lower(set?.id ?? '') === lower(id)
}

function isThatResource(
  cloud: Cloud,
  id: string,
  location: string,
  bounds: Generated['bounds'],
  input: Generated['input'],
  oid: string,
  host: string | undefined,
): boolean {
  const { subscription, group, type, name } = placeOf(id)
  const asked = input.vmss_name
    ? { type: 'microsoft.compute/virtualmachinescalesets', name: input.vmss_name }
    : input.vm_name
      ? { type: 'microsoft.compute/virtualmachines', name: input.vm_name }
      : placeOf(input.resource_id ?? '')
  const isNamed =
    subscription === lower(input.subscription_id ?? '') &&
    group === lower(input.resource_group_name ?? '') &&
    type === asked.type &&
    name === lower(asked.name)
  if (!isNamed) return false
  // The token of a machine says which one it is.
  if (host === undefined && MACHINE.test(type)) return false
  const {
    subscription_ids: subscriptions = [],
    locations = [],
    scale_sets: sets = [],
    resource_groups: groups = [],
  } = bounds
  if (subscriptions.length > 0 && !has(subscriptions, subscription)) return false
  if (sets.length > 0 && (!input.vmss_name || !has(sets, name))) return false
  if (locations.length > 0 && !has(locations, lower(location).replaceAll(' ', ''))) return false
  // Where the identity lies counts for the group: the resource's, or else its own.
  const ownGroup = principalsOf(cloud, id).some((each) => lower(each) === lower(oid)) ? [group] : []
  // Of somebody who has nothing of the resource, its location says nothing; and whose host is told is there or nowhere.
  if (ownGroup.length === 0 && (locations.length > 0 || host !== undefined)) return false
  const identities = cloud.resources.all().filter((each) => cloud.resources.userIdentityOf(each.id)?.id === lower(oid))
  const elsewhere = identities.map((each) => placeOf(each.id)).filter((each) => each.subscription === subscription)
  const found = ownGroup.length > 0 ? ownGroup : elsewhere.map((each) => each.group)
  return found.some((each) => groups.length === 0 || has(groups, each))
}

/** Section by section as the reference does it: true where it lets in. */
export function referenceAllows(cloud: Cloud, { bounds, input, claims, isGood }: Generated): boolean {
  if (!isGood) return false
  const { service_principal_ids: principals = [], group_ids: groups = [] } = bounds
  const isStar = (list: readonly string[]): boolean => list.length === 1 && list[0] === '*'
  if ((isStar(principals) && isStar(groups)) || (principals.length === 0 && groups.length === 0)) return false
  const oid = textOf(claims.oid)
  if (!isStar(principals) && principals.length > 0 && !has(principals, oid)) return false
  const own = Array.isArray(claims.groups) ? (claims.groups as string[]) : []
  if (!isStar(groups) && groups.length > 0 && !own.some((each) => has(groups, each))) return false
  if (!RESOURCE_BOUNDS.some((bound) => (bounds[bound] ?? []).length > 0)) return true
  const group = lower(input.resource_group_name ?? '')
  const texts = [claims.xms_az_rid, claims.xms_mirid].map((each) => lower(textOf(each)))
  const says = (part: string): boolean => texts.some((text) => text.includes(lower(part)))
  const base = `/subscriptions/${input.subscription_id}/resourceGroups/${input.resource_group_name}/providers`
  let id = input.resource_id ?? ''
  if (input.vmss_name) {
    if (!says(`/virtualMachines/${input.vmss_name}_`) && !says(`/virtualMachineScaleSets/${input.vmss_name}`))
      return false
    id = `${base}/Microsoft.Compute/virtualMachineScaleSets/${input.vmss_name}`
  } else if (input.vm_name) {
    if (!says(`/virtualMachines/${input.vm_name}`)) return false
    id = `${base}/Microsoft.Compute/virtualMachines/${input.vm_name}`
  } else if (id === '') return false
  const isByName = Boolean(input.vmss_name || input.vm_name)
  if (isByName ? !says(`/resourcegroups/${group}`) : !lower(id).includes(`/resourcegroups/${group}`)) return false
  const resource = cloud.resources.find(id)
  if (resource?.identity === undefined) return false
  const {
    scale_sets: sets = [],
    locations = [],
    subscription_ids: subscriptions = [],
    resource_groups: bound = [],
  } = bounds
  if (sets.length > 0 && (!input.vmss_name || !has(sets, input.vmss_name))) return false
  let skipsGroup = false
  if (!principalsOf(cloud, resource.id).includes(oid)) {
    const inGroups = [group, ...bound.map(lower)]
    const fits = cloud.resources.all().some((each) => {
      const principal = cloud.resources.userIdentityOf(each.id)
      const at = placeOf(each.id)
      return (
        principal?.clientId === claims.appid &&
        inGroups.includes(at.group) &&
        at.subscription === lower(input.subscription_id ?? '')
      )
    })
    if (!fits) return false
    skipsGroup = true
  }
  if (subscriptions.length > 0 && !has(subscriptions, input.subscription_id ?? '')) return false
  if (!skipsGroup && bound.length > 0 && !has(bound, group)) return false
  if (locations.length === 0) return true
  return isByName && has(locations, resource.location)
}

export const SUBSCRIPTIONS = [SAMPLE.subscription, SAMPLE.otherSubscription]
