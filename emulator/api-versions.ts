// The versions of the interface that each kind of resource is served in. Clients ask for different ones, and the real
// service refuses those that it does not have: so does this.
import type { Refusal } from './exchange.ts'
import { resourceError } from './resource-errors.ts'
import type { ResourceId } from './resource-id.ts'

const COMPUTE = [
  '2026-04-01',
  '2025-04-01',
  '2024-11-01',
  '2024-07-01',
  '2024-03-01',
  '2023-09-01',
  '2023-07-01',
  '2023-03-01',
  '2022-11-01',
  '2022-03-01',
]
const IDENTITIES = ['2025-01-31-preview', '2024-11-30', '2023-01-31', '2022-01-31-preview', '2018-11-30']

/** Versions of types, by namespace and type, newest first, as the provider's own list shows them. */
export const PROVIDERS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'Microsoft.Compute': {
    virtualMachines: COMPUTE,
    virtualMachineScaleSets: COMPUTE,
    'virtualMachineScaleSets/virtualMachines': COMPUTE,
  },
  'Microsoft.ManagedIdentity': { userAssignedIdentities: IDENTITIES },
  'Microsoft.Web': { sites: ['2024-04-01', '2023-12-01', '2023-01-01', '2022-09-01', '2022-03-01'] },
  'Microsoft.HybridCompute': { machines: ['2024-07-10', '2024-03-31-preview', '2023-10-03-preview', '2022-12-27'] },
  'Microsoft.ContainerService': { managedClusters: ['2024-09-02-preview', '2024-09-01', '2023-10-01', '2022-03-01'] },
}
/** Versions of the resource manager's own part, the list of providers. */
const PROVIDER_VERSIONS = ['2025-04-01', '2024-11-01', '2022-09-01', '2021-04-01', '2020-06-01', '2019-05-01']

type Versioned =
  | { readonly kind: 'resource'; readonly id: ResourceId }
  | { readonly kind: 'list'; readonly namespace: string; readonly type: string }
  | { readonly kind: 'provider'; readonly namespace: string }

/** Checks the version of a request. @throws Refusal if it is missing, malformed, or none of the type's */
export function checkApiVersion(query: URLSearchParams, target: Versioned): void {
  const version = query.get('api-version')
  if (version === null || version === '') {
    const text = 'The api-version query parameter (?api-version=) is required for all requests.'
    throw resourceError(400, 'MissingApiVersionParameter', text)
  }
  if (!/^\d{4}-\d{2}-\d{2}(?:-\w+)?$/.test(version)) {
    throw resourceError(400, 'InvalidApiVersionParameter', `The api-version '${version}' is invalid.`)
  }
  if (target.kind === 'provider') {
    if (PROVIDER_VERSIONS.includes(version)) return
    throw resourceError(400, 'InvalidApiVersionParameter', `The api-version '${version}' is invalid.`)
  }
  const { namespace, type } = target.kind === 'resource' ? target.id : target
  if (!versionsOf(namespace, type).includes(version)) throw unregistered(namespace, type, version)
}

function versionsOf(namespace: string, type: string): readonly string[] {
  const types = Object.entries(PROVIDERS).find(([name]) => name.toLowerCase() === namespace.toLowerCase())?.[1] ?? {}
  return Object.entries(types).find(([name]) => name.toLowerCase() === type.toLowerCase())?.[1] ?? []
}

function unregistered(namespace: string, type: string, version: string): Refusal {
  const kind = `${namespace}/${type}`
  const text = `No registered resource provider found for API version '${version}' and type '${kind}'.`
  return resourceError(400, 'NoRegisteredProviderFound', text)
}
