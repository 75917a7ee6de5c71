// `keywright operator replication …` on a cluster that becomes a secondary.
import { ABOUT_ACTIVATION_TOKEN, ACTIVATION_OPTIONS, ACTIVATION_USAGE, activationBody } from '../activation.ts'
import { itemsIn } from '../answer-members.ts'
import { callCommand } from '../call-command.ts'
import { answeredByExitCode, RemoteFailure } from '../cli-error.ts'
import { command } from '../command.ts'
import { UNWRAPPED_OPTIONS } from '../common-options.ts'
import { connect } from '../connect.ts'
import { exactMember } from '../exact-json.ts'
import { ASKED_FOR, aboutOperationToken, OPERATION_TOKEN_OPTION, operatorField } from '../operation-token.ts'
import { printAlone, printAnswer, printDone } from '../output.ts'
import { styleOf } from '../picture.ts'
import { activationVerdict, formatLooks, isGoodEnough } from '../replication-looks.ts'
import { formatReplication } from '../replication-picture.ts'
import { FAMILY_NAMES, FAMILY_OPTION, familiesIn, familyOf } from '../replication-status.ts'
import { waitUntilFollowing } from '../replication-wait.ts'

/** `secondary/generate-public-key`. The key alone is on standard output. */
export const replicationPublicKey = command({
  name: 'public-key',
  summary: 'Print a new public key, for which a primary can encrypt the activation token of this cluster',
  usage: '',
  describe: [
    'It takes the place of the one before, and a token that was encrypted for that one can no longer be used. The ' +
      'private half stays in this cluster. The token needs "update" on ' +
      'sys/replication/FAMILY/secondary/generate-public-key.',
  ],
  examples: ['operator replication public-key > site-b.key'],
  options: { ...FAMILY_OPTION, ...UNWRAPPED_OPTIONS },
  args: { needed: [], most: 0 },
  run: async ({ io, options }) => {
    const path = `sys/replication/${familyOf(options)}/secondary/generate-public-key`
    const request = { doing: 'generating a public key', method: 'POST', path, body: '{}' } as const
    const { body = null } = await connect(io, options).send(request)
    const key = exactMember(exactMember(body, 'data'), 'secondary_public_key')
    if (typeof key !== 'string' || key === '')
      throw new RemoteFailure('Error generating a public key: the answer has none')
    await printAlone(io, options, body, key)
    return 0
  },
})

/** `secondary/enable`. It is sent once: a repetition would find the token used, and hide why the first one failed. */
export const replicationActivate = command({
  name: 'activate',
  summary: 'Make this cluster a secondary: its keys and data are replaced by those of the primary',
  usage: ACTIVATION_USAGE,
  describe: [
    'Everything in this cluster is given up for what the primary has, tokens and unseal keys included: from then on ' +
      "the primary's keys unseal it. If the server refuses, nothing was changed; `operator replication check` " +
      'looks first.',
    'A secondary for disaster recovery serves nobody from then on. One for performance serves clients once it has ' +
      'all that the set shares, by tokens of its own: holders of key shares of the primary make the first one with ' +
      '`operator generate-root`, or somebody logs in.',
    ABOUT_ACTIVATION_TOKEN,
    'With -wait the command ends when the first copy is done and the log is followed. It gives up when nothing has ' +
      'moved for the time of -timeout; the server goes on all the same. The token of the caller needs "update" on ' +
      'sys/replication/FAMILY/secondary/enable.',
  ],
  examples: [
    'operator replication activate -wait @activation-token',
    'operator replication activate -family=performance -wait @activation-token',
    'operator replication activate -primary-api-addr=https://keys.example.org:8200 < activation-token',
  ],
  options: { ...ACTIVATION_OPTIONS, wait: { kind: 'flag', about: 'Wait until this cluster follows the primary' } },
  args: { needed: [], most: 1 },
  run: async (call) => {
    const { io, options } = call
    const family = familyOf(options)
    const path = `sys/replication/${family}/secondary/enable`
    const client = connect(io, options)
    const request = {
      doing: 'activating the secondary',
      method: 'POST',
      path,
      body: await activationBody(call),
    } as const
    const { body } = await client.with({ retries: 0 }).send(request)
    const isTable = options.format === 'table' && options.field === undefined
    const done = `Success! This cluster is a secondary: ${FAMILY_NAMES[family]}`
    // Two answers would be no JSON: for programs the last one counts.
    if (isTable || !options.wait) await printDone(io, options, body, done)
    if (!options.wait) return 0
    const last = await waitUntilFollowing(io, client, family)
    await printAnswer(io, options, last, () => {
      const status = familiesIn(last, family)[0]?.[1] ?? null
      return formatReplication({ family, status, remainingMs: undefined, nowMs: Date.now() }, styleOf(io, io.stdout))
    })
    return 0
  },
})

/** `recover`: of a secondary, whatever its family is. */
export const replicationRecover = callCommand({
  name: 'recover',
  summary: 'Have this secondary call its primary again now, without waiting for the next try',
  usage: '',
  describe: [
    'A secondary whose link ended tries again by itself, after longer and longer pauses. For when the cause is gone.',
    `${aboutOperationToken('recover')} ${ASKED_FOR}`,
    'With -family=performance there is no operation token: the token of the caller needs "update" on ' +
      'sys/replication/recover.',
  ],
  examples: [
    'operator replication recover -operation-token=@operation-token',
    'operator replication recover -family=performance',
  ],
  options: { ...FAMILY_OPTION, ...OPERATION_TOKEN_OPTION },
  request: async ({ io, options }) => ({
    doing: 'calling the primary',
    method: 'POST',
    path: `sys/replication/${familyOf(options) === 'dr' ? 'dr/secondary/' : ''}recover`,
    body: JSON.stringify(await operatorField(io, options)),
  }),
  done: () => 'Success! This cluster calls its primary',
})

/** `secondary/check`: the looks of an activation. The exit code tells scripts the verdict. */
export const replicationCheck = command({
  name: 'check',
  summary: 'Look for what would keep an activation from success, and change nothing',
  usage: ACTIVATION_USAGE,
  describe: [
    'Looks at the token, the ways to the primary, its version, the clocks, and whether it would let this cluster in. ' +
      'The exit code is 0 if no look is bad, 2 if one is, 1 if the server could not be asked, or refused to look. ' +
      'Of a wrapped token the cluster port is not looked at: a full check needs a token for a public key.',
    ABOUT_ACTIVATION_TOKEN,
    'The token of the caller needs "update" on sys/replication/FAMILY/secondary/check.',
  ],
  examples: ['operator replication check @activation-token', 'operator replication check < activation-token'],
  options: ACTIVATION_OPTIONS,
  args: { needed: [], most: 1 },
  run: (call) =>
    answeredByExitCode(async () => {
      const { io, options } = call
      const path = `sys/replication/${familyOf(options)}/secondary/check`
      const request = {
        doing: 'checking an activation',
        method: 'POST',
        path,
        body: await activationBody(call),
      } as const
      const { body = null } = await connect(io, options).send(request)
      const looks = itemsIn(exactMember(body, 'data'), 'checks')
      if (looks.length === 0) throw new RemoteFailure('Error checking an activation: the answer has no looks')
      await printAnswer(io, options, body, () => formatLooks(looks, activationVerdict, styleOf(io, io.stdout)))
      return looks.every(isGoodEnough) ? 0 : 2
    }),
})
