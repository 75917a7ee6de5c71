// sys/internal/ui/resultant-acl: everything that the policies of a token grant, by path.
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { fail } from '../../api/errors.ts'
import { ROOT_ID } from '../../api/namespace.ts'
import { anything, flag, group, listOf, mapOf, optional, type Shapes, text } from '../../api/shape.ts'
import type { Acl } from '../../auth/acl.ts'
import type { ParameterLists } from '../../auth/parameter-rules.ts'
import type { ParameterValue } from '../../auth/parameter-values.ts'
import type { Permissions } from '../../auth/permissions.ts'
import type { System as Whole } from '../system.ts'

/** The parts of the system that this endpoint uses. */
type System = Pick<Whole, 'policies' | 'rightsOf'>

const GRANT: Shapes = {
  capabilities: listOf(text('Capability'), 'Granted capabilities, sorted; deny: none'),
  allowed_parameters: optional(
    mapOf(listOf(anything('Value'), 'Values of the parameter; empty: any value'), 'Allowed parameters, by name'),
  ),
  denied_parameters: optional(
    mapOf(listOf(anything('Value'), 'Values of the parameter; empty: any value'), 'Denied parameters, by name'),
  ),
  required_parameters: optional(listOf(text('Parameter'), 'Required parameters')),
}

/** For user interfaces, which hide what the caller cannot do. It decides nothing: each request asks the policies. */
export const resultantAcl: Endpoint<System> = endpoint({
  id: 'resultant-acl',
  operation: 'read',
  path: 'internal/ui/resultant-acl',
  capability: 'read',
  runsOn: 'any-node',
  summary: 'Shows what all policies of the calling token grant together',
  fields: {},
  response: {
    root: flag('The token has the root policy'),
    exact_paths: mapOf(group(GRANT, 'Grant'), 'Grants by path; a segment "+" matches any segment'),
    glob_paths: mapOf(group(GRANT, 'Grant'), 'Grants by path prefix, without the trailing * of the rule'),
    chroot_namespace: text('Always empty: the root namespace'),
  },
  handler: async (system: System, _args, { caller, namespace }) => {
    // What is shown has whole paths: a token of another namespace than the root is told them in its own alone.
    const mayAsk = caller?.namespaceId === ROOT_ID || caller?.namespaceId === namespace.id
    if (caller === undefined || !mayAsk) throw fail('permission_denied', [])
    const { policies, subject } = await system.rightsOf(caller.entry)
    const acl = await system.policies.acl(policies, subject)
    return { data: { root: acl.isRoot, ...grantsOf(acl), chroot_namespace: '' } }
  },
})

/** Grants by path. A rule with a star at its end is listed without the star, as clients expect it. */
function grantsOf(acl: Acl): { readonly exact_paths: object; readonly glob_paths: object } {
  const exact_paths: Record<string, object> = Object.create(null)
  const glob_paths: Record<string, object> = Object.create(null)
  for (const permissions of acl.entries()) {
    const { kind, pattern } = permissions.place
    const grant = grantOf(permissions)
    if (kind !== 'exact' && pattern.endsWith('*')) glob_paths[pattern.slice(0, -1)] = grant
    else exact_paths[pattern] = grant
  }
  return { exact_paths, glob_paths }
}

/** One rule. Empty lists of parameters are left out, because they limit nothing. */
function grantOf(permissions: Permissions): object {
  const rules = permissions.parameterRules
  const lists = (of: ParameterLists): object =>
    Object.fromEntries([...of].map(([name, values]) => [name, values.map(plain)]))
  return {
    capabilities: permissions.capabilities(),
    ...(rules === undefined || rules.allowed.size === 0 ? {} : { allowed_parameters: lists(rules.allowed) }),
    ...(rules === undefined || rules.denied.size === 0 ? {} : { denied_parameters: lists(rules.denied) }),
    ...(rules === undefined || rules.required.length === 0 ? {} : { required_parameters: rules.required }),
  }
}

/** A rule's value for JSON. An integer beyond 2^53 becomes the nearest double: this answer decides nothing. */
function plain(value: ParameterValue): unknown {
  if (typeof value === 'bigint') return Number(value)
  if (value instanceof Map) return Object.fromEntries([...value].map(([name, member]) => [name, plain(member)]))
  return Array.isArray(value) ? value.map(plain) : value
}
