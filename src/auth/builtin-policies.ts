// The policies that exist before an operator writes any. `root` is built in too, but has no text: it allows everything.

const DEFAULT_POLICY = `# What every token may do unless created without this policy. It can be edited but not deleted.

# A token may look itself up, renew itself and revoke itself.
path "auth/token/lookup-self" {
  capabilities = ["read"]
}
path "auth/token/renew-self" {
  capabilities = ["update"]
}
path "auth/token/revoke-self" {
  capabilities = ["update"]
}

# It may check what it is allowed to do.
path "sys/capabilities-self" {
  capabilities = ["update"]
}
path "sys/internal/ui/resultant-acl" {
  capabilities = ["read"]
}
path "sys/policies/explain-self" {
  capabilities = ["update"]
}

# It may read the entity that it belongs to; without an entity these two rules do not exist.
path "identity/entity/id/{{identity.entity.id}}" {
  capabilities = ["read"]
}
path "identity/entity/name/{{identity.entity.name}}" {
  capabilities = ["read"]
}

# It may look up and renew leases whose ID it knows. Both paths of renewal are in use.
path "sys/leases/lookup" {
  capabilities = ["update"]
}
path "sys/leases/renew" {
  capabilities = ["update"]
}
path "sys/renew" {
  capabilities = ["update"]
}

# It may use its own cubbyhole; no other cubbyhole can be reached under this path.
path "cubbyhole/*" {
  capabilities = ["create", "read", "update", "delete", "list"]
}

# It may wrap values, look up wrapping tokens and unwrap them.
path "sys/wrapping/wrap" {
  capabilities = ["update"]
}
path "sys/wrapping/lookup" {
  capabilities = ["update"]
}
path "sys/wrapping/unwrap" {
  capabilities = ["update"]
}

# It may hash data. Random bytes are not included.
path "sys/tools/hash" {
  capabilities = ["update"]
}
path "sys/tools/hash/*" {
  capabilities = ["update"]
}

# It may see whether a request of its own was approved.
path "sys/control-group/request" {
  capabilities = ["update"]
}

# It may log in to applications through this service.
path "identity/oidc/provider/+/authorize" {
  capabilities = ["read", "update"]
}
`

const RESPONSE_WRAPPING_POLICY = `# What a wrapping token may do: take its value out, once.
path "cubbyhole/response" {
  capabilities = ["create", "read"]
}
path "sys/wrapping/unwrap" {
  capabilities = ["update"]
}
`

/** Policy texts by name. Each holds until storage has a policy of that name. */
export const BUILTIN_POLICIES: ReadonlyMap<string, string> = new Map([
  ['default', DEFAULT_POLICY],
  ['response-wrapping', RESPONSE_WRAPPING_POLICY],
])

/** Policies that only the server gives, to tokens that it makes for its own purposes. No request may ask for them. */
export const UNASSIGNABLE_POLICIES: ReadonlySet<string> = new Set(['response-wrapping', 'control-group'])

/** Policies whose meaning is fixed, so they cannot be written. */
export const UNEDITABLE_POLICIES: ReadonlySet<string> = new Set(['root', ...UNASSIGNABLE_POLICIES])

/** Policies that cannot be deleted. `default` may be edited. */
export const UNDELETABLE_POLICIES: ReadonlySet<string> = new Set(['default', ...UNEDITABLE_POLICIES])
