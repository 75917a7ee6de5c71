// The token by which a secondary for disaster recovery is operated, as the commands take it.
import { UsageError } from './cli-error.ts'
import type { CliIo } from './io.ts'
import type { OptionTable } from './options.ts'
import { readTypedSecret } from './typed-text.ts'

/** Its option. Other users of the machine see the command line, and not the variables. */
export const OPERATION_TOKEN_OPTION = {
  'operation-token': {
    kind: 'text',
    value: 'TOKEN|@FILE|-',
    env: ['KEYWRIGHT_OPERATION_TOKEN'],
    about: 'Operation token, as text, in a file, or on standard input. Other users may see a text on the command line',
  },
} as const satisfies OptionTable

/** The paragraph of the help about it. */
export const ABOUT_OPERATION_TOKEN =
  'A secondary judges no token of callers but an operation token: a batch token of the set without a parent, made on ' +
  'the primary with a policy that allows "update" on the path, or one that holders of enough key shares make with ' +
  '`operator generate-root -dr-token`. Without -operation-token it is asked for without echo, or read from standard ' +
  'input if that is not a terminal.'

/** Reads the token. @throws CliError if it is empty */
export const readOperationToken = (io: CliIo, typed: string | undefined): Promise<string> =>
  readTypedSecret(io, typed, 'operation token')

/** True if a typed secret is read from standard input. */
const isFromInput = (io: CliIo, typed: string | undefined): boolean =>
  typed === '-' || (typed === undefined && io.stdin.isTTY !== true)

/** Reads the token, and an activation token. @throws UsageError if both would be read from standard input */
export async function readBothTokens(
  io: CliIo,
  operationToken: string | undefined,
  activationToken: string | undefined,
): Promise<readonly [operationToken: string, activationToken: string]> {
  if (isFromInput(io, operationToken) && isFromInput(io, activationToken)) throw new UsageError(BOTH_FROM_INPUT)
  const first = await readOperationToken(io, operationToken)
  return [first, await readTypedSecret(io, activationToken, 'activation token')]
}

const BOTH_FROM_INPUT =
  'standard input holds one secret: give the operation token in a file, -operation-token=@FILE, or in ' +
  'KEYWRIGHT_OPERATION_TOKEN'
