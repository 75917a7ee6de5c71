// sys/generate-root: a new root token for those who hold enough shares.
import { type Endpoint, type EndpointOperation, endpoint } from '../api/endpoint.ts'
import { fail } from '../api/errors.ts'
import { type Args, type Fields, string } from '../api/fields.ts'
import { type Answer, DONE } from '../api/request.ts'
import { flag, integer, type Shapes, text } from '../api/shape.ts'
import { admitKeyHolder, KEY_HOLDER } from './key-holder.ts'
import { decodeShare } from './share-text.ts'
import type { System } from './system.ts'
import type { TokenAttemptStatus } from './token-attempt.ts'

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

/** All keys are always there: clients decode it so. */
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

function define<const F extends Fields>(definition: {
  readonly id: string
  readonly operation: EndpointOperation
  readonly path: string
  readonly summary: string
  readonly describe?: string
  readonly fields: F
  readonly response?: Shapes
  readonly run: (system: System, args: Args<F>) => Promise<Answer>
}): Endpoint {
  const { run, ...rest } = definition
  return endpoint<System, F>({
    ...rest,
    ...KEY_HOLDER,
    handler: async (system, args, request) => {
      await admitKeyHolder(system, 'generateRoot', definition.path, request)
      return run(system, args)
    },
  })
}

const read = define({
  id: 'generate-root-read',
  operation: 'read',
  path: 'generate-root/attempt',
  summary: 'How far the attempt to make a root token is',
  fields: {},
  response: STATUS,
  run: async (system) => ({ data: statusBody(system.seal.rootToken.status()) }),
})

const start = define({
  id: 'generate-root',
  operation: 'update',
  path: 'generate-root/attempt',
  summary: 'Starts an attempt to make a root token; one at a time, dropped when it is left alone for ten minutes',
  fields: {
    otp: string('One-time password that the token is XORed with; made here where neither it nor pgp_key is given', {
      default: '',
      secret: true,
    }),
    pgp_key: string('OpenPGP public key in base64 that the token is encrypted to', { default: '' }),
  },
  response: STATUS,
  run: async (system, { otp, pgp_key }) => ({ data: statusBody(await system.seal.rootToken.start(otp, pgp_key)) }),
})

const cancel = define({
  id: 'generate-root-cancel',
  operation: 'delete',
  path: 'generate-root/attempt',
  summary: 'Drops the attempt, if there is one',
  fields: {},
  run: async (system) => {
    await system.seal.rootToken.cancel()
    return DONE
  },
})

const update = define({
  id: 'generate-root-update',
  operation: 'update',
  path: 'generate-root/update',
  summary: 'Gives one share; the answer to the last one that is needed has the encrypted token',
  describe: 'Shares of the unseal key, or of the recovery key where the server opens by itself.',
  fields: {
    key: string('One share, hexadecimal or base64', { default: '', secret: true }),
    nonce: string('Nonce of the attempt', { default: '' }),
  },
  response: STATUS,
  run: async (system, { key, nonce }) => {
    if (key === '') throw fail('field_invalid', ['key', "'key' must be specified in request body as JSON"])
    const share = decodeShare(key)
    try {
      return { data: statusBody(await system.seal.rootToken.give(share, nonce)) }
    } finally {
      share.fill(0)
    }
  },
})

export const GENERATE_ROOT_ENDPOINTS: readonly Endpoint[] = [read, start, cancel, update]
