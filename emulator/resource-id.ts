// Ids of resources, which are paths: `/subscriptions/{s}/resourceGroups/{g}/providers/{namespace}/{type}/{name}`, with
// further `/{type}/{name}` for what lies within. Letter case does not matter in comparisons.

/** The parts of an id. */
export type ResourceId = {
  readonly subscription: string
  readonly resourceGroup: string
  /** `Microsoft.Compute`. */
  readonly namespace: string
  /** `virtualMachines`, or `virtualMachineScaleSets/virtualMachines` for a resource within another. */
  readonly type: string
  /** One for each part of the type. */
  readonly names: readonly string[]
}

/** Returns undefined unless the text is the id of a resource. */
export function parseResourceId(text: string): ResourceId | undefined {
  const [empty, subscriptions, subscription, groups, resourceGroup, providers, namespace, ...rest] = text.split('/')
  if (empty !== '' || !is(subscriptions, 'subscriptions') || !is(groups, 'resourcegroups')) return undefined
  if (!is(providers, 'providers') || rest.length === 0 || rest.length % 2 !== 0) return undefined
  if (!subscription || !resourceGroup || !namespace || rest.includes('')) return undefined
  return {
    subscription,
    resourceGroup,
    namespace,
    type: rest.filter((_, index) => index % 2 === 0).join('/'),
    names: rest.filter((_, index) => index % 2 === 1),
  }
}

/** Writes an id as the resource manager does. */
export function formatResourceId({ subscription, resourceGroup, namespace, type, names }: ResourceId): string {
  const within = type.split('/').map((part, index) => `${part}/${names[index]}`)
  return `/subscriptions/${subscription}/resourceGroups/${resourceGroup}/providers/${namespace}/${within.join('/')}`
}

/** Writes an id as claims do: with `resourcegroups` in lower case. */
export function formatClaimedId(id: string): string {
  return id.replace(/\/resourceGroups\//i, '/resourcegroups/')
}

function is(part: string | undefined, keyword: string): boolean {
  return part?.toLowerCase() === keyword
}
