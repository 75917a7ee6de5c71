// `keywright operator diagnose`: the checks of the surroundings without a server. It adds those that mean something
// only before a server starts: whether the configuration can be read, and whether its addresses are free.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DEVELOPMENT_KEYS } from '../assembly/development.ts'
import type { Diagnosed, Diagnosis, Wanted } from '../cli/io.ts'
import { addressText } from '../config/address-text.ts'
import { DEFAULT_CONFIG, type ServerConfig, settle } from '../config/config.ts'
import { readConfig } from '../config/files.ts'
import type { ListenerConfig } from '../config/listener.ts'
import { ConfigError } from '../config/values.ts'
import { emptyCoreDumps } from '../hardening/core-dumps.ts'
import { type Machine, realMachine } from '../hardening/machine.ts'
import { CHECKS, runChecks } from '../hardening/report.ts'
import { realWorld } from '../lib/world.ts'
import { ListenFailed, requireFreeAddresses } from '../process/free-addresses.ts'
import { hardeningSetting } from '../process/hardening-setting.ts'
import { misplacedLogs } from '../process/misplaced-logs.ts'
import type { DurableLocation } from '../storage/driver.ts'
import { storageIn, storeLocation } from '../storage/drivers.ts'

/** The umask that `keywright server` sets first. */
const SERVER_UMASK = 0o077

/**
 * Runs the checks for the server that this configuration, or this data directory, would start. Changes nothing. A
 * configuration that is refused is a finding, not an error.
 */
export async function diagnose({ config: file, data }: Wanted): Promise<Diagnosis> {
  const { config, finding } = configIn(file)
  if (config === undefined) return withoutConfig(file, finding)
  const asked: ServerConfig = data === undefined ? config : { ...config, storage: storageIn(data) }
  const { durable, where } = storeLocation(asked.storage)
  const directory = durable?.directory
  // Without a file the data directory tells what kind of server is meant.
  const isDevelopment = file === undefined && directory !== undefined && existsSync(join(directory, DEVELOPMENT_KEYS))
  const results = await runChecks(
    machineOfServer(),
    await hardeningSetting(asked, { isDevelopment, configFiles: file === undefined ? [] : [file] }),
  )
  return {
    subject: [file ?? 'No configuration file', directory ?? `data ${where}`].join(', '),
    checks: [finding, ...(await logFindings(asked)), ...(await addressFindings(asked, durable)), ...results],
  }
}

/** The checks that look only at the machine and the process. */
const WITHOUT_CONFIG = ['B-01', 'B-04', 'B-05', 'B-11', 'B-13', 'B-14', 'B-16']

/**
 * A refused configuration does not tell what server is meant, and the defaults tell less: checks that need one are left
 * out.
 */
async function withoutConfig(file: string | undefined, finding: Diagnosed): Promise<Diagnosis> {
  const results = await runChecks(
    machineOfServer(),
    await hardeningSetting(DEFAULT_CONFIG, { isDevelopment: false, configFiles: [] }),
    CHECKS.filter(({ id }) => WITHOUT_CONFIG.includes(id)),
  )
  return { subject: `${file}, which is refused: checks that depend on it are left out`, checks: [finding, ...results] }
}

/**
 * The machine as a server would see it: memory left out of core dumps, and the server's umask instead of this
 * command's.
 */
function machineOfServer(): Machine {
  emptyCoreDumps()
  return { ...realMachine(realWorld()), umask: SERVER_UMASK }
}

/** `config` is undefined if it is refused. */
function configIn(file: string | undefined): {
  readonly config: ServerConfig | undefined
  readonly finding: Diagnosed
} {
  const about = { id: 'config', title: 'The configuration can be read', group: 'configuration' }
  if (file === undefined)
    return {
      config: DEFAULT_CONFIG,
      finding: { ...about, verdict: 'ok', sentence: 'No configuration file was given: the defaults apply' },
    }
  try {
    const config = settle(readConfig([file], process.env, { isPlainAllowed: false }))
    return { config, finding: { ...about, verdict: 'ok', sentence: `${file} is valid` } }
  } catch (cause) {
    if (!(cause instanceof ConfigError)) throw cause
    return { config: undefined, finding: { ...about, verdict: 'refuse', sentence: cause.message } }
  }
}

/** Findings about logs that keep the server from starting; none if all is well. */
async function logFindings(config: ServerConfig): Promise<readonly Diagnosed[]> {
  const sentences = await misplacedLogs(config)
  const about = { id: 'audit', title: 'Audit logs are kept outside the data', group: 'configuration' }
  return sentences.map((sentence) => ({ ...about, verdict: 'refuse', sentence }))
}

/** Opens each address alone. */
function addressFindings(config: ServerConfig, store: DurableLocation | undefined): Promise<readonly Diagnosed[]> {
  return Promise.all(config.listeners.map((listener) => addressFinding(listener, store)))
}

/** An address in use is no fault if the store is in use too: its own server then listens there. */
async function addressFinding({ address }: ListenerConfig, store: DurableLocation | undefined): Promise<Diagnosed> {
  const about = { id: 'address', title: 'The listen address is free', group: 'network' }
  const text = addressText(address)
  try {
    await requireFreeAddresses([address])
    return { ...about, verdict: 'ok', sentence: `${text} is free` }
  } catch (cause) {
    if (!(cause instanceof ListenFailed)) throw cause
    if (store !== undefined && (await isHeld(store)))
      return { ...about, verdict: 'ok', sentence: `${text} is in use, as is the store: by its own server` }
    return { ...about, verdict: 'refuse', sentence: cause.message }
  }
}

/** True if a server has the store open. A store that cannot be asked counts as free. */
async function isHeld(store: DurableLocation): Promise<boolean> {
  try {
    return await store.isInUse()
  } catch {
    return false
  }
}
