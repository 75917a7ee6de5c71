// Names of resources: /subscriptions/GUID/resourceGroups/GROUP/providers/NAMESPACE/TYPE/NAME, with further pairs of a
// type and a name for what lies inside another resource. They are taken apart and put together again: no text of a
// caller or of a token becomes part of an address.
import { isGroupName, isGuid, isSameName } from './names.ts'

export type ResourceId = {
  readonly subscription: string
  readonly group: string
  /** `Microsoft.Compute`. */
  readonly namespace: string
  /** From the outermost to the resource itself; as many as names. */
  readonly types: readonly string[]
  readonly names: readonly string[]
}

const MAX_CHARACTERS = 2_048
const FIXED_SEGMENTS = 6
/** Blanks, what is not seen or is of nobody's script, and what has a meaning in an address. */
const FOREIGN = /[\s\p{Cc}\p{Cf}\p{Co}%?#\\]/u
const WORD = /^[A-Za-z0-9]+$/

/** Undefined for a text that is none. */
export function parseResourceId(text: string): ResourceId | undefined {
  if (text.length > MAX_CHARACTERS || !text.isWellFormed() || FOREIGN.test(text)) return undefined
  if (text.normalize('NFC') !== text) return undefined
  const [start, ...segments] = text.split('/')
  if (start !== '' || segments.some((segment) => segment === '' || segment === '.' || segment === '..'))
    return undefined
  const [subscriptions = '', subscription = '', groups = '', group = '', providers = '', namespace = ''] = segments
  const isNamed =
    isSameName(subscriptions, 'subscriptions') &&
    isSameName(groups, 'resourceGroups') &&
    isSameName(providers, 'providers')
  const rest = segments.slice(FIXED_SEGMENTS)
  if (!isNamed || rest.length === 0 || rest.length % 2 !== 0) return undefined
  const types = rest.filter((_, at) => at % 2 === 0)
  const names = rest.filter((_, at) => at % 2 === 1)
  const isWellFormed =
    isGuid(subscription) && isGroupName(group) && [...namespace.split('.'), ...types].every((word) => WORD.test(word))
  return isWellFormed ? { subscription, group, namespace, types, names } : undefined
}

/** As the path of an address: every segment encoded. */
export function resourcePath({ subscription, group, namespace, types, names }: ResourceId): string {
  const pairs = types.flatMap((type, at) => [type, names[at] ?? ''])
  const segments = ['subscriptions', subscription, 'resourceGroups', group, 'providers', namespace, ...pairs]
  return `/${segments.map(encodeURIComponent).join('/')}`
}

/** As people read it. */
export function formatResourceId({ subscription, group, namespace, types, names }: ResourceId): string {
  const pairs = types.flatMap((type, at) => [type, names[at] ?? ''])
  return `/${['subscriptions', subscription, 'resourceGroups', group, 'providers', namespace, ...pairs].join('/')}`
}

export function isSameResource(some: ResourceId, other: ResourceId): boolean {
  return isSameName(formatResourceId(some), formatResourceId(other))
}

/** `Microsoft.Compute/virtualMachines`. */
export const typeOf = ({ namespace, types }: ResourceId): string => [namespace, ...types].join('/')

export const VIRTUAL_MACHINE = 'Microsoft.Compute/virtualMachines'
export const SCALE_SET = 'Microsoft.Compute/virtualMachineScaleSets'
export const USER_ASSIGNED_IDENTITY = 'Microsoft.ManagedIdentity/userAssignedIdentities'

export const isOfType = (id: ResourceId, type: string): boolean => isSameName(typeOf(id), type)

/** One of a type that has a single segment, by its name. */
export function resourceIn(subscription: string, group: string, type: string, name: string): ResourceId {
  const [namespace = '', kind = ''] = type.split('/')
  return { subscription, group, namespace, types: [kind], names: [name] }
}
