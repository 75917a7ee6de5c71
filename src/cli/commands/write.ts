import { cleanPath } from '../api-path.ts'
import { UsageError } from '../cli-error.ts'
import { command } from '../command.ts'
import { COMMON_OPTIONS } from '../common-options.ts'
import { connect } from '../connect.ts'
import { dataBody, readData } from '../key-values.ts'
import { printAnswer, printDone } from '../output.ts'
import { RemoteError } from '../remote-error.ts'

/** `keywright write`: sends PUT, with the data as a JSON object. */
export const write = command({
  name: 'write',
  summary: 'Write data to a path, or perform the operation at a path',
  usage: 'PATH [NAME=VALUE | NAME=@FILE | NAME=- | @FILE.json | -]…',
  completes: ['path'],
  describe: [
    'Every VALUE is sent as text; the server converts it to the type of the field. A repeated NAME makes a list. ' +
      'NAME=@FILE sends the content of a file, NAME=- that of standard input; write a leading @ as \\@. @FILE.json ' +
      'and - stand for a JSON object with any number of fields.',
    'Read secrets from files or standard input: a command line stays in the shell history, and other users of ' +
      'the machine may see it.',
  ],
  examples: [
    'write -force transit/keys/payments',
    'write transit/keys/signing type=ed25519',
    'write transit/encrypt/payments plaintext="$(base64 -w0 card.txt)"',
    'write sys/policies/acl/app policy=@app.hcl',
  ],
  options: {
    force: { kind: 'flag', short: 'f', about: 'Write even without data' },
    ...COMMON_OPTIONS,
  },
  args: { needed: ['PATH'], most: Number.POSITIVE_INFINITY },
  run: async ({ io, options, args: [typed = '', ...words] }) => {
    const path = cleanPath(typed)
    if (words.length === 0 && !options.force) {
      throw new UsageError('there is no data to write: add NAME=VALUE, or -force to write without any')
    }
    // The reference's command line sends the body `null` with a forced write.
    const body = words.length === 0 ? 'null' : dataBody(await readData(io, words))
    try {
      const answer = await connect(io, options).send({ doing: `writing data to ${path}`, method: 'PUT', path, body })
      await printDone(io, options, answer.body, `Success! Data written to: ${path}`)
    } catch (error) {
      // A batch with failed items is an error that has results (Interface 7.1): both are printed.
      if (error instanceof RemoteError && error.body !== undefined) await printAnswer(io, options, error.body)
      throw error
    }
    return 0
  },
})
