// `keywright storage …`: commands that work on a data directory and talk to no server.

import { findDevelopmentKeys, findDevelopmentRootKey } from '../assembly/development.ts'
import { CliError, type ExitCode } from '../cli/cli-error.ts'
import { type CommandGroup, command } from '../cli/command.ts'
import { RESULT_FORMAT_OPTION } from '../cli/common-options.ts'
import { type CliIo, writeAll } from '../cli/io.ts'
import { printableLine } from '../cli/terminal-text.ts'
import { realWorld } from '../lib/world.ts'
import type { StoreVerifyReport, VerifyProgress } from '../storage/driver.ts'
import { locationIn } from '../storage/drivers.ts'
import { StorageError } from '../storage/errors.ts'
import type { VerifyKeys } from '../storage/verify-keys.ts'
import { openWithKey, openWithShares, typedShares } from './offline-keys.ts'

/** There was nothing to judge: no store, or not its keys. Its exit code differs from that of faults. */
class CannotVerify extends CliError {
  override name = 'CannotVerify'
  override readonly exitCode: ExitCode = 2
}

/** Five times a second, which a reader can follow. */
const PROGRESS_EVERY_MS = 200

type Options = { readonly data: string; readonly 'unseal-key': boolean; readonly format: string }

const verify = command({
  name: 'verify',
  summary: 'Check a data directory: every entry, every log record, and the tree of all entries',
  usage: '',
  describe: [
    'Reads one consistent state of the store and changes nothing; a server may be running. With the unseal keys ' +
      'it also decrypts every value and checks the tree; a development server has its key beside its data. Without ' +
      'keys it checks what it can and lists what it could not.',
    'Each fault is printed on a line that names the entry or record. The exit code is 0 if there is no fault, 1 ' +
      'if there are faults, 2 if nothing could be checked.',
  ],
  examples: ['storage verify -data=/var/lib/keywright', 'storage verify -unseal-key < shares.txt'],
  options: {
    data: { kind: 'text', value: 'DIR', default: './data', about: 'Data directory to check' },
    'unseal-key': {
      kind: 'flag',
      about: 'Prompt for the unseal keys, or read them from standard input, one per line',
    },
    ...RESULT_FORMAT_OPTION,
  },
  args: { needed: [], most: 0 },
  run: async ({ io, options }) => {
    try {
      return await runVerify(io, options)
    } catch (cause) {
      if (cause instanceof StorageError || cause instanceof CliError) throw new CannotVerify(cause.message, cause)
      throw cause
    }
  },
})

/** Commands for the dispatcher that also has those of the client. */
export const STORAGE_COMMANDS: CommandGroup = {
  name: 'keywright',
  summary: 'Keywright, a key-management service and its client',
  members: [{ name: 'storage', summary: 'Check a data directory', members: [verify] }],
}

/** Returns exit code 0 if there is no fault, 1 otherwise. In JSON the findings come with the report, not one by one. */
async function runVerify(io: CliIo, { data, 'unseal-key': asksForKey, format }: Options): Promise<ExitCode> {
  const world = realWorld()
  const keys = await keysOf(io, data, asksForKey)
  const showProgress = progressLine(io, () => world.clock.monotonicMs())
  const findings: string[] = []
  const report = await locationIn(data).verify({
    keys,
    onFinding: (sentence) => {
      if (format === 'json') findings.push(sentence)
      else io.stdout.write(`${printableLine(sentence)}\n`)
    },
    onProgress: showProgress,
  })
  if (io.stderr.isTTY === true) await writeAll(io.stderr, '\n')
  await writeAll(io.stdout, format === 'json' ? jsonOf(report, findings) : textOf(report, data))
  return report.findings === 0 ? 0 : 1
}

/**
 * Returns undefined without keys: then only what needs none is checked. A development server's key is found by itself.
 */
async function keysOf(io: CliIo, data: string, asksForKey: boolean): Promise<VerifyKeys | undefined> {
  const world = realWorld()
  if (asksForKey) return openWithShares(data, typedShares(io), world)
  const kept = findDevelopmentKeys(data)
  return kept.length === 0 ? undefined : openWithKey(data, kept, world, findDevelopmentRootKey(data))
}

/** On a terminal, one line that is written over; elsewhere nothing. */
function progressLine(io: CliIo, nowMs: () => number): (progress: VerifyProgress) => void {
  if (io.stderr.isTTY !== true) return () => {}
  const startedMs = nowMs()
  let shownMs = 0
  return ({ entries, allEntries, records, allRecords }) => {
    const now = nowMs()
    const isDone = entries === allEntries && records === allRecords
    if (!isDone && now - shownMs < PROGRESS_EVERY_MS) return
    shownMs = now
    const rate = Math.round((1000 * (entries + records)) / Math.max(1, now - startedMs))
    io.stderr.write(`\r${records}/${allRecords} records, ${entries}/${allEntries} entries, ${rate}/s\u001b[K`)
  }
}

function jsonOf({ index, entries, records, unchecked }: StoreVerifyReport, findings: readonly string[]): string {
  return `${JSON.stringify({ index, entries, records, findings, unchecked }, null, 2)}\n`
}

function textOf({ index, entries, records, findings, unchecked }: StoreVerifyReport, data: string): string {
  const verdict = findings === 0 ? 'no fault' : `${findings} ${findings === 1 ? 'fault' : 'faults'}`
  return [
    ...unchecked.map((sentence) => `Not checked: ${sentence}`),
    `${printableLine(data)}: ${verdict} in ${entries} entries and ${records} log records, at index ${index}`,
    '',
  ].join('\n')
}
