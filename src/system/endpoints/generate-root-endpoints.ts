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
  nonce: text('Nonce of the attempt, sent with each share'),
  started: flag('An attempt is in progress'),
  progress: integer('Number of shares submitted so far'),
  required: integer('Number of shares required'),
  complete: flag('The attempt is complete: the token was created'),
  encoded_token: text('The encrypted token; empty until the attempt is complete'),
  encoded_root_token: text('Same as encoded_token'),
  pgp_fingerprint: text(
    'Fingerprint of the OpenPGP key that the token is encrypted to; empty with a one-time password',
  ),
  otp: text('The one-time password; only in the response that starts the attempt'),
  otp_length: integer('Required length of a one-time password'),
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
  writes: 'node',
  summary: 'Shows the progress of the attempt to generate a root token',
  fields: {},
  response: STATUS,
  run: async (attempt) => ({ data: statusBody(attempt.status()) }),
})

const start = define({
  name: '',
  operation: 'update',
  path: 'attempt',
  writes: 'node',
  summary:
    'Starts an attempt to generate a root token; only one can be in progress, and it is cancelled after ten ' +
    'minutes of inactivity',
  fields: {
    otp: string('One-time password that the token is XORed with; generated if neither it nor pgp_key is sent', {
      default: '',
      secret: true,
    }),
    pgp_key: string('OpenPGP public key, base64-encoded, that the token is encrypted to', { default: '' }),
  },
  response: STATUS,
  run: async (attempt, { otp, pgp_key }) => ({ data: statusBody(await attempt.start(otp, pgp_key)) }),
})

const cancel = define({
  name: 'cancel',
  operation: 'delete',
  path: 'attempt',
  writes: 'node',
  summary: 'Cancels the attempt, if one is in progress',
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
  writes: 'cluster',
  summary: 'Submits one share; the response to the last required share has the encrypted token',
  describe: 'Takes shares of the unseal key, or of the recovery key if the server uses auto-unseal.',
  fields: SHARE_FIELDS,
  response: STATUS,
  run: (attempt, { key, nonce }) =>
    withShare(key, async (share) => ({ data: statusBody(await attempt.give(share, nonce)) })),
})

/** Status, start, cancel and update, each at both paths (key-holder.ts). */
export const GENERATE_ROOT_ENDPOINTS: readonly Endpoint<SystemWithHolders>[] = [...read, ...start, ...cancel, ...update]
