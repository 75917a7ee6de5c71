import { realWorld } from '../../lib/world.ts'
import { countIn } from '../answer-members.ts'
import { UsageError } from '../cli-error.ts'
import { command } from '../command.ts'
import { CONNECTION_OPTIONS, type ConnectionValues, RESULT_FORMAT_OPTION } from '../common-options.ts'
import { connect } from '../connect.ts'
import { type CliIo, writeAll } from '../io.ts'
import { OPERATION_TOKEN_OPTION, readOperationToken } from '../operation-token.ts'
import type { OptionTable, OptionValues } from '../options.ts'
import { formatJson } from '../output.ts'
import { type Style, styleOf, toned } from '../picture.ts'
import { formatLooks, isGoodEnough } from '../replication-looks.ts'
import { type Switched, Switchover, type SwitchoverStep } from '../switchover.ts'
import { lookAtBoth, switchoverVerdict } from '../switchover-looks.ts'
import { CLUSTER_ADDRESS_OPTION } from './replication-failover.ts'

const { 'output-curl-string': _curl, 'output-policy': _policy, ...CONNECTION } = CONNECTION_OPTIONS

/** What is not said of the secondary is as for the primary. */
const OPTIONS = {
  'secondary-addr': { kind: 'text', value: 'URL', about: 'Address of the secondary that becomes the primary' },
  'secondary-ca-cert': {
    kind: 'text',
    value: 'FILE',
    about: 'PEM file of the CA certificates that its certificate must chain to; by default as for the primary',
  },
  'secondary-tls-server-name': {
    kind: 'text',
    value: 'NAME',
    about: 'Name to expect in its certificate, instead of the host in its address',
  },
  id: { kind: 'text', value: 'ID', about: 'Name of the former primary as a secondary; you choose it' },
  ...OPERATION_TOKEN_OPTION,
  ...CLUSTER_ADDRESS_OPTION,
  'dry-run': { kind: 'flag', about: 'Look only, and change nothing' },
  yes: { kind: 'flag', about: 'Confirm that the two clusters are to change places' },
  ...RESULT_FORMAT_OPTION,
  ...CONNECTION,
} as const satisfies OptionTable

/** `keywright operator replication switchover`: a planned change of hands between two clusters that both run. */
export const replicationSwitchover = command({
  name: 'switchover',
  summary: 'Let the secondary for disaster recovery and its primary change places, with nothing lost',
  usage: '',
  describe: [
    'Looks first, and changes nothing if a look is bad. Then the secondary is promoted, for which the primary hands ' +
      'over all that it wrote; the former primary is demoted, and follows the new one. Clients can write again after ' +
      'the first step.',
    '-address is the primary. The token of the caller counts on both, and needs "update" on ' +
      'sys/replication/dr/primary/demote, and "update" and "sudo" on sys/replication/dr/primary/secondary-token.',
    'The operation token must be a batch token of the set without a parent, with "update" on ' +
      'sys/replication/dr/secondary/*: both clusters take it, one after the other. One that is made with key shares ' +
      'ends with the promotion. Without -operation-token it is asked for without echo, or read from standard input ' +
      'if that is not a terminal.',
    'If a step fails, and at Ctrl-C behind the step that is being done, the command says where the set stands, and ' +
      'what goes on. The exit code is 0 if all is done; 2 if a look is bad or a step failed; 1 if the command line ' +
      'is wrong.',
    'The write pause is the longest that it can have been: from the request to promote until the new primary says in ' +
      'sys/health that it is one. Lost is what the former primary, which writes nothing any more, has beyond what ' +
      'the new one had of it when it was promoted.',
  ],
  examples: [
    'operator replication switchover -dry-run -id=site-a -secondary-addr=https://b:8200 -operation-token=@FILE',
    'operator replication switchover -yes -id=site-a -secondary-addr=https://b:8200 -operation-token=@FILE',
  ],
  options: OPTIONS,
  args: { needed: [], most: 0 },
  run: async ({ io, options }) => {
    const { address, id } = givenTo(options)
    const connection: ConnectionValues = { ...options, 'output-curl-string': false, 'output-policy': false }
    const switching = {
      former: connect(io, connection),
      next: connect(io, ofSecondary(connection, options, address)).with({ addressOrigin: ORIGIN }),
      operationToken: await readOperationToken(io, options['operation-token']),
      id,
      clusterAddress: options['primary-cluster-addr'],
    }
    const isTable = options.format === 'table'
    const style = styleOf(io, io.stdout)
    const { looks, nextStatus } = await lookAtBoth(io, switching)
    if (isTable) await writeAll(io.stdout, formatLooks(looks, switchoverVerdict, style))
    const isBad = !looks.every(isGoodEnough)
    if (isBad || options['dry-run']) {
      if (!isTable) await writeAll(io.stdout, formatJson({ looks }))
      return isBad ? 2 : 0
    }
    if (isTable) await writeAll(io.stdout, '\n')
    const switched = await stoppable(io, (isStopped) => {
      const { monotonicMs } = realWorld().clock
      const done = async (step: SwitchoverStep): Promise<void> => {
        if (isTable) await writeAll(io.stdout, stepLine(step, style))
      }
      return new Switchover(switching, { io, monotonicMs, done, isStopped }).run(countIn(nextStatus, 'last_remote_wal'))
    })
    await writeAll(io.stdout, isTable ? formatResult(switched) : formatJson({ looks, ...switched }))
    return 0
  },
})

