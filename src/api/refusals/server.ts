// Refusals about the server: what it holds, how it is set up, and its state.
import type { RefusalRows } from './row.ts'

/** Some pass by themselves; the answer to `overloaded` says when to come back. */
export const SERVER_REFUSALS = {
  feature_off: {
    status: 400,
    message: (feature: string, edition: string) =>
      `${feature} is not licensed: the edition of this server is "${edition}"`,
    remedy: 'Nothing has to be bought: set `edition` in the configuration of the server, or leave it out.',
  },
  replication_off: {
    status: 400,
    message: () => 'Replication is switched off: "enabled" of the stanza "replication" of this server is false',
    remedy: 'Set `enabled = true` in the stanza `replication` of the configuration, or leave it out, and start again.',
  },
  already_exists: {
    status: 400,
    message: (what: string) => what,
    remedy:
      'The name or the path is taken: choose another, or remove what is there first. restore takes the place of ' +
      'a key with force.',
  },
  path_in_use: {
    status: 400,
    message: (what: string) => what,
    remedy:
      'Choose another path, or remove the mount or the namespace first. A secondary that a filter keeps something ' +
      'from is not told what it is.',
  },
  no_such_entry: {
    status: 400,
    message: (what: string) => what,
    remedy:
      'There is nothing of this name (role, user, lease, mount, audit device, header): a list shows what there ' +
      'is. Correct the name, or make it.',
  },
  path_not_allowed: {
    status: 400,
    message: (what: string) => what,
    remedy: 'Mount at another path: those that the server begins with are its own, and login methods are below auth/.',
  },
  part_of_server: {
    status: 400,
    message: (what: string) => what,
    remedy:
      'It comes with the server and stays as it is: mounts such as sys/ and cubbyhole/, the policy root, the ' +
      'headers of the API, and the entries that open the store.',
  },
  declared_in_config: {
    status: 400,
    message: (what: string) => what,
    remedy: 'The configuration file says which audit devices there are: change it there.',
  },
  namespace_lock: {
    status: 400,
    message: (what: string) => what,
    remedy:
      'A namespace is locked once, and unlocked with the key that its lock answered, or by a caller with sudo on the ' +
      'path. Unlock the outer one first.',
  },
  namespace_not_empty: {
    status: 400,
    message: (path: string) => `unable to delete namespace containing child namespaces: "${path}"`, // Wire text.
    remedy: 'Delete the namespaces below first, the deepest before the others.',
  },
  not_sealable: {
    status: 400,
    message: () => 'namespace is not sealable', // Wire text.
    remedy: 'All namespaces share the keyring of the server: ask in the root namespace, without X-Vault-Namespace.',
  },
  limit_reached: {
    status: 400,
    message: (what: string) => what,
    remedy: 'There are as many as the server keeps: remove some that nobody needs, or do what the sentence says.',
  },
  changed_meanwhile: {
    status: 400,
    message: (what: string) => what,
    remedy:
      'Nothing was done: somebody else changed what the request was about. Look at it, and send the request ' +
      'again.',
  },
  not_configured: {
    status: 400,
    message: (what: string) => what,
    remedy: 'What the request needs was not set up: the sentence names the setting.',
  },
  not_offered: {
    status: 400,
    message: (what: string) => what,
    remedy: 'This server, as it was started, has no such thing, and no request changes that.',
  },
  dr_secondary: {
    status: 400,
    message: () => 'path disabled in replication DR secondary mode', // Wire text.
    remedy: 'This cluster serves no client: send the request to its primary, or promote this one.',
  },
  only_on_primary: {
    status: 400,
    message: (primaryAddress: string) => {
      const where = primaryAddress === '' ? '' : `, at ${primaryAddress}`
      return `A performance secondary does not do that: send the request to the primary${where}`
    },
    remedy: 'The primary does it for the whole set, and its secondaries follow.',
  },
  seal_state_wrong: {
    status: 400,
    message: (what: string) => what,
    remedy:
      'The state of the server does not fit: sys/seal-status says whether it is initialised and unsealed. What ' +
      'was asked for was done before, or has to wait.',
  },
  already_in_progress: {
    status: 400,
    message: (what: string) => what,
    remedy: 'Only one runs at a time: wait until it ends, or cancel it where it can be cancelled.',
  },
  not_in_progress: {
    status: 400,
    message: (what: string) => what,
    remedy:
      'Nothing runs that this request could go on with, or another attempt than the one of the nonce: its status ' +
      'has the nonce. Start it anew.',
  },
  key_share_wrong: {
    status: 400,
    message: (what: string) => what,
    remedy:
      'One of the shares is not of this store, or was given twice. Give them again, each once; those of before ' +
      'the last rekey count no more.',
  },
  auto_seal_failed: {
    status: 400,
    message: (what: string) => what,
    remedy:
      'The static key of the configuration is not there, or not the right one: ' + 'docs/runbooks/start-and-unseal.md.',
  },
  snapshot_refused: {
    status: 400,
    message: (what: string) => what,
    remedy:
      'Nothing was changed. Send a whole snapshot of this cluster; force takes one of another too. ' +
      'docs/runbooks/back-up-and-restore.md has the steps.',
  },
  pgp_key_invalid: {
    status: 400,
    message: (what: string) => what,
    remedy:
      'Send an OpenPGP public key that encrypts and has not expired, binary, in base64: gpg --export KEY | ' +
      'base64.',
  },
  policy_invalid: {
    status: 400,
    message: (what: string) => what,
    remedy: 'The document does not parse: the sentence has the place. docs/api/system.md shows the form.',
  },
  audit_option_invalid: {
    status: 400,
    message: (what: string) => what,
    remedy: 'The sentence names the option of the audit device and what it takes.',
  },
  audit_device_unusable: {
    status: 400,
    message: (what: string) => what,
    remedy:
      'The device was not enabled, since nothing could be written to it: look at the directory and its ' +
      'permissions, or at who listens at the address.',
  },
  reload_failed: {
    status: 400,
    message: (what: string) => what,
    remedy: 'What there was goes on. Mend what the log names (file, certificate, key), and reload again.',
  },
  replication_refused: {
    status: 400,
    message: (what: string) => what,
    remedy:
      'Nothing was changed. The sentence says what is in the way: what the cluster is in the family of replication, ' +
      'a field, or the primary that was asked, with its address.',
  },
  no_such_policy: {
    status: 404,
    message: () => 'policy does not exist', // Wire text.
    remedy: 'The list of sys/policies/password has the names of all in the namespace.',
  },
  no_such_secondary: {
    status: 404,
    message: (what: string) => what,
    remedy: 'Take one of `known_secondaries`, which the status of the family on the primary shows.',
  },
  internal: {
    status: 500,
    message: () => 'internal error', // Wire text.
    remedy: 'This is a defect of the server: its log has the cause under the time of the request. Report it.',
  },
  audit_request_failed: {
    status: 500,
    message: () => 'No audit device could record the request, so it was not carried out',
    remedy: 'Nothing was done. Make one device writable again (disk, permissions, peer); the log names what fails.',
  },
  audit_response_failed: {
    status: 500,
    message: () => 'No audit device could record the answer, so it is withheld',
    remedy:
      'The request may have been carried out: read what it was to change before it is sent again. A token that it ' +
      'made was revoked. Make one device writable again; the log names those that fail.',
  },
  storage_failed: {
    status: 500,
    message: () => 'The write could not be made durable, this node is stopping',
    remedy: 'Look at the disk and at the log, then start the node again: what was answered before is kept.',
  },
  sealed: {
    status: 503,
    message: () => 'Vault is sealed', // Wire text: clients match "sealed".
    remedy: 'Give the shares of the unseal key (sys/unseal).',
  },
  namespace_locked: {
    status: 503,
    // Wire text.
    message: (path: string) =>
      `API access to this namespace has been locked by an administrator - "${path}" must be unlocked to gain access.`,
    remedy: 'Whoever locked it has the key: sys/namespaces/api-lock/unlock, in the namespace or in one above.',
  },
  not_initialized: {
    status: 503,
    message: () => 'server is not yet initialized, see sys/init',
    remedy: 'Initialise the server (sys/init), then unseal it.',
  },
  not_primary: {
    status: 503,
    message: (isShared: boolean, primaryAddress: string) => {
      if (isShared || primaryAddress !== '') {
        const isNot = isShared ? 'cluster does not change what the set shares' : 'node changes no data in its role'
        return `This ${isNot}: its primary does${primaryAddress === '' ? '' : `, at ${primaryAddress}`}`
      }
      // A primary that hands over says so too, and nobody knows yet who follows it.
      return 'This node changes no data now: another one is the primary, or is about to be. Try again'
    },
    remedy:
      'Nothing was written: send the request to the primary. Once this cluster is a primary itself, it carries the ' +
      'request out.',
  },
  being_copied: {
    status: 503,
    message: (primaryAddress: string) =>
      'This cluster is being copied from its primary' +
      `${primaryAddress === '' ? '' : `, at ${primaryAddress}`}, and answers once it has all of it`,
    remedy:
      'Send the request to the primary, or wait: sys/replication/performance/status shows how far the copy is. ' +
      'A root token of generate-root, by the shares of the primary, can give it up with secondary/disable.',
  },
  replication_not_now: {
    status: 503,
    message: (what: string) => what,
    remedy: 'Nothing was changed. The sentence says what has to come first; then send the request again.',
  },
  primary_unreachable: {
    status: 503,
    message: (primaryAddress: string) =>
      `The primary${primaryAddress === '' ? '' : `, at ${primaryAddress},`} cannot be reached: nothing was written`,
    remedy: 'Send the request again once the link is back. Reads, and requests that write nothing shared, go on.',
  },
  primary_leaves: {
    status: 503,
    message: (primaryAddress: string) =>
      `The primary${primaryAddress === '' ? '' : `, at ${primaryAddress},`} is one no more, or is about to be none: ` +
      'the request was not carried out, or not to its end',
    remedy:
      'Read what the request was to change, if that takes many writes. Send it again once this cluster follows the ' +
      'new primary: it finds one that took over by itself, and ' +
      'sys/replication/performance/secondary/update-primary leads it to any other.',
  },
  primary_busy: {
    status: 503,
    message: (primaryAddress: string) => {
      const where = primaryAddress === '' ? '' : `, at ${primaryAddress},`
      return `The primary${where} has as much to do for this cluster as it takes at once: nothing was written`
    },
    remedy: 'Send the request again in a while, and fewer of them at once.',
  },
  primary_silent: {
    status: 503,
    message: (primaryAddress: string) => {
      const where = primaryAddress === '' ? '' : `, at ${primaryAddress},`
      return `The primary${where} gave no answer in time: whether the request was carried out is not known`
    },
    remedy: 'Read what the request was to change before it is sent again.',
  },
  unconfirmed: {
    status: 503,
    message: (ids: string, isHere: boolean) => {
      const where = isHere ? 'This is stored here' : 'The primary has stored this'
      const whose = isHere ? 'that writes wait for' : 'that its writes wait for'
      return (
        `${where}, but not all of the secondaries ${whose} confirmed that they have it: ${ids}. ` +
        'If one of them takes over before it has come back, it may be lost'
      )
    },
    remedy:
      'The request was carried out. Read what it was to change before it is sent again. On the cluster that has it, ' +
      'sys/replication/dr/status says which secondary is away; "synchronous_timeout" lets writes go on without one.',
  },
  data_key_used_up: {
    status: 503,
    message: (primaryAddress: string) => {
      const where =
        primaryAddress === ''
          ? ', on the primary if this cluster follows one'
          : ` on the primary, at ${primaryAddress}; the new key comes over the link to it`
      const why = 'the data key has been used as often as is safe'
      return `Nothing can be written: ${why}. Rotate the keyring (sys/rotate)${where}`
    },
    remedy:
      'A server rotates by itself long before: its log says why it could not. A cluster that follows a primary gets ' +
      'the new key from it, so the primary must rotate, and the link to it must be up. Reads go on. If a follower ' +
      'does not even unseal, its configuration declares an audit device that it cannot store: take it out until then.',
  },
  busy: {
    status: 503,
    message: () => 'The write lost against others too often, try again',
    remedy: 'Nothing was written: try again.',
  },
  overloaded: {
    status: 503,
    message: () => 'More slow work waits than can be done soon, try again later',
    remedy:
      'Nothing was done: try again. New RSA keys take seconds each; whoever makes many waits for one before the next.',
  },
  writer_gone: {
    status: 503,
    message: () => 'The thread that writes ended; whether the request was carried out is not known',
    remedy: 'Start the node again, and read what the request was to change before it is sent again.',
  },
  storage_full: {
    status: 507,
    message: () => 'The storage device is full, nothing was written',
    remedy: 'Make space on the device; reads go on meanwhile.',
  },
} as const satisfies RefusalRows
