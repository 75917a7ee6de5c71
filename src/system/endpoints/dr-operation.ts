// What the endpoints that operate a secondary for disaster recovery have in common: they take an operation token in the
// body, which their handlers judge (`OperationTokens.require`).
import { string } from '../../api/fields.ts'
import { OPERATION } from './replication-family.ts'

const SAYS =
  'Operation token of this cluster (generate-operation-token), or a batch token of the set without a parent whose ' +
  'policy allows update on the path'

/** The field of an endpoint that always needs the token. */
export const OPERATION_TOKEN_FIELD = {
  dr_operation_token: string(SAYS, { required: true, secret: true }),
}

/** The field of an endpoint that answers other clusters without it. */
export const OPTIONAL_OPERATION_TOKEN_FIELD = {
  dr_operation_token: string(`On a secondary for disaster recovery: ${SAYS}`, { default: '', secret: true }),
}

/** Marks of an endpoint that takes an operation token and no other. */
export const DR_OPERATION = { ...OPERATION, capability: 'none', onDrSecondary: 'operation-token' } as const
