// A whole cloud as JSON: the one to start with, or one that replaces it.
import type { Directory, NewApplication } from './directory.ts'
import type { Machines, NewMachine, NewScaleSet } from './machines.ts'
import type { NewIdentities, NewResource, Place, Resources } from './resources.ts'

/** The parts of a cloud, added in this order. Ids that are missing are made up. */
export type CloudPlan = {
  readonly tenants?: readonly { readonly id?: string; readonly domains?: readonly string[] }[]
  readonly subscriptions?: readonly { readonly id?: string; readonly tenantId?: string }[]
  readonly userIdentities?: readonly (Place & { readonly name: string })[]
  readonly virtualMachines?: readonly NewMachine[]
  readonly uniformSets?: readonly NewScaleSet[]
  readonly flexibleSets?: readonly NewScaleSet[]
  /** Members of flexible sets, by the id of the set. */
  readonly members?: readonly (NewIdentities & { readonly set: string; readonly name: string })[]
  readonly resources?: readonly NewResource[]
  /** `reads`: ids below which an application may read everything. */
  readonly applications?: readonly (NewApplication & { readonly reads?: readonly string[] })[]
  /** Groups of resources, as object ids; their own identities become members. */
  readonly groups?: readonly { readonly resource: string; readonly groups: readonly string[] }[]
}

/** The smallest cloud in which a resource can be added. */
export const DEFAULT_PLAN: CloudPlan = { tenants: [{ domains: ['example.test'] }], subscriptions: [{}] }

/** Adds the plan to what is there. @throws Error naming the part that does not fit */
export function plant({ directory, resources, machines }: PlantedParts, plan: CloudPlan): void {
  for (const tenant of plan.tenants ?? []) directory.addTenant(tenant)
  for (const subscription of plan.subscriptions ?? []) resources.addSubscription(subscription)
  for (const identity of plan.userIdentities ?? []) resources.addUserIdentity(identity)
  for (const machine of plan.virtualMachines ?? []) machines.addVirtualMachine(machine)
  for (const set of plan.uniformSets ?? []) machines.addUniformSet(set)
  for (const set of plan.flexibleSets ?? []) machines.addFlexibleSet(set)
  for (const { set, ...member } of plan.members ?? []) machines.addMember(resources.get(set), member)
  for (const resource of plan.resources ?? []) resources.add(resource)
  for (const { reads = [], ...application } of plan.applications ?? []) {
    const { principal } = directory.addApplication(application)
    for (const scope of reads) resources.grant(principal.id, scope)
  }
  for (const { resource, groups } of plan.groups ?? []) {
    const principal = resources.systemIdentityOf(resource)
    if (principal === undefined) throw new Error(`${resource} has no identity of its own that could be in a group`)
    directory.join(principal.id, ...groups)
  }
}

type PlantedParts = { readonly directory: Directory; readonly resources: Resources; readonly machines: Machines }
