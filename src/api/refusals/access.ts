// Refusals about the caller: logins, tokens, their policies and roles.
import type { RefusalRows } from './row.ts'

/** `permission_denied` is also the answer to a request without a usable token. */
export const ACCESS_REFUSALS = {
  bad_wrapping_token: {
    status: 400,
    message: () => 'wrapping token is not valid or does not exist', // Wire text.
    remedy:
      'The token was used, has expired, or never was one. If nobody of yours opened it, somebody else did: what was ' +
      'under it is known to them.',
  },
  cubbyhole_full: {
    status: 400,
    message: (bound: string) => `The cubbyhole of this token is full: it holds ${bound}. Delete entries first`,
    remedy:
      'Delete what is no longer needed, or write less; overwriting with no more than is there already goes on. The ' +
      'operator can raise max_cubbyhole_entries and max_cubbyhole_size. Secrets for long are not for a cubbyhole.',
  },
  invalid_credentials: {
    status: 400,
    message: (what: string) => what,
    remedy:
      'Name or secret is wrong, or does not count any more, or not from this address. Which it is is not told. ' +
      'Too many of them lock the name for a time.',
  },
  no_such_token: {
    status: 400,
    message: (what: string) => what,
    remedy: 'No live token has this text or accessor: it has expired or was revoked, or was never one. Get another.',
  },
  token_cannot: {
    status: 400,
    message: (what: string) => what,
    remedy:
      'Tokens of this kind cannot do that: a batch token is nowhere stored, and one with a number of uses has no ' +
      'children. Take a service token.',
  },
  not_renewable: {
    status: 400,
    message: (what: string) => what,
    remedy:
      'Log in again, or make another token: this one has reached its longest life, was made so, or what gave it ' +
      'has changed or is gone.',
  },
  sudo_required: {
    status: 400,
    message: (what: string) => what,
    remedy: 'Ask with a token whose policies grant sudo on the path, or leave the field out.',
  },
  beyond_own_rights: {
    status: 400,
    message: (what: string) => what,
    remedy:
      'A token gets no more than the one that makes it has: ask for fewer policies, a shorter life or other ' +
      'addresses, or ask whoever has them. A token role can name policies beyond those of the caller.',
  },
  not_assignable: {
    status: 400,
    message: (what: string) => what,
    remedy:
      'No token, or no token of this role, gets what was asked for. Ask for less; whoever may write the role ' +
      '(auth/token/roles) says what it allows.',
  },
  role_unbound: {
    status: 400,
    message: (what: string) => what,
    remedy: 'A role without any constraint would let everybody in: name at least one.',
  },
  permission_denied: {
    status: 403,
    message: () => 'permission denied', // Wire text: every 403 contains it.
    remedy:
      'Send a token in X-Vault-Token that has not expired, with a policy that grants the capability on the path. A ' +
      'second text tells the holder of a valid token what its policies lack (permission_denied_hints = false turns ' +
      'that off); sys/policies/explain-self says which rule decides. What does not exist is refused in the same way.',
  },
  other_namespace: {
    status: 403,
    message: (what: string) => what,
    remedy:
      'An alias is of one namespace with its entity or group and its login mount, and each is read and changed in ' +
      'its own namespace: name that one in X-Vault-Namespace. Only members of groups may be of any other.',
  },
  operation_refused: {
    status: 403,
    message: (field: string, takes: string) =>
      `permission denied: ${field} must be ${takes}. Root tokens and service tokens do not count on a secondary for ` +
      'disaster recovery',
    remedy:
      'Make an operation token with the key shares of the primary (keywright operator generate-root -dr-token), or ' +
      'take a batch token that the primary issued: with no_parent, not expired, used from an address that it is ' +
      'bound to, and with a policy that grants the capability on the path that the sentence names.',
  },
  login_refused: {
    status: 403,
    message: (what: string) => `permission denied: ${what}`,
    remedy:
      'The text names the constraint that the login did not meet. auth/MOUNT/explain, and `keywright cloud explain`, ' +
      'show for the same token and role which ones it meets; docs/runbooks/connect-a-cloud.md says how each is met.',
  },
  replication_status_hidden: {
    status: 403,
    message: () => 'permission denied: this listener does not show the status of replication',
    remedy:
      'Ask at another listener of the server, or leave disable_replication_status_endpoints out of the stanza of ' +
      'this one.',
  },
  bad_token: {
    status: 403,
    message: () => 'bad token', // Wire text.
    remedy: 'The token that was asked about does not exist, has expired or was revoked: get another.',
  },
  too_many_attempts: {
    status: 429,
    message: (seconds: number) => `Too many attempts, try again in ${seconds} s`,
    remedy:
      'Wait as many seconds as Retry-After says. Where you did nothing yet, somebody else floods these endpoints: ' +
      'the log names the address. Keep them out of the network that reaches the listener, or ask a token for ' +
      'these endpoints (disable_unauthed_rekey_endpoints, disable_unauthed_generate_root_endpoints).',
  },
  too_many_logins: {
    status: 429,
    message: () => 'Too many logins of this address are waiting, try again later',
    remedy:
      'Nothing was tried: come back after the time in Retry-After. Logins are tried in turn by address; clients of a ' +
      'proxy are told apart by x_forwarded_for_authorized_addrs.',
  },
  token_too_large: {
    status: 431,
    message: (limitBytes: number) => `The token is too long, the limit is ${limitBytes} characters`,
    remedy: 'Send the token as it was given out, or raise max_token_header_size of the listener.',
  },
  cloud_unavailable: {
    status: 502,
    message: (what: string) => what,
    remedy:
      'Nothing was decided: try again. The log has the cause under the id of the request: the cloud did not answer ' +
      'within 10 s, throttled, or refused the credential of this server.',
  },
} as const satisfies RefusalRows
