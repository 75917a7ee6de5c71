// sys/rekey, sys/rekey-recovery-key and their authenticated twins under sys/rotate: new shares for holders of enough
// old ones. Both kinds of shares have the same endpoints; each refuses on a server with the other kind.
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { bool, int } from '../../api/fields.ts'
import { orNotFound } from '../../api/named-things.ts'
import { type Answer, DONE } from '../../api/request.ts'
import { flag, integer, listOf, mapOf, nullable, optional, type Shapes, text } from '../../api/shape.ts'
import { MAX_SHARES } from '../../crypto/primitives/shamir.ts'
import { pgpKeys } from '../pgp-field.ts'
import type { Rekey, Rekeyed, RekeyStatus, VerifyStatus } from '../seal/rekey.ts'
import { SHARE_FIELDS, withShare } from '../seal/share-text.ts'
import { type EndpointGroup, keyHolderEndpoints, type ShareOperation, type SystemWithHolders } from './key-holder.ts'

const fingerprints = nullable(
  listOf(text('Fingerprint'), 'Fingerprints of the OpenPGP keys, in the order of the shares'),
)

const STATUS: Shapes = {
  nonce: text('Nonce of the attempt, sent with each share'),
  started: flag('An attempt is in progress'),
  t: integer('Threshold: number of new shares that will be required'),
  n: integer('Number of new shares'),
  progress: integer('Number of current shares submitted so far'),
  required: integer('Number of current shares required'),
  pgp_fingerprints: fingerprints,
  backup: flag('Encrypted new shares are also kept in storage'),
  verification_required: flag('New shares take effect only after enough of them are submitted for verification'),
  verification_nonce: optional(text('Nonce of the verification, sent with each new share')),
}

/** A rekey that runs or not; `verification_nonce` is left out before there are new shares. */
function statusBody(status: RekeyStatus): object {
  return {
    nonce: status.nonce,
    started: status.started,
    t: status.config.threshold,
    n: status.config.shares,
    progress: status.progress,
    required: status.required,
    pgp_fingerprints: status.fingerprints ?? null,
    backup: status.backup,
    verification_required: status.verification,
    ...(status.verificationNonce === '' ? {} : { verification_nonce: status.verificationNonce }),
  }
}

/** The new shares, in the answer to the last old one. */
function doneBody(done: Rekeyed): object {
  return {
    nonce: done.nonce,
    complete: true,
    keys: done.keys,
    keys_base64: done.keysBase64,
    pgp_fingerprints: done.fingerprints ?? null,
    backup: done.backup,
    verification_required: done.verificationNonce !== '',
    ...(done.verificationNonce === '' ? {} : { verification_nonce: done.verificationNonce }),
  }
}

/**
 * The answer with shares that are in force is their only copy, so it reaches the caller even if it cannot be recorded.
 * Shares that wait for verification are not stored, and can be made again.
 */
const doneAnswer = (done: Rekeyed): Answer => ({
  data: doneBody(done),
  ...(done.verificationNonce === '' ? { isOnlyCopy: true } : { storedNothing: true }),
})

/** Progress of giving new shares back; counts new shares, while STATUS counts old ones. */
const VERIFY_STATUS: Shapes = {
  nonce: text('Nonce of the verification, sent with each new share'),
  started: flag('New shares await verification'),
  t: integer('Number of new shares required'),
  n: integer('Total number of new shares'),
  progress: integer('Number of new shares submitted so far'),
}

const verifyBody = ({ nonce, started, config, progress }: VerifyStatus): object => ({
  nonce,
  started,
  t: config.threshold,
  n: config.shares,
  progress,
})

/** The shape of an answer that has one of several forms: all their members, each optional. */
function anyOf(...forms: readonly Shapes[]): Shapes {
  const members = forms.flatMap((form) => Object.entries(form))
  return Object.fromEntries(members.map(([name, shape]) => [name, optional(shape)]))
}

/** Declares an endpoint of one kind of shares at both its paths. */
type Define = ReturnType<typeof keyHolderEndpoints<Rekey>>