const ORIGIN = 'The address is that of -secondary-addr.'

/** @throws UsageError if something is missing */
function givenTo(options: OptionValues<typeof OPTIONS>): { readonly address: string; readonly id: string } {
  const { 'secondary-addr': address, id } = options
  if (address === undefined) throw new UsageError('-secondary-addr is missing: the address of the secondary')
  if (id === undefined || id === '') throw new UsageError('-id is missing: the name of the former primary')
  if (!options.yes && !options['dry-run'])
    throw new UsageError('the two clusters will change places: confirm it with -yes, or only look with -dry-run')
  return { address, id }
}

function ofSecondary(
  connection: ConnectionValues,
  options: OptionValues<typeof OPTIONS>,
  address: string,
): ConnectionValues {
  const { 'secondary-ca-cert': ca, 'secondary-tls-server-name': name } = options
  return { ...connection, address, 'tls-server-name': name, ...(ca === undefined ? {} : { 'ca-cert': ca }) }
}

/** Does work that an interruption ends behind the step that is being done. */
async function stoppable<T>(io: CliIo, work: (isStopped: () => boolean) => Promise<T>): Promise<T> {
  let isStopped = false
  const undo = io.onInterrupt?.(() => {
    isStopped = true
    // Without standard error it stops all the same.
    writeAll(io.stderr, 'Stops behind the step that is being done; Ctrl-C again ends at once\n').catch(() => {})
  })
  try {
    return await work(() => isStopped)
  } finally {
    undo?.()
  }
}

const STEP_WIDTH = 'promoted'.length

const stepLine = ({ step, ms, sentence }: SwitchoverStep, style: Style): string =>
  `${toned(style, 'good', '[done]')}  ${step.padEnd(STEP_WIDTH)}  ${sentence} (${ms} ms)\n`

function formatResult(switched: Switched): string {
  const { write_pause_ms_at_most: pause, drained_records: drained, lost_records: lost } = switched
  return [
    '',
    pause === undefined ? 'Write pause: not measured' : `Write pause: ${pause} ms at most`,
    drained === undefined ? 'Records handed over: not known' : `Records handed over: ${drained}`,
    lost === undefined ? `Records lost: not known. ${UNKNOWN}` : `Records lost: ${lost}`,
    '',
  ].join('\n')
}

const UNKNOWN = 'The former primary did not say in time that it is fenced'
