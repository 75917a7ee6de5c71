// What the holder of a valid token is told about a refusal: the path it asked for, and what its own policies lack for
// that. A hint depends on method, path and policies alone, so it reveals nothing of what exists.
import { type Namespace, pathWithin } from '../api/namespace.ts'
import type { Acl } from './acl.ts'
import { type AclReason, type AclRequest, capabilityFor } from './permissions.ts'

/** What the holder of the token may be told about the endpoint. */
export type HintScope = {
  /**
   * True for endpoints of mounts that every server has, which are known to everyone. Elsewhere a hint must be the same
   * whether the path has this endpoint, another one, or none.
   */
  readonly isKnownToAll: boolean
  /** The namespace of the request. Its path is no part of the paths that are shown: callers need not know it. */
  readonly namespace: Namespace
  /** True if the endpoint tells create from update, which depends on what exists. */
  readonly dependsOnExistence: boolean
}

/** Characters of a path shown in a hint. */
const MOST_PATH_CHARACTERS = 200

/** Returns a sentence about a request that `acl` refuses. */
export function refusalHint(acl: Acl, request: AclRequest, scope: HintScope): string {
  const path = shownPath(pathWithin(scope.namespace, request.path))
  const { reason, needed } = tellable(acl, request, scope)
  switch (reason) {
    case 'denied-by-rule':
      return `a policy of this token denies ${path}`
    case 'wrapping-required':
      return `a policy of this token allows this on ${path} only wrapped: send X-Vault-Wrap-TTL`
    case 'wrapping-ttl-too-long':
      return `X-Vault-Wrap-TTL is longer than a policy of this token allows on ${path}`
    case 'wrapping-ttl-too-short':
      return `X-Vault-Wrap-TTL is shorter than a policy of this token allows on ${path}`
    case 'page-limit':
      return `a policy of this token allows fewer names at once on ${path} than "limit" asks for`
    case 'parameter-required':
      return `a policy of this token asks for a parameter on ${path} that was not sent`
    case 'parameter-denied':
    case 'parameter-not-allowed':
      return `a policy of this token does not allow a parameter that was sent to ${path}, or its value`
    default:
      return `this token needs ${needed} on ${path}`
  }
}

/** Returns the reason, as far as it reveals nothing of what exists, and words for the missing capability. */
function tellable(acl: Acl, request: AclRequest, scope: HintScope): { reason: AclReason; needed: string } {
  const { operation } = request
  const { reason } = acl.check(request)
  const capability = capabilityFor(operation) ?? ''
  const withSudo = request.sudoRequired === true && (scope.isKnownToAll || reason === 'sudo-missing')
  const exact = withSudo ? `the capabilities "${capability}" and "sudo"` : `the capability "${capability}"`
  const isWrite = operation === 'create' || operation === 'update'
  if (!isWrite || (scope.isKnownToAll && !scope.dependsOnExistence)) return { reason, needed: exact }
  const other = acl.check({ ...request, operation: operation === 'create' ? 'update' : 'create' })
  // The other operation would have been allowed, so the refusal alone tells which of the two it was. If parameters
  // decide and are not read yet, it might have been refused for them.
  if (other.allowed && !(request.isUnread === true && other.judgesData)) return { reason, needed: exact }
  const either = `the capability "create" or "update"${withSudo ? ', and "sudo"' : ''}`
  return { reason: other.reason === reason ? reason : 'capability-missing', needed: either }
}

/** Quotes the path, with visible characters only. */
function shownPath(path: string): string {
  let shown = ''
  for (const character of path.slice(0, MOST_PATH_CHARACTERS)) {
    shown += character > ' ' && character <= '~' && character !== '"' ? character : '?'
  }
  return path.length > MOST_PATH_CHARACTERS ? `"${shown}…"` : `"${shown}"`
}
