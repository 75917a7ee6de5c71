// What a login that passed all checks gives: the identity, its groups, and names of its machine, of which only those
// are told that the token or the cloud vouches for.
import type { Login } from '../../api/login.ts'
import { asciiLowerCase } from '../../lib/ascii.ts'
import { known, type LoginAttempt } from './attempt.ts'
import { hostOf, namedResource } from './checks-resource.ts'
import { isSameName } from './names.ts'
import { formatResourceId, isSameResource, type ResourceId } from './resource-id.ts'
import { bindsResource } from './roles.ts'

export function loginOf(attempt: LoginAttempt): Login {
  const { oid, clientId } = known(attempt.identity)
  const role = known(attempt.role)
  const names = bindsResource(role.bounds) ? namesByCloud(attempt) : namesByToken(attempt)
  const verified = { subscription_id: '', resource_group_name: '', ...names }
  const metadata = clientId === '' ? verified : { ...verified, app_id: clientId }
  const roleName = asciiLowerCase(attempt.input.role)
  return {
    displayName: oid,
    settings: role.settings,
    metadata: { ...metadata, role: roleName },
    alias: { name: oid, metadata },
    groups: [...new Set(attempt.groups)],
    renewal: { role: roleName },
  }
}

type Names = Readonly<Record<string, string>>

/** The machine was asked about: it is as the cloud spells it. */
function namesByCloud(attempt: LoginAttempt): Names {
  const { id } = known(attempt.resource)
  const { field } = known(namedResource(attempt))
  const place = {
    subscription_id: id.subscription,
    resource_group_name: attempt.isForeignIdentity ? attempt.effectiveGroup : id.group,
  }
  // An identity that several resources can have does not make its bearer this one, where the token does not say so.
  if (attempt.isForeignIdentity || (attempt.host === undefined && !attempt.isOwnIdentity)) return place
  return { ...place, ...(field === 'resource_id' ? { resource_id: formatResourceId(id) } : { [field]: lastName(id) }) }
}

/** Nobody asked the cloud: what the caller says counts where the token says the same, all of it or nothing. */
function namesByToken(attempt: LoginAttempt): Names {
  const host = hostOrNone(attempt)
  const { subscription_id: subscription, resource_group_name: group } = attempt.input
  if (host === undefined || !isSameName(host.subscription, subscription) || !isSameName(host.group, group)) return {}
  const place = { subscription_id: host.subscription, resource_group_name: host.group }
  const named = namedResource(attempt)
  if (named === undefined) return attempt.input.resource_id === '' ? place : {}
  if (!isSameResource(named.id, host)) return {}
  const { field } = named
  return {
    ...place,
    ...(field === 'resource_id' ? { resource_id: formatResourceId(host) } : { [field]: lastName(host) }),
  }
}

function hostOrNone(attempt: LoginAttempt): ResourceId | undefined {
  try {
    return hostOf(attempt)
  } catch {
    // The role does not ask for it.
    return undefined
  }
}

const lastName = ({ names }: ResourceId): string => names.at(-1) ?? ''
