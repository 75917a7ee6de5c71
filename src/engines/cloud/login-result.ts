// The result of a login that passed all checks: the identity, its groups, and names of its machine. Only names that the
// token or the cloud vouches for are included.
import type { Login } from '../../api/login.ts'
import { asciiLowerCase } from '../../lib/ascii.ts'
import { known, type LoginAttempt } from './attempt.ts'
import { hostOf, namedResource } from './checks-resource.ts'
import { isSameName } from './names.ts'
import { formatResourceId, isSameResource, type ResourceId } from './resource-id.ts'
import { bindsResource } from './roles.ts'

/** Describes the token of a login for the service that issues it. Names that were sent but not verified are empty. */
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

/** Returns the names of the machine as the cloud spells them; the role made the checks ask about it. */
function namesByCloud(attempt: LoginAttempt): Names {
  const { id } = known(attempt.resource)
  const { field } = known(namedResource(attempt))
  const scope = {
    subscription_id: id.subscription,
    resource_group_name: attempt.isForeignIdentity ? attempt.effectiveGroup : id.group,
  }
  // Several resources can share an identity. Without a host in the token it does not show that the caller is this one.
  if (attempt.isForeignIdentity || (attempt.host === undefined && !attempt.isOwnIdentity)) return scope
  return { ...scope, ...(field === 'resource_id' ? { resource_id: formatResourceId(id) } : { [field]: lastName(id) }) }
}

/** Returns the names that were sent if the token says the same, all of them or none. The cloud was not asked. */
function namesByToken(attempt: LoginAttempt): Names {
  const host = hostOrNone(attempt)
  const { subscription_id: subscription, resource_group_name: group } = attempt.input
  if (host === undefined || !isSameName(host.subscription, subscription) || !isSameName(host.group, group)) return {}
  const scope = { subscription_id: host.subscription, resource_group_name: host.group }
  const named = namedResource(attempt)
  if (named === undefined) return attempt.input.resource_id === '' ? scope : {}
  if (!isSameResource(named.id, host)) return {}
  const { field } = named
  return {
    ...scope,
    ...(field === 'resource_id' ? { resource_id: formatResourceId(host) } : { [field]: lastName(host) }),
  }
}

function hostOrNone(attempt: LoginAttempt): ResourceId | undefined {
  try {
    return hostOf(attempt)
  } catch {
    // The role does not need a host, so an unreadable claim is no refusal.
    return undefined
  }
}

const lastName = ({ names }: ResourceId): string => names.at(-1) ?? ''
