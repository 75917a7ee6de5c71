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

const fingerprints = nullable(listOf(text('Fingerprint'), 'Of the OpenPGP keys, in the order of the shares'))

const STATUS: Shapes = {
  nonce: text('Names the attempt; goes with each share'),
  started: flag('An attempt is under way'),
  t: integer('New shares that will be needed'),
  n: integer('New shares there will be'),
  progress: integer('Old shares given so far'),
  required: integer('Old shares needed'),
  pgp_fingerprints: fingerprints,
  backup: flag('Encrypted new shares are kept in storage too'),
  verification_required: flag('New shares are in force when enough of them were given back'),
  verification_nonce: optional(text('Goes with each new share that is given back')),
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
 * Shares that wait for verification can be made again.
 */
const doneAnswer = (done: Rekeyed): Answer => ({
  data: doneBody(done),
  ...(done.verificationNonce === '' ? { isOnlyCopy: true } : {}),
})

/** Progress of giving new shares back; counts new shares, while STATUS counts old ones. */
const VERIFY_STATUS: Shapes = {
  nonce: text('Goes with each new share that is given back'),
  started: flag('New shares wait to be given back'),
  t: integer('New shares needed'),
  n: integer('New shares there are'),
  progress: integer('New shares given back so far'),
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
    summary: `How far the attempt to make new shares of the ${of} is`,
    fields: {},
    response: STATUS,
    run: async (rekey) => ({ data: statusBody(rekey.status()) }),
  }),
  ...define({
    name: '',
    operation: 'update',
    path: 'init',
    summary: `Starts an attempt to make new shares of a new ${of}; one at a time`,
    describe: 'It is dropped when it is left alone for ten minutes.',
    fields: {
      secret_shares: int('How many new shares', { default: 0, min: 0, max: MAX_SHARES }),
      secret_threshold: int('How many of them will be needed', { default: 0, min: 0, max: MAX_SHARES }),
      pgp_keys: pgpKeys('OpenPGP public keys in base64, one for each share'),
      backup: bool('Keep the encrypted shares in storage too', { default: false }),
      require_verification: bool('Only in force when enough were given back', { default: false }),
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
    summary: 'Drops the attempt, and new shares that were not given back',
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
    summary: 'Gives one of the old shares; the answer to the last one that is needed has the new ones',
    describe:
      'That answer is their only copy. So it cannot be wrapped, and where no audit device can record it, it is ' +
      'given all the same, unless the new shares wait to be given back (`require_verification`).',
    neverWrapped: true,
    fields: SHARE_FIELDS,
    response: anyOf(STATUS, {
      complete: flag('The new shares were made'),
      keys: listOf(text('Share'), 'New shares in hexadecimal, or OpenPGP messages'),
      keys_base64: listOf(text('Share'), 'The same in base64'),
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
    summary: 'How many of the new shares were given back',
    fields: {},
    response: VERIFY_STATUS,
    run: async (rekey) => ({ data: verifyBody(rekey.verifyStatus()) }),
  }),
  ...define({
    name: 'verify',
    operation: 'update',
    path: 'verify',
    summary: 'Gives back one of the new shares; with the last that is needed they are in force',
    fields: SHARE_FIELDS,
    response: anyOf(VERIFY_STATUS, { complete: flag('The new shares are in force') }),
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
    summary: 'Forgets which new shares were given back; they are asked for anew, under another nonce',
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
  return [
    endpoint({
      id: `${id}-backup-read`,
      operation: 'read',
      path,
      capability: 'read',
      sudo: true,
      body: 'both',
      runsOn: 'writer',
      summary: `The encrypted shares of the ${of} that were kept at the last rekey`,
      fields: {},
      response: {
        nonce: text('Of the attempt that made them'),
        keys: mapOf(listOf(text('OpenPGP message'), 'In hexadecimal'), 'By fingerprint'),
        keys_base64: mapOf(listOf(text('OpenPGP message'), 'In base64'), 'By fingerprint'),
      },
      handler: async (system: SystemWithHolders) => {
        const found = orNotFound(await rekeyOf(system).backup())
        const keysBase64 = Object.entries(found.keys).map(([name, list]) => [name, list.map(hexToBase64)])
        return { data: { nonce: found.nonce, keys: found.keys, keys_base64: Object.fromEntries(keysBase64) } }
      },
    }),
    endpoint({
      id: `${id}-backup-delete`,
      operation: 'delete',
      path,
      capability: 'delete',
      sudo: true,
      runsOn: 'writer',
      summary: 'Removes them',
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
