// Machines as the resource manager shows them: single ones, and scale sets of both kinds with their members.
import type { JsonObject } from '../src/lib/json.ts'
import type { Random } from '../src/lib/world.ts'
import type { NewIdentities, Place, Resource, Resources } from './resources.ts'

const VIRTUAL_MACHINES = 'Microsoft.Compute/virtualMachines'
const SCALE_SETS = 'Microsoft.Compute/virtualMachineScaleSets'
const INSTANCES = 'Microsoft.Compute/virtualMachineScaleSets/virtualMachines'

export type NewMachine = Place & NewIdentities & { readonly name: string }

export type NewScaleSet = NewMachine & {
  /** How many members it has at first; 1 by default. */
  readonly instances?: number
}

export class Machines {
  readonly #resources: Resources
  readonly #random: Random

  constructor(resources: Resources, random: Random) {
    this.#resources = resources
    this.#random = random
  }

  /** A machine that stands alone; with an identity of its own unless that is denied. */
  addVirtualMachine({ systemIdentity = true, ...options }: NewMachine): Resource {
    return this.#resources.add({
      ...options,
      systemIdentity,
      type: VIRTUAL_MACHINES,
      properties: this.#machineProperties(),
    })
  }

  /** A uniform set: its members lie within it and are who the set is. */
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

  /** A flexible set: its members are machines that name it, and show user-assigned identities without their ids. */
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

  /** A further member of a flexible set; its name is that of the set with 8 hexadecimal digits unless one is given. */
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

  /** Members of a set of either kind. */
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
