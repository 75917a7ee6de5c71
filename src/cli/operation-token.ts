// The token by which a secondary for disaster recovery is operated, as the commands take it.
import { UsageError } from './cli-error.ts'
import type { CliIo } from './io.ts'
import type { OptionTable } from './options.ts'
import { familyOf } from './replication-status.ts'
import { readTypedSecret } from './typed-text.ts'

const VARIABLE = 'KEYWRIGHT_OPERATION_TOKEN'

/** Its option. Other users of the machine see the command line, and not the variables. */
export const OPERATION_TOKEN_OPTION = {
  'operation-token': {
    kind: 'text',
    value: 'TOKEN|@FILE|-',
    env: [VARIABLE],
    about: 'Operation token, as text, in a file, or on standard input. Other users may see a text on the command line',
  },
} as const satisfies OptionTable

/** What the help says of the token. `below`: the end of the path that it has to allow. */
export const aboutOperationToken = (below: string): string =>
  'A secondary for disaster recovery judges no token of callers but an operation token: a batch token of the set ' +
  'without a parent, made on the primary with a policy that allows "update" on ' +
  `sys/replication/dr/secondary/${below}, ` +
  'or one that holders of enough key shares make with `operator generate-root -dr-token`.'

/** What the help says of commands that ask for it. */
export const ASKED_FOR =
  'Without -operation-token it is asked for without echo, or read from standard input if that is not a terminal.'

/** The paragraph of the help about the other family, in commands that a secondary of either is operated with. */
export const aboutCallerToken = (below: string): string =>
  'With -family=performance there is no operation token: a performance secondary has tokens of its own, and that of ' +
  `the caller needs "update" on sys/replication/performance/secondary/${below}.`

/** Reads the token. @throws CliError if it is empty */
export const readOperationToken = (io: CliIo, typed: string | undefined): Promise<string> =>
  readTypedSecret(io, typed, 'operation token')

/** What a command was given about the secondary that it operates. */
type Operated = { readonly family: string; readonly 'operation-token': string | undefined }

/** The field that tells a secondary who operates it; none for performance. @throws CliError */
export async function operatorField(io: CliIo, options: Operated): Promise<{ readonly dr_operation_token?: string }> {
  if (isByCaller(io, options)) return {}
  return { dr_operation_token: await readOperationToken(io, options['operation-token']) }
}

/** The same field and an activation token. @throws UsageError if both would be read from standard input */
export async function operatorFieldAndToken(
  io: CliIo,
  options: Operated,
  typed: string | undefined,
): Promise<{ readonly dr_operation_token?: string; readonly token: string }> {
  const isByOperation = !isByCaller(io, options)
  if (isByOperation && isFromInput(io, options['operation-token']) && isFromInput(io, typed))
    throw new UsageError(BOTH_FROM_INPUT)
  const field = await operatorField(io, options)
  return { ...field, token: await readTypedSecret(io, typed, 'activation token') }
}

const BOTH_FROM_INPUT =
  'standard input holds one secret: give the operation token in a file, -operation-token=@FILE, or in ' +
  'KEYWRIGHT_OPERATION_TOKEN'

/** The variable may be set for the other family. @throws UsageError for a token that nobody would judge */
function isByCaller({ env }: CliIo, { family, 'operation-token': typed }: Operated): boolean {
  if (familyOf({ family }) === 'dr') return false
  if (typed !== undefined && typed !== env[VARIABLE]) throw new UsageError(NO_OPERATION_TOKEN)
  return true
}

const NO_OPERATION_TOKEN =
  '-operation-token is for disaster recovery: with -family=performance the token of the caller counts'

/** True if a typed secret is read from standard input. */
const isFromInput = (io: CliIo, typed: string | undefined): boolean =>
  typed === '-' || (typed === undefined && io.stdin.isTTY !== true)
