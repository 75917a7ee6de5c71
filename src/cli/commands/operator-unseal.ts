import { asciiTrim } from '../../lib/ascii.ts'
import { CliError } from '../cli-error.ts'
import { command } from '../command.ts'
import { COMMON_OPTIONS } from '../common-options.ts'
import { connect } from '../connect.ts'
import { readInputText, STDIN } from '../input.ts'
import type { CliIo } from '../io.ts'
import { printAnswer } from '../output.ts'
import { formatSealStatus, sealStatusOf } from '../seal-status.ts'
import { askSecret } from '../secret-prompt.ts'

/** `keywright operator unseal`: hands in one share of the unseal key. */
export const operatorUnseal = command({
  name: 'unseal',
  summary: 'Hand in one unseal key; as many as the threshold says open the server',
  usage: '[KEY]',
  describe: [
    'Without KEY it is asked for and not shown, or read from standard input where that is not a terminal. A KEY on ' +
      'the command line stays in the history of the shell.',
  ],
  examples: ['operator unseal', 'operator unseal < share.txt', 'operator unseal -reset'],
  options: {
    reset: { kind: 'flag', about: 'Forget the keys that were handed in so far' },
    ...COMMON_OPTIONS,
  },
  args: { needed: [], most: 1 },
  run: async ({ io, options, args: [typed] }) => {
    const client = connect(io, options)
    const body = options.reset ? { reset: true } : { key: await readKey(io, typed), reset: false, migrate: false }
    const answer = await client.send({
      doing: options.reset ? 'resetting the unseal progress' : 'unsealing',
      method: 'PUT',
      path: 'sys/unseal',
      body: JSON.stringify(body),
    })
    await printAnswer(io, options, sealStatusOf(answer.body), formatSealStatus)
    return 0
  },
})

async function readKey(io: CliIo, typed: string | undefined): Promise<string> {
  const key = await keyText(io, typed)
  if (key === '') throw new CliError('The unseal key is empty: it is one of the keys that `operator init` showed')
  return key
}

async function keyText(io: CliIo, typed: string | undefined): Promise<string> {
  if (typed !== undefined && typed !== STDIN) return asciiTrim(typed)
  if (typed === undefined && io.stdin.isTTY === true) return await askSecret(io, 'Unseal Key')
  return asciiTrim(await readInputText(io, STDIN))
}
