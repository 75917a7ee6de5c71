// Refusals about keys, and about operations on them.
import type { RefusalRows } from './row.ts'

/** Most are refusals of transit; its clients know the status 400 also for a key that does not exist. */
export const KEY_REFUSALS = {
  key_not_found: {
    status: 400,
    message: (what: string) => what,
    remedy:
      'As no_such_key, where clients know the status 400. Correct the name, or make the key. A managed key has ' +
      'to be registered, and the mount has to be allowed it.',
  },
  key_cannot: {
    status: 400,
    message: (what: string) => what,
    remedy:
      'No key of this type does that: take a key of a type that does. A key says what it does when it is read ' +
      '(supports_…); a managed key does what its mechanism and its usages say.',
  },
  key_soft_deleted: {
    status: 400,
    message: () => 'refusing to use soft-deleted key: restore it with soft-delete-restore',
    remedy: 'The key is out of use until keys/NAME/soft-delete-restore. Whoever deleted it had a reason: ask first.',
  },
  key_not_exportable: {
    status: 400,
    message: (what: string) => what,
    remedy:
      'The secret stays here: keys/NAME/config sets exportable and allow_plaintext_backup, and nothing unsets ' +
      'them. The secret of a managed key is in its device, which keeps it.',
  },
  private_key_missing: {
    status: 400,
    message: (what: string) => what,
    remedy: 'Only the public half was imported. Import the private half with import_version, or use what holds it.',
  },
  deletion_not_allowed: {
    status: 400,
    message: (what: string) => what,
    remedy:
      'What the key encrypted is lost with it. Whoever is sure sets deletion_allowed with keys/NAME/config ' +
      'first; soft-delete can be undone.',
  },
  rotation_not_allowed: {
    status: 400,
    message: (what: string) => what,
    remedy:
      'The key was imported without allow_rotation: whoever has it adds a version with import_version, or ' +
      'imports it under another name with allow_rotation.',
  },
  import_not_allowed: {
    status: 400,
    message: (what: string) => what,
    remedy:
      'Only a key that was imported, and never rotated here, takes versions from elsewhere, and a version its ' +
      'private half once. Import under another name.',
  },
  key_material_invalid: {
    status: 400,
    message: (what: string) => what,
    remedy:
      'What was sent is no key of the type that was named, or not in the form that is taken: the sentence says ' +
      'which layer failed. Make sure that it was not cut off, and that both halves belong together.',
  },
  backup_invalid: {
    status: 400,
    message: (why: string) => `"backup": ${why}`,
    remedy:
      'Send what backup gave, unchanged: the sentence names the member that is wrong. A backup of a type that is ' +
      'not offered cannot be restored.',
  },
  certificate_chain_invalid: {
    status: 400,
    message: (why: string) => `"certificate_chain": ${why}`,
    remedy:
      'Send PEM: the certificate of this version of the key first, those of its authorities behind it, in order. ' +
      'keys/NAME/csr makes the request that an authority signs.',
  },
  certificate_request_invalid: {
    status: 400,
    message: (why: string) => `"csr": ${why}`,
    remedy: 'Send the template as one certificate request in PEM (PKCS #10), or leave it out for an empty subject.',
  },
  version_unknown: {
    status: 400,
    message: (what: string) => what,
    remedy:
      'The key has no version of this number, or it is not there any more: read the key for those that it has. A ' +
      'ciphertext of a later version comes from a key that was restored from an older backup, or from another ' +
      'one.',
  },
  version_retired: {
    status: 400,
    message: (what: string) => what,
    remedy:
      'The version exists, and min_decryption_version or min_encryption_version of the key takes it out of use. ' +
      'Take a newer version; whoever may configure the key can lower the minimum.',
  },
  version_bounds: {
    status: 400,
    message: (what: string) => what,
    remedy:
      'The minimums of versions have to fit: min_encryption_version 0 or at least min_decryption_version, ' +
      'neither above the latest version nor below min_available_version, which only grows.',
  },
  nonce_refused: {
    status: 400,
    message: (what: string) => what,
    remedy:
      'Leave the nonce out: the key draws its own. Only the oldest versions of convergent keys need one of the ' +
      'caller, of 12 bytes, the one that belongs to the plaintext.',
  },
  ciphertext_malformed: {
    status: 400,
    message: (what: string) => what,
    remedy:
      'Send the text that encrypt gave, from vault:v to its end. It was cut off, changed on its way, or is not ' +
      'of this server.',
  },
  signature_malformed: {
    status: 400,
    message: (what: string) => what,
    remedy:
      'Send the text that sign, hmac or cmac gave, from vault:v to its end, with the marshaling_algorithm that ' +
      'it was made with. One that is well-formed and wrong is no refusal: the answer is valid false.',
  },
  decryption_failed: {
    status: 400,
    message: () => 'message authentication failed: ciphertext, key, context and associated_data do not fit together',
    remedy:
      'Decrypt with the key, the context and the associated_data that it was encrypted with. Which of them is ' +
      'wrong is not told, since that helps whoever guesses.',
  },
  plaintext_too_long: {
    status: 400,
    message: (what: string) => what,
    remedy:
      'A key of this type encrypts short messages only: encrypt with a data key (datakey/plaintext/NAME), which ' +
      'the key wraps.',
  },
  input_unusable: {
    status: 400,
    message: (what: string) => what,
    remedy:
      'The input, the hash and the options do not go with each other or with this key: the sentence names the ' +
      'field. With prehashed the input is the hash, as long as the hash is.',
  },
  batch_invalid: {
    status: 400,
    message: (what: string) => what,
    remedy:
      'A batch has at least one item, and its items are of one kind: all with a context or none, all with a ' +
      'signature, all with an HMAC or all with a CMAC. Send what differs in another request.',
  },
  message_limit_reached: {
    status: 400,
    message: (what: string) => what,
    remedy:
      'Rotate the key (keys/NAME/rotate): more messages would endanger those before. With auto_rotate_period it ' +
      'does so by itself.',
  },
  managed_key_unusable: {
    status: 400,
    message: (what: string) => what,
    remedy:
      'The registry and the device do not fit what is wanted: mechanism, label, size and public half of the key ' +
      'are looked at. docs/runbooks/managed-keys.md says how a managed key is set up; the operator does it.',
  },
  no_such_key: {
    status: 404,
    message: (name: string) => `key not found: no key has the name "${name}"`,
    remedy: 'Correct the name, or make the key; a list of the keys of the mount shows what there is.',
  },
  device_failed: {
    status: 502,
    message: (what: string, why: string) => `${what}: ${why}`,
    remedy:
      'The device behind a managed key is not there, or does not do what it should: docs/runbooks/managed-keys.md. ' +
      'Whoever gave the managed key away can do nothing about it; what was made with it stays readable.',
  },
  messages_not_granted: {
    status: 503,
    message: (what: string) => what,
    remedy:
      'Each cluster encrypts with messages that the primary grants it ahead of need. See that the primary and the ' +
      'clusters reach each other, then send the request again; or send it to the primary. On the primary itself, ' +
      'sys/replication/dr/status and sys/replication/performance/status say who is away, or may have taken over.',
  },
} as const satisfies RefusalRows