/** All endpoints of one kind of shares; `of` names its key in summaries. */
function endpointsFor(of: string, operation: ShareOperation<Rekey>): readonly Endpoint<SystemWithHolders>[] {
  const define = keyHolderEndpoints(operation)
  return [...attemptEndpoints(of, define), ...giveEndpoints(define), ...verifyEndpoints(define)]
}

/** Status, start and cancel. */
const attemptEndpoints = (of: string, define: Define): readonly Endpoint<SystemWithHolders>[] => [
  ...define({
    name: 'read',
    operation: 'read',
    path: 'init',
    writes: 'node',
    summary: `Shows the progress of the attempt to rekey the ${of}`,
    fields: {},
    response: STATUS,
    run: async (rekey) => ({ data: statusBody(rekey.status()) }),
  }),
  ...define({
    name: '',
    operation: 'update',
    path: 'init',
    writes: 'set',
    onlyOnPrimary: true,
    summary: `Starts an attempt to replace the ${of} and its shares; only one can be in progress`,
    describe: 'The attempt is cancelled after ten minutes of inactivity.',
    fields: {
      secret_shares: int('Number of new shares', { default: 0, min: 0, max: MAX_SHARES }),
      secret_threshold: int('Number of new shares that will be required (threshold)', {
        default: 0,
        min: 0,
        max: MAX_SHARES,
      }),
      pgp_keys: pgpKeys('OpenPGP public keys, base64-encoded, one for each share'),
      backup: bool('Also keep the encrypted shares in storage', { default: false }),
      require_verification: bool('New shares take effect only after enough of them are submitted for verification', {
        default: false,
      }),
    },
    response: STATUS,
    run: async (rekey, args) => {
      const status = await rekey.start({
        shares: args.secret_shares,
        threshold: args.secret_threshold,
        pgpKeys: args.pgp_keys ?? [],
        backup: args.backup,
        verification: args.require_verification,
      })
      return { data: statusBody(status) }
    },
  }),
  ...define({
    name: 'cancel',
    operation: 'delete',
    path: 'init',
    writes: 'set',
    onlyOnPrimary: true,
    summary: 'Cancels the attempt, and discards new shares that await verification',
    fields: {},
    run: async (rekey) => {
      await rekey.cancel()
      return DONE
    },
  }),
]

/** Gives an old share; the last one gets the new shares in answer. */
const giveEndpoints = (define: Define): readonly Endpoint<SystemWithHolders>[] => [
  ...define({
    name: 'update',
    operation: 'update',
    path: 'update',
    writes: 'set',
    onlyOnPrimary: true,
    summary: 'Submits one of the current shares; the response to the last required share has the new shares',
    describe:
      'That response is the only copy of the new shares. It cannot be wrapped, and it is sent even if no ' +
      'audit device can record it, unless the new shares await verification (`require_verification`).',
    neverWrapped: true,
    fields: SHARE_FIELDS,
    response: anyOf(STATUS, {
      complete: flag('The new shares were created'),
      keys: listOf(text('Share'), 'New shares, in hexadecimal, or as OpenPGP messages if encrypted'),
      keys_base64: listOf(text('Share'), 'Same as keys, base64-encoded'),
    }),
    run: (rekey, { key, nonce }) =>
      withShare(key, async (share) => {
        const given = await rekey.give(share, nonce)
        return 'keys' in given ? doneAnswer(given) : { data: statusBody(given) }
      }),
  }),
]

/** Gives new shares back, if verification was asked for. */
const verifyEndpoints = (define: Define): readonly Endpoint<SystemWithHolders>[] => [
  ...define({
    name: 'verify-read',
    operation: 'read',
    path: 'verify',
    writes: 'node',
    summary: 'Shows the progress of the verification of new shares',
    fields: {},
    response: VERIFY_STATUS,
    run: async (rekey) => ({ data: verifyBody(rekey.verifyStatus()) }),
  }),
  ...define({
    name: 'verify',
    operation: 'update',
    path: 'verify',
    writes: 'set',
    onlyOnPrimary: true,
    summary: 'Submits one of the new shares for verification; after the last required share the new shares take effect',
    fields: SHARE_FIELDS,
    response: anyOf(VERIFY_STATUS, { complete: flag('The new shares are in effect') }),
    run: (rekey, { key, nonce }) =>
      withShare(key, async (share) => {
        const isComplete = await rekey.verify(share, nonce)
        return { data: isComplete ? { nonce, complete: true } : verifyBody(rekey.verifyStatus()) }
      }),
  }),
  ...define({
    name: 'verify-restart',
    operation: 'delete',
    path: 'verify',
    writes: 'set',
    onlyOnPrimary: true,
    summary: 'Restarts the verification of new shares, under a new nonce',
    fields: {},
    response: VERIFY_STATUS,
    run: async (rekey) => ({ data: verifyBody(await rekey.restartVerification()) }),
  }),
]

