// sys/generate-root and its authenticated twin sys/generate-root-token: a root token for holders of enough shares.
import type { Endpoint } from '../../api/endpoint.ts'
import { string } from '../../api/fields.ts'
import { DONE } from '../../api/request.ts'
import { flag, integer, type Shapes, text } from '../../api/shape.ts'
import { SHARE_FIELDS, withShare } from '../seal/share-text.ts'
import type { TokenAttemptStatus } from '../seal/token-attempt.ts'
import { keyHolderEndpoints, type SystemWithHolders } from './key-holder.ts'

/** Shape of `statusBody`. The token stands in two members, of which old clients know the second only. */
const STATUS: Shapes = {
  nonce: text('Names the attempt; goes with each share'),
  started: flag('An attempt is under way'),
  progress: integer('Shares given so far'),
  required: integer('Shares needed'),
  complete: flag('The token was made'),
  encoded_token: text('The token, encrypted; empty until then'),
  encoded_root_token: text('The same'),
  pgp_fingerprint: text('Of the key that it is encrypted to; empty with a one-time password'),
  otp: text('The one-time password, only in the answer to the start'),
  otp_length: integer('How long a one-time password has to be'),
}

/** The status as answers carry it. No key is ever left out: clients read all of them. */
const statusBody = (status: TokenAttemptStatus): object => ({
  nonce: status.nonce,
  started: status.started,
  progress: status.progress,
  required: status.required,
  complete: status.complete,
  encoded_token: status.encodedToken,
  encoded_root_token: status.encodedToken,
  pgp_fingerprint: status.pgpFingerprint,
  otp: status.otp,
  otp_length: status.otpLength,
})

// Both paths work on the same attempt: shares given at one count at the other.
const define = keyHolderEndpoints({
  tokenSetting: 'generateRoot',
  open: { id: 'generate-root', path: 'generate-root' },
  authenticated: { id: 'generate-root-token', path: 'generate-root-token' },
  subjectOf: (system) => system.seal.rootToken,
})

const read = define({
  name: 'read',
  operation: 'read',
  path: 'attempt',
  summary: 'How far the attempt to make a root token is',
  fields: {},
  response: STATUS,
  run: async (attempt) => ({ data: statusBody(attempt.status()) }),
})

const start = define({
  name: '',
  operation: 'update',
  path: 'attempt',
  summary: 'Starts an attempt to make a root token; one at a time, dropped when it is left alone for ten minutes',
  fields: {
    otp: string('One-time password that the token is XORed with; made here where neither it nor pgp_key is given', {
      default: '',
      secret: true,
    }),
    pgp_key: string('OpenPGP public key in base64 that the token is encrypted to', { default: '' }),
  },
  response: STATUS,
  run: async (attempt, { otp, pgp_key }) => ({ data: statusBody(await attempt.start(otp, pgp_key)) }),
})

const cancel = define({
  name: 'cancel',
  operation: 'delete',
  path: 'attempt',
  summary: 'Drops the attempt, if there is one',
  fields: {},
  run: async (attempt) => {
    await attempt.cancel()
    return DONE
  },
})

const update = define({
  name: 'update',
  operation: 'update',
  path: 'update',
  summary: 'Gives one share; the answer to the last one that is needed has the encrypted token',
  describe: 'Shares of the unseal key, or of the recovery key where the server opens by itself.',
  fields: SHARE_FIELDS,
  response: STATUS,
  run: (attempt, { key, nonce }) =>
    withShare(key, async (share) => ({ data: statusBody(await attempt.give(share, nonce)) })),
})

/** Status, start, cancel and update, each at both paths (key-holder.ts). */
export const GENERATE_ROOT_ENDPOINTS: readonly Endpoint<SystemWithHolders>[] = [...read, ...start, ...cancel, ...update]
