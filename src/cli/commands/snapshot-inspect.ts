import { ByteProgress } from '../byte-progress.ts'
import { command } from '../command.ts'
import { OUTPUT_OPTIONS } from '../common-options.ts'
import { readParts } from '../input.ts'
import { printAnswer } from '../output.ts'

/** `keywright operator snapshot inspect`: checks a file of any size without a server, and without its keys. */
export const snapshotInspect = command({
  name: 'inspect',
  summary: 'Check a snapshot file and show its metadata, without a server',
  usage: 'FILE',
  describe: [
    'Reads the whole file and detects every changed, missing or moved byte. It cannot tell whether the file is ' +
      'from the right cluster: restoring checks that.',
  ],
  examples: ['operator snapshot inspect keywright.snapshot'],
  options: OUTPUT_OPTIONS,
  args: { needed: ['FILE'], most: 1 },
  run: async ({ io, options, args: [file = ''] }) => {
    const progress = new ByteProgress(io, undefined)
    const facts = await io.inspectSnapshot(progress.counted(readParts(file)))
    await progress.end()
    await printAnswer(io, options, facts)
    return 0
  },
})
