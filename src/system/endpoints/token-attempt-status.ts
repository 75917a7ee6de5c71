// Fields and answers of the attempts that make a token for holders of shares (seal/token-attempt.ts).
import { string } from '../../api/fields.ts'
import { flag, integer, type Shapes, text } from '../../api/shape.ts'
import type { TokenAttemptStatus } from '../seal/token-attempt.ts'

/** Shape of `statusBody`. */
export const attemptStatus = (rootToken: string): Shapes => ({
  nonce: text('Nonce of the attempt, sent with each share'),
  started: flag('An attempt is in progress'),
  progress: integer('Number of shares submitted so far'),
  required: integer('Number of shares required'),
  complete: flag('The attempt is complete: the token was created'),
  encoded_token: text('The encrypted token; empty until the attempt is complete'),
  encoded_root_token: text(rootToken),
  pgp_fingerprint: text(
    'Fingerprint of the OpenPGP key that the token is encrypted to; empty with a one-time password',
  ),
  otp: text('The one-time password; only in the response that starts the attempt'),
  otp_length: integer('Required length of a one-time password'),
})

/** The status as answers carry it. No key is ever left out: clients read all of them. */
export const statusBody = (status: TokenAttemptStatus, encodedRootToken: string): object => ({
  nonce: status.nonce,
  started: status.started,
  progress: status.progress,
  required: status.required,
  complete: status.complete,
  encoded_token: status.encodedToken,
  encoded_root_token: encodedRootToken,
  pgp_fingerprint: status.pgpFingerprint,
  otp: status.otp,
  otp_length: status.otpLength,
})

/** What an attempt is started with. */
export const START_FIELDS = {
  otp: string('One-time password that the token is XORed with; generated if neither it nor pgp_key is sent', {
    default: '',
    secret: true,
  }),
  pgp_key: string('OpenPGP public key, base64-encoded, that the token is encrypted to', { default: '' }),
}
