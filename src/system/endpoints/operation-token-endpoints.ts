// sys/replication/dr/secondary/generate-operation-token and operation-token: tokens by which a secondary for disaster
// recovery is operated, for holders of enough shares of its primary (Interface 3.3, 4.4).
import { type Endpoint, type EndpointDefinition, endpoint } from '../../api/endpoint.ts'
import { type Args, type Fields, string } from '../../api/fields.ts'
import { type Answer, DONE, type RequestInfo } from '../../api/request.ts'
import { requireReplicationOn } from '../replication-gates.ts'
import { SHARE_FIELDS, withShare } from '../seal/share-text.ts'
import type { TokenAttempt, TokenAttemptStatus } from '../seal/token-attempt.ts'
import type { System as Whole } from '../system.ts'
import { DR_OPERATION, OPERATION_TOKEN_FIELD } from './dr-operation.ts'
import { isAttemptComplete } from './key-holder.ts'
import { attemptStatus, START_FIELDS, statusBody } from './token-attempt-status.ts'

type System = Pick<Whole, 'attempts' | 'edition' | 'facts' | 'operationTokens' | 'seal'>

const GENERATE = 'replication/dr/secondary/generate-operation-token'
const DELETE = 'replication/dr/secondary/operation-token/delete'
const STATUS = attemptStatus('Always empty: clients of root tokens read it')

const answerOf = (status: TokenAttemptStatus): Answer => ({ data: statusBody(status, '') })

type Definition<F extends Fields> = Pick<
  EndpointDefinition<System, F>,
  'operation' | 'path' | 'summary' | 'describe' | 'fields' | 'response'
> & {
  /** Last part of the id; empty for the endpoint that bears the id of the group alone. */
  readonly name: string
  /** What is limited by address (attempt-limits.ts); undefined for a status, which changes nothing. */
  readonly action: 'share' | 'change' | undefined
  readonly run: (attempt: TokenAttempt, args: Args<F>) => Promise<Answer>
}

/** Declares an endpoint of the attempt. Shares are the permission, unless the configuration asks for a token too. */
function ofAttempt<const F extends Fields>({ name, action, run, ...definition }: Definition<F>): Endpoint<System> {
  const path = `${GENERATE}/${definition.path}`
  return endpoint<System, F>({
    ...DR_OPERATION,
    ...definition,
    onDrSecondary: 'open',
    id: `replication-dr-secondary-generate-operation-token${name === '' ? '' : `-${name}`}`,
    path,
    body: 'plain',
    handler: async (system, args, request) => {
      const work = () => run(system.seal.operationToken, args)
      if ((await admit(system, path, request)) || action === undefined) return work()
      return system.attempts.run({ purpose: GENERATE, action, address: request.remoteAddress }, work, isAttemptComplete)
    },
  })
}

/** True if the caller had to show a token, and did: it is not limited. @throws Refusal on any other cluster */
async function admit(system: System, path: string, request: RequestInfo): Promise<boolean> {
  requireReplicationOn(system, 'dr')
  system.operationTokens.requireHere()
  if (system.facts.operationTokensAskForToken !== true) return false
  await system.operationTokens.requireCredential(path, request)
  return true
}

const read = ofAttempt({
  name: 'read',
  operation: 'read',
  path: 'attempt',
  action: undefined,
  summary: 'Shows the progress of the attempt to generate an operation token',
  fields: {},
  response: STATUS,
  run: async (attempt) => answerOf(attempt.status()),
})

const start = ofAttempt({
  name: '',
  operation: 'update',
  path: 'attempt',
  action: 'change',
  summary:
    'Starts an attempt to generate an operation token of this secondary; only one can be in progress, and it is ' +
    'cancelled after ten minutes of inactivity',
  fields: START_FIELDS,
  response: STATUS,
  run: async (attempt, { otp, pgp_key }) => answerOf(await attempt.start(otp, pgp_key)),
})

const cancel = ofAttempt({
  name: 'cancel',
  operation: 'delete',
  path: 'attempt',
  action: 'change',
  summary: 'Cancels the attempt, if one is in progress',
  fields: {
    nonce: string('Nonce of the attempt that is meant; another one stays. Empty: whichever it is', { default: '' }),
  },
  run: async (attempt, { nonce }) => {
    await attempt.cancel(nonce)
    return DONE
  },
})

const update = ofAttempt({
  name: 'update',
  operation: 'update',
  path: 'update',
  action: 'share',
  summary: 'Submits one share; the response to the last required share has the encrypted token',
  describe:
    'Takes shares of the unseal key of the primary, or of its recovery key if the servers use auto-unseal. The token ' +
    'never expires: delete it when its work is done.',
  fields: SHARE_FIELDS,
  response: STATUS,
  run: (attempt, { key, nonce }) => withShare(key, async (share) => answerOf(await attempt.give(share, nonce))),
})

const remove = endpoint({
  ...DR_OPERATION,
  id: 'replication-dr-secondary-operation-token-delete',
  path: DELETE,
  summary: 'Deletes the operation token that is sent',
  fields: OPERATION_TOKEN_FIELD,
  handler: async (system: System, { dr_operation_token }, request) => {
    await system.operationTokens.remove(dr_operation_token, DELETE, request)
    return DONE
  },
})

/** Status, start, cancel and update of the attempt, and the end of a token. */
export const OPERATION_TOKEN_ENDPOINTS: readonly Endpoint<System>[] = [read, start, cancel, update, remove]
