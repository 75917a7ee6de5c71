import { rm } from 'node:fs/promises'
import { ByteProgress } from '../byte-progress.ts'
import { command } from '../command.ts'
import { CONNECTION_OPTIONS } from '../common-options.ts'
import { connect } from '../connect.ts'
import { readParts } from '../input.ts'
import { writeAll } from '../io.ts'
import { refuseExisting, writeNewFile } from '../new-file.ts'

/** Only the owner may read it: names of keys and policies stand in it in clear. */
const MODE = 0o600

/** `keywright operator snapshot save`: a file that does not read back is removed, so what stays is a snapshot. */
export const snapshotSave = command({
  name: 'save',
  summary: 'Save a snapshot of the entire store to a file',
  usage: 'FILE',
  describe: [
    'The snapshot is consistent even while data are being written, and is read back and checked before the ' +
      'command succeeds. Restoring it needs the unseal keys that are valid now: keep those too. The token needs ' +
      '"read" and "sudo" on sys/storage/snapshot.',
  ],
  examples: ['operator snapshot save keywright.snapshot'],
  options: {
    force: { kind: 'flag', about: 'Overwrite FILE if it exists' },
    ...CONNECTION_OPTIONS,
  },
  args: { needed: ['FILE'], most: 1 },
  run: async ({ io, options, args: [file = ''] }) => {
    const target = { path: file, force: options.force, mode: MODE }
    await refuseExisting(target)
    const request = { doing: 'saving a snapshot', method: 'GET', path: 'sys/storage/snapshot' } as const
    const progress = new ByteProgress(io, undefined)
    await writeNewFile(target, progress.counted(await connect(io, options).open(request)))
    await progress.end()
    try {
      await io.inspectSnapshot(readParts(file))
    } catch (error) {
      await rm(file, { force: true })
      throw error
    }
    await writeAll(io.stdout, `Success! Saved ${progress.bytes} bytes to ${file}\n`)
    return 0
  },
})
