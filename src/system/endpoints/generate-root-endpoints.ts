// sys/generate-root and its authenticated twin sys/generate-root-token: a root token for holders of enough shares.
import type { Endpoint } from '../../api/endpoint.ts'
import { type Answer, DONE } from '../../api/request.ts'
import { SHARE_FIELDS, withShare } from '../seal/share-text.ts'
import type { TokenAttemptStatus } from '../seal/token-attempt.ts'
import { keyHolderEndpoints, type SystemWithHolders } from './key-holder.ts'
import { attemptStatus, START_FIELDS, statusBody } from './token-attempt-status.ts'

// The token stands in two members, of which old clients know the second only.
const STATUS = attemptStatus('Same as encoded_token')

/** The token never expires and the attempt is over, so the answer with it reaches its holder whatever happens. */
const answerOf = (status: TokenAttemptStatus): Answer => ({
  data: statusBody(status, status.encodedToken),
  ...(status.complete ? { isOnlyCopy: true } : {}),
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
  whileCopied: true,
  operation: 'read',
  path: 'attempt',
  writes: 'node',
  summary: 'Shows the progress of the attempt to generate a root token',
  fields: {},
  response: STATUS,
  run: async (attempt) => answerOf(attempt.status()),
})

const start = define({
  name: '',
  whileCopied: true,
  operation: 'update',
  path: 'attempt',
  writes: 'node',
  summary:
    'Starts an attempt to generate a root token; only one can be in progress, and it is cancelled after ten ' +
    'minutes of inactivity',
  fields: START_FIELDS,
  response: STATUS,
  run: async (attempt, { otp, pgp_key }) => answerOf(await attempt.start(otp, pgp_key)),
})

const cancel = define({
  name: 'cancel',
  whileCopied: true,
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
  whileCopied: true,
  operation: 'update',
  path: 'update',
  writes: 'cluster',
  summary: 'Submits one share; the response to the last required share has the encrypted token',
  describe: 'Takes shares of the unseal key, or of the recovery key if the server uses auto-unseal.',
  fields: SHARE_FIELDS,
  response: STATUS,
  run: (attempt, { key, nonce }) => withShare(key, async (share) => answerOf(await attempt.give(share, nonce))),
})

/** Status, start, cancel and update, each at both paths (key-holder.ts). */
export const GENERATE_ROOT_ENDPOINTS: readonly Endpoint<SystemWithHolders>[] = [...read, ...start, ...cancel, ...update]
