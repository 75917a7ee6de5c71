import { command } from '../command.ts'
import { UNWRAPPED_OPTIONS } from '../common-options.ts'
import { connect } from '../connect.ts'
import { printAnswer } from '../output.ts'
import { formatSealStatus, sealStatusOf } from '../seal-status.ts'
import { readShare } from '../share-input.ts'

/** `keywright operator unseal`: hands in one share of the unseal key. The answer says how many are missing. */
export const operatorUnseal = command({
  name: 'unseal',
  summary: 'Submit one unseal key; a threshold of them unseals the server',
  usage: '[KEY]',
  describe: [
    'Without KEY, prompts for the key without echo, or reads standard input if that is not a terminal. A KEY on ' +
      'the command line stays in the shell history.',
  ],
  examples: ['operator unseal', 'operator unseal < share.txt', 'operator unseal -reset'],
  options: {
    reset: { kind: 'flag', about: 'Discard the keys submitted so far' },
    ...UNWRAPPED_OPTIONS,
  },
  args: { needed: [], most: 1 },
  run: async ({ io, options, args: [typed] }) => {
    const client = connect(io, options)
    const body = options.reset
      ? { reset: true }
      : { key: await readShare(io, typed, 'Unseal Key'), reset: false, migrate: false }
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
