// The program. `keywright server …` starts a server, `keywright storage …` works on its data, everything else is the
// client. Real time, randomness and the process come in here, in src/process and in src/offline, nowhere else.
import type { Diagnose, InspectSnapshot, VerifyAudit } from './cli/io.ts'
import { keepCompiledCode } from './compile-cache.js'
import { realWorld } from './lib/world.ts'
import { VERSION } from './version.ts'

// For starts of this file itself; start.js has done this already.
keepCompiledCode()

const [command, ...rest] = process.argv.slice(2)
if (command === 'server') {
  // Files that a server makes are for its own user alone.
  process.umask(0o077)
  const { runServer } = await import('./process/server-command.ts')
  await runServer(rest)
} else {
  const { runCli } = await import('./cli/cli.ts')
  const commands = command === 'storage' ? (await import('./offline/storage-command.ts')).STORAGE_COMMANDS : undefined
  const { stdin, stdout, stderr, env } = process
  const inspectSnapshot: InspectSnapshot = async (parts) => {
    const inspection = await import('./offline/snapshot-inspection.ts')
    return inspection.inspectSnapshot(parts)
  }
  const diagnose: Diagnose = async (wanted) => {
    const diagnosis = await import('./offline/diagnosis.ts')
    return diagnosis.diagnose(wanted)
  }
  const verifyAudit: VerifyAudit = async (files, options) => {
    const verification = await import('./offline/audit-verification.ts')
    return verification.verifyAudit(files, options)
  }
  const onInterrupt = (work: () => void) => {
    process.once('SIGINT', work)
    return () => void process.off('SIGINT', work)
  }
  const { sleep } = realWorld().timers
  const offline = { inspectSnapshot, diagnose, verifyAudit }
  const io = { stdin, stdout, stderr, env, version: VERSION, sleep, onInterrupt, ...offline }
  process.exitCode = await runCli(process.argv.slice(2), io, commands)
}
