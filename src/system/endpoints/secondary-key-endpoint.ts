// sys/replication/FAMILY/secondary/generate-public-key, also on a secondary that is to be led to another primary.
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import type { RequestInfo } from '../../api/request.ts'
import { text } from '../../api/shape.ts'
import type { ReplicationFamily } from '../../storage/peer-log.ts'
import { OPTIONAL_OPERATION_TOKEN_FIELD } from './dr-operation.ts'
import { BY_MODE, carryOut, type ReplicationSystem } from './replication-family.ts'

const pathOf = (family: ReplicationFamily): string => `replication/${family}/secondary/generate-public-key`

const commonOf = (family: ReplicationFamily) =>
  ({
    ...BY_MODE,
    id: `replication-${family}-secondary-generate-public-key`,
    path: pathOf(family),
    summary: 'Makes the key that a primary seals an activation token for; an earlier key is void',
    response: { secondary_public_key: text('The public key, for primary/secondary-token on the primary') },
  }) as const

async function makeKey(system: ReplicationSystem, family: ReplicationFamily) {
  const key = await carryOut(system, family, (operations) => operations.generatePublicKey(family))
  return { data: { secondary_public_key: key } }
}

/** @throws Refusal on a secondary for disaster recovery, without an operation token or a batch token of the set */
async function requireOperator(
  { operationTokens }: ReplicationSystem,
  token: string,
  request: RequestInfo,
): Promise<void> {
  if (!operationTokens.areHere) return
  const isInHeader = token === '' && (request.unjudgedToken ?? '') !== ''
  if (isInHeader) await operationTokens.requireCredential(pathOf('dr'), request)
  else await operationTokens.require(token, pathOf('dr'), request)
}

const ofDr: Endpoint<ReplicationSystem> = endpoint({
  ...commonOf('dr'),
  onDrSecondary: 'operation-token',
  describe:
    'A secondary for disaster recovery takes a batch token of the set in X-Vault-Token instead of the operation token.',
  fields: OPTIONAL_OPERATION_TOKEN_FIELD,
  handler: async (system: ReplicationSystem, { dr_operation_token }, request) => {
    await requireOperator(system, dr_operation_token, request)
    return makeKey(system, 'dr')
  },
})

const ofPerformance: Endpoint<ReplicationSystem> = endpoint({
  ...commonOf('performance'),
  fields: {},
  handler: (system: ReplicationSystem) => makeKey(system, 'performance'),
})

/** The endpoint of a family. */
export const generatePublicKey = (family: ReplicationFamily): Endpoint<ReplicationSystem> =>
  family === 'dr' ? ofDr : ofPerformance
