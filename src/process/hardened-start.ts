// The checks of the surroundings at the start of a server. What must not be keeps it from starting. What should not be
// is logged. A server that is no development server checks and logs again every day.
import type { ServerConfig } from '../config/config.ts'
import { emptyCoreDumps } from '../hardening/core-dumps.ts'
import { realMachine } from '../hardening/machine.ts'
import { faultsOf, type HardeningFound, refreshed, runChecks, summaryOf } from '../hardening/report.ts'
import type { HardeningSetting } from '../hardening/setting.ts'
import type { Log } from '../lib/log.ts'
import type { World } from '../lib/world.ts'
import { hardeningSetting, type Start } from './hardening-setting.ts'
import { misplacedLogs } from './misplaced-logs.ts'
import { StartError } from './start-error.ts'

const DAY_MS = 86_400_000

/** Returns the configuration with the findings of the checks. @throws StartError if the server must not start */
export async function checkedConfig(config: ServerConfig, start: Start, world: World): Promise<ServerConfig> {
  emptyCoreDumps()
  const misplaced = await misplacedLogs(config)
  if (misplaced.length > 0) throw new StartError(misplaced.join('. '))
  const setting = await hardeningSetting(config, start)
  const results = await runChecks(realMachine(world), setting)
  const refused = results.filter(({ verdict }) => verdict === 'refuse')
  if (refused.length > 0) throw new StartError(refused.map(({ id, sentence }) => `${sentence} (${id})`).join('. '))
  return { ...config, hardeningFound: { setting, results, startedAtMs: world.clock.nowMs() } }
}

/**
 * Logs the findings once the server has started, and those of a new check every day. A development server logs only
 * their numbers, once.
 */
export function logHardening({ hardeningFound: found }: ServerConfig, world: World, log: Log): void {
  if (found === undefined) return
  writeFindings(found, log)
  if (found.setting.isDevelopment) return
  const daily = async (): Promise<void> => {
    const results = await refreshed(found.results, realMachine(world), whileRunning(found.setting))
    writeFindings({ ...found, results }, log)
    world.timers.after(DAY_MS, () => void daily())
  }
  world.timers.after(DAY_MS, () => void daily())
}

/**
 * Requests may have made audit devices since the start, so their number is unknown unless the configuration declares
 * them.
 */
const whileRunning = (setting: HardeningSetting): HardeningSetting =>
  setting.isAuditDeclared ? setting : { ...setting, auditDevices: undefined }

function writeFindings({ setting, results }: HardeningFound, log: Log): void {
  if (!setting.isDevelopment) {
    for (const { id, title, sentence } of faultsOf(results))
      log('warn', `Hardening check "${title}": ${sentence}`, { check: id })
  }
  log('info', 'Hardening checks: `keywright operator diagnose` shows the results', summaryOf(results))
}
