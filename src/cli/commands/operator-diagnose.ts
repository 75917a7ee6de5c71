import { UsageError } from '../cli-error.ts'
import { command } from '../command.ts'
import { CONNECTION_OPTIONS, RESULT_FORMAT_OPTION } from '../common-options.ts'
import { connect } from '../connect.ts'
import { diagnosisExitCode, diagnosisJson, formatDiagnosis, readDiagnosis } from '../diagnosis.ts'
import type { Json } from '../exact-json.ts'
import { writeAll } from '../io.ts'
import { formatJson } from '../output.ts'
import { styleOf } from '../picture.ts'

/** `keywright operator diagnose`: checks this machine without a server; with -server it prints what a server found. */
export const operatorDiagnose = command({
  name: 'diagnose',
  summary: 'Check whether this machine, its files and its configuration are fit to run a server',
  usage: '',
  describe: [
    'Reads the configuration, the data directory, certificates and limits; tests whether the listen addresses ' +
      'are free and how fast the disk is. A server may be running or not. Run it as the user of the server and ' +
      'under the same limits.',
    'With -server the running server makes the checks; the token needs "read" on sys/hardening.',
    'The exit code is 0 if all checks pass, 2 if there are warnings, 1 if the server would not start.',
  ],
  examples: [
    'operator diagnose -config=/etc/keywright.hcl',
    'operator diagnose -data=./data -format=json',
    'operator diagnose -server',
  ],
  options: {
    ...CONNECTION_OPTIONS,
    server: { kind: 'flag', about: 'Ask the running server instead of checking this machine' },
    config: { kind: 'text', value: 'FILE', about: 'Configuration file of the server' },
    data: { kind: 'text', value: 'DIR', about: 'Data directory, instead of the one in the configuration' },
    ...RESULT_FORMAT_OPTION,
  },
  args: { needed: [], most: 0 },
  run: async ({ io, options }) => {
    const { config, data, format, server } = options
    if (server && (config !== undefined || data !== undefined))
      throw new UsageError('-server asks the server, which has its own configuration: leave -config and -data out')
    const diagnosis = server ? await readDiagnosis(connect(io, options)) : await io.diagnose({ config, data })
    const text =
      format === 'json'
        ? formatJson(diagnosisJson(diagnosis) as Json)
        : formatDiagnosis(diagnosis, styleOf(io, io.stdout))
    await writeAll(io.stdout, text)
    return diagnosisExitCode(diagnosis)
  },
})
