import { answeredByExitCode } from '../cli-error.ts'
import type { Client } from '../client.ts'
import { command } from '../command.ts'
import { UNWRAPPED_OPTIONS } from '../common-options.ts'
import { connect } from '../connect.ts'
import type { Json } from '../exact-json.ts'
import type { CliIo } from '../io.ts'
import { printAnswer } from '../output.ts'
import { styleOf } from '../picture.ts'
import { formatReplication } from '../replication-picture.ts'
import {
  BETWEEN_LOOKS_MS,
  EITHER_FAMILY_OPTION,
  type FamilyName,
  familiesIn,
  familyOf,
  needsAttention,
  readReplication,
  remainingMs,
  transferIn,
} from '../replication-status.ts'

/** `keywright operator replication status`: monitors go by its exit code. It needs no token. */
export const replicationStatus = command({
  name: 'status',
  summary: 'Show what this cluster is in replication, its links, and how far they are behind',
  usage: '',
  describe: [
    'The exit code is 0 if all is well or disabled; 2 if a family is idle, a peer is disconnected, or a part of the ' +
      'log is gone that somebody needs; also if a synchronous secondary is not in step, the tree is corrupted, or ' +
      'a secondary may have taken over; 1 if the status could not be read. No token is needed. A former primary ' +
      'that is not told yet is shown, and does not change the exit code.',
    'While a secondary copies from its primary or compares with it, the command looks twice, a second apart, to ' +
      'estimate how long that takes.',
  ],
  examples: [
    'operator replication status',
    'operator replication status -family=dr -format=json',
    'operator replication status -family=dr -field=merkle_root',
  ],
  options: { ...EITHER_FAMILY_OPTION, ...UNWRAPPED_OPTIONS },
  args: { needed: [], most: 0 },
  run: ({ io, options }) =>
    answeredByExitCode(async () => {
      const family = options.family === undefined ? undefined : familyOf({ family: options.family })
      const client = connect(io, options)
      const isTable = options.format === 'table' && options.field === undefined
      const first = await readReplication(client, family)
      const last = isTable ? await secondLook(io, client, first, family) : first
      const table = (): string => formatFamilies(io, first, last, family)
      await printAnswer(io, options, last, table)
      return familiesIn(last, family).some(([, status]) => needsAttention(status)) ? 2 : 0
    }),
})

/** Looks again if a transfer is running; an estimate needs two looks. */
async function secondLook(io: CliIo, client: Client, first: Json, family: FamilyName | undefined): Promise<Json> {
  if (!familiesIn(first, family).some(([, status]) => transferIn(status) !== undefined)) return first
  await io.sleep(BETWEEN_LOOKS_MS)
  return await readReplication(client, family)
}

/** Formats each family of the last look. The first look is for the estimates. */
function formatFamilies(io: CliIo, first: Json, last: Json, family: FamilyName | undefined): string {
  const before = new Map(familiesIn(first, family))
  const nowMs = Date.now()
  return familiesIn(last, family)
    .map(([name, status]) => {
      const view = { family: name, status, remainingMs: remainingMs(before.get(name) ?? null, status), nowMs }
      return formatReplication(view, styleOf(io, io.stdout))
    })
    .join('\n')
}
