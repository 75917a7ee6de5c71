// Resource ids: /subscriptions/GUID/resourceGroups/GROUP/providers/NAMESPACE/TYPE/NAME, with further pairs of type and
// name for what lies inside another resource. They are taken apart and put together again, so that no text of a caller
// or token becomes part of an address (threats V-01, L-11).
import { isGroupName, isGuid, isSameName } from './names.ts'

/** A resource id, taken apart. Case is kept and ignored when comparing. */
export type ResourceId = {
  readonly subscription: string
  readonly group: string
  /** Such as `Microsoft.Compute`. */
  readonly namespace: string
  /** From the outermost to the resource itself; as many as names. */
  readonly types: readonly string[]
  readonly names: readonly string[]
}

const MAX_CHARACTERS = 2_048
const FIXED_SEGMENTS = 6
/** Characters that no name may have: blanks, invisible and private ones, and those with a meaning in an address. */
const FOREIGN = /[\s\p{Cc}\p{Cf}\p{Co}%?#\\]/u
const WORD = /^[A-Za-z0-9]+$/

/** Parses a resource id; undefined if the text is none. */
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

/** Returns the path of an address, with every segment encoded. */
export function resourcePath({ subscription, group, namespace, types, names }: ResourceId): string {
  const pairs = types.flatMap((type, at) => [type, names[at] ?? ''])
  const segments = ['subscriptions', subscription, 'resourceGroups', group, 'providers', namespace, ...pairs]
  return `/${segments.map(encodeURIComponent).join('/')}`
}

/** Returns the id as people read it. Not for addresses: nothing is encoded. */
export function formatResourceId({ subscription, group, namespace, types, names }: ResourceId): string {
  const pairs = types.flatMap((type, at) => [type, names[at] ?? ''])
  return `/${['subscriptions', subscription, 'resourceGroups', group, 'providers', namespace, ...pairs].join('/')}`
}

/** True if both name one resource, in any case. */
export function isSameResource(some: ResourceId, other: ResourceId): boolean {
  return isSameName(formatResourceId(some), formatResourceId(other))
}

/** Returns the full type, such as `Microsoft.Compute/virtualMachines`. */
export const typeOf = ({ namespace, types }: ResourceId): string => [namespace, ...types].join('/')

/** The type of a virtual machine. */
export const VIRTUAL_MACHINE = 'Microsoft.Compute/virtualMachines'
/** The type of a scale set; its members are virtual machines inside it or of their own. */
export const SCALE_SET = 'Microsoft.Compute/virtualMachineScaleSets'
/** The type of an identity that several resources can share. */
export const USER_ASSIGNED_IDENTITY = 'Microsoft.ManagedIdentity/userAssignedIdentities'

/** True if the resource is of the type, in any case. */
export const isOfType = (id: ResourceId, type: string): boolean => isSameName(typeOf(id), type)

/** Makes the id of a resource whose type has a single segment. */
export function resourceIn(subscription: string, group: string, type: string, name: string): ResourceId {
  const [namespace = '', kind = ''] = type.split('/')
  return { subscription, group, namespace, types: [kind], names: [name] }
}
