import { command } from '../command.ts'
import { writeAll } from '../io.ts'

/** `keywright version`: prints the version of this program; `status` has that of the server. */
export const version = command({
  name: 'version',
  summary: 'Show the version of this program',
  usage: '',
  describe: [],
  examples: ['version'],
  options: {},
  args: { needed: [], most: 0 },
  run: async ({ io }) => {
    await writeAll(io.stdout, `Keywright v${io.version}\n`)
    return 0
  },
})
