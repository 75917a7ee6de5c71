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
  summary: 'Look whether this machine, its files and the configuration are fit for a server',
  usage: '',
  describe: [
    'Reads the configuration, the data directory, certificates and limits; tries whether the addresses are free and ' +
      'how fast the disk is. A server may be running or not. Run it as the user of the server, and where its limits ' +
      'are in force.',
    'With -server it is the running server that looks, and tells who may read sys/hardening.',
    'The exit code is 0 where all is well, 2 where there is something to look at, 1 where the server would not start.',
  ],
  examples: [
    'operator diagnose -config=/etc/keywright.hcl',
    'operator diagnose -data=./data -format=json',
    'operator diagnose -server',
  ],
  options: {
    ...CONNECTION_OPTIONS,
    server: { kind: 'flag', about: 'Ask the running server, and look at nothing here' },
    config: { kind: 'text', value: 'FILE', about: 'The configuration file of the server' },
    data: { kind: 'text', value: 'DIR', about: 'The data directory, instead of the one in the file' },
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
