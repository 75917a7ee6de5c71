// Machines as the resource manager shows them: single ones, and scale sets of both kinds with their members.
import type { JsonObject } from '../src/lib/json.ts'
import type { Random } from '../src/lib/world.ts'
import type { NewIdentities, Place, Resource, Resources } from './resources.ts'

const VIRTUAL_MACHINES = 'Microsoft.Compute/virtualMachines'
const SCALE_SETS = 'Microsoft.Compute/virtualMachineScaleSets'
const INSTANCES = 'Microsoft.Compute/virtualMachineScaleSets/virtualMachines'

/** A machine to add. */
export type NewMachine = Place & NewIdentities & { readonly name: string }

/** A scale set to add. */
export type NewScaleSet = NewMachine & {
  /** Members at first; 1 by default. */
  readonly instances?: number
}

/** Adds machines to the resource manager, in the forms that the vendor gives each kind. */
export class Machines {
  readonly #resources: Resources
  readonly #random: Random

  constructor(resources: Resources, random: Random) {
    this.#resources = resources
    this.#random = random
  }

  /** Adds a single machine. It has an identity of its own unless `systemIdentity` is false. */
  addVirtualMachine({ systemIdentity = true, ...options }: NewMachine): Resource {
    return this.#resources.add({
      ...options,
      systemIdentity,
      type: VIRTUAL_MACHINES,
      properties: this.#machineProperties(),
    })
  }

  /** Adds a uniform set. Its members lie within it, and share its identities. */
  addUniformSet({ systemIdentity = true, instances = 1, ...options }: NewScaleSet): Resource {
    const set = this.#resources.add({
      ...options,
      systemIdentity,
      type: SCALE_SETS,
      properties: { provisioningState: 'Succeeded', orchestrationMode: 'Uniform', uniqueId: this.#random.uuid() },
      further: { sku: { name: 'Standard_D2s_v3', tier: 'Standard', capacity: instances } },
    })
    for (let number = 0; number < instances; number++) {
      this.#resources.add({
        ...placeOf(set),
        type: INSTANCES,
        name: [set.name, String(number)],
        properties: this.#machineProperties(),
        further: { instanceId: String(number) },
      })
    }
    return set
  }

  /** Adds a flexible set. Its members are machines that name it; user-assigned identities are shown without ids. */
  addFlexibleSet({ systemIdentity = false, instances = 1, ...options }: NewScaleSet): Resource {
    const set = this.#resources.add({
      ...options,
      bareIdentities: true,
      systemIdentity,
      type: SCALE_SETS,
      properties: { provisioningState: 'Succeeded', orchestrationMode: 'Flexible', uniqueId: this.#random.uuid() },
      further: { sku: { name: 'Standard_D2s_v3', tier: 'Standard', capacity: instances } },
    })
    for (let number = 0; number < instances; number++)
      this.addMember(set, { userIdentities: options.userIdentities ?? [] })
    return set
  }

  /** Adds a member to a flexible set. Its name is that of the set with 8 hexadecimal digits, unless one is given. */
  addMember(set: Resource, { name, ...identities }: NewIdentities & { readonly name?: string } = {}): Resource {
    return this.#resources.add({
      ...identities,
      ...placeOf(set),
      bareIdentities: true,
      type: VIRTUAL_MACHINES,
      name: name ?? `${set.name}_${this.#random.bytes(4).toString('hex')}`,
      properties: { ...this.#machineProperties(), virtualMachineScaleSet: { id: set.id } },
    })
  }

  /** Returns the members of a set of either kind. */
  membersOf(set: Resource): Resource[] {
    const group = set.id.slice(0, set.id.indexOf('/providers/'))
    const machines = this.#resources.list(group, VIRTUAL_MACHINES)
    return [
      ...this.#resources.list(set.id, INSTANCES),
      ...machines.filter(
        ({ properties }) => (properties.virtualMachineScaleSet as JsonObject | undefined)?.id === set.id,
      ),
    ]
  }

  #machineProperties(): JsonObject {
    return { vmId: this.#random.uuid(), provisioningState: 'Succeeded' }
  }
}

function placeOf({ id, location }: Resource): Place {
  const [, , subscription = '', , resourceGroup = ''] = id.split('/')
  return { subscription, resourceGroup, location }
}