/** Reads and removes the encrypted shares that the last rekey kept; the same at several paths, for old clients. */
function backupEndpoints(
  of: string,
  { id, path }: EndpointGroup,
  rekeyOf: (system: SystemWithHolders) => Rekey,
): readonly Endpoint<SystemWithHolders>[] {
  const common = { path, sudo: true, runsOn: 'writer', writes: 'node', offeredIn: 'root' } as const
  return [
    endpoint({
      ...common,
      id: `${id}-backup-read`,
      operation: 'read',
      capability: 'read',
      body: 'both',
      summary: `Shows the encrypted shares of the ${of} that the last rekey kept`,
      fields: {},
      response: {
        nonce: text('Nonce of the attempt that created the shares'),
        keys: mapOf(
          listOf(text('OpenPGP message'), 'Encrypted shares, in hexadecimal'),
          'Encrypted shares in hexadecimal, by key fingerprint',
        ),
        keys_base64: mapOf(
          listOf(text('OpenPGP message'), 'Encrypted shares, base64-encoded'),
          'Encrypted shares in base64, by key fingerprint',
        ),
      },
      handler: async (system: SystemWithHolders) => {
        const found = orNotFound(await rekeyOf(system).backup())
        const keysBase64 = Object.entries(found.keys).map(([name, list]) => [name, list.map(hexToBase64)])
        return { data: { nonce: found.nonce, keys: found.keys, keys_base64: Object.fromEntries(keysBase64) } }
      },
    }),
    endpoint({
      ...common,
      id: `${id}-backup-delete`,
      operation: 'delete',
      capability: 'delete',
      summary: `Deletes the encrypted shares of the ${of} that the last rekey kept`,
      fields: {},
      handler: async (system: SystemWithHolders) => {
        await rekeyOf(system).deleteBackup()
        return DONE
      },
    }),
  ]
}

/** The store has each message in hexadecimal only; answers have both forms. */
const hexToBase64 = (message: string): string => Buffer.from(message, 'hex').toString('base64')

const UNSEAL: ShareOperation<Rekey> = {
  tokenSetting: 'rekey',
  open: { id: 'rekey', path: 'rekey' },
  authenticated: { id: 'rotate-root', path: 'rotate/root' },
  subjectOf: (system) => system.seal.rekey,
}

const RECOVERY: ShareOperation<Rekey> = {
  tokenSetting: 'rekey',
  open: { id: 'rekey-recovery-key', path: 'rekey-recovery-key' },
  authenticated: { id: 'rotate-recovery', path: 'rotate/recovery' },
  subjectOf: (system) => system.seal.recoveryRekey,
}

/** Both kinds of shares, with their backups at the old and the new paths. */
export const REKEY_ENDPOINTS: readonly Endpoint<SystemWithHolders>[] = [
  ...endpointsFor('unseal key', UNSEAL),
  ...backupEndpoints('unseal key', { id: 'rekey', path: 'rekey/backup' }, UNSEAL.subjectOf),
  ...backupEndpoints('unseal key', { id: 'rotate-root', path: 'rotate/root/backup' }, UNSEAL.subjectOf),
  ...endpointsFor('recovery key', RECOVERY),
  ...backupEndpoints(
    'recovery key',
    { id: 'rekey-recovery-key', path: 'rekey/recovery-key-backup' },
    RECOVERY.subjectOf,
  ),
  ...backupEndpoints('recovery key', { id: 'rotate-recovery', path: 'rotate/recovery/backup' }, RECOVERY.subjectOf),
]
