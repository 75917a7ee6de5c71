import { ByteProgress } from '../byte-progress.ts'
import { command } from '../command.ts'
import { OUTPUT_OPTIONS } from '../common-options.ts'
import { readParts } from '../input.ts'
import { printAnswer } from '../output.ts'

/** `keywright operator snapshot inspect`: checks a file of any size without a server, and without its keys. */
export const snapshotInspect = command({
  name: 'inspect',
  summary: 'Check the file of a snapshot and show what it says; no server is asked',
  usage: 'FILE',
  describe: [
    'Reads the whole file and finds every byte that was changed, cut or moved. Whether its cluster made it, only ' +
      'that cluster can tell: restoring checks it.',
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
