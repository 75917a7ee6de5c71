// `keywright operator diagnose`: the checks of the surroundings without a server, and those that only mean something
// before one starts: whether the configuration can be read, and whether its addresses are free.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Diagnosed, Diagnosis, Wanted } from './cli/diagnosis.ts'
import { DEFAULT_CONFIG, readConfigFile, type ServerConfig } from './config.ts'
import { ConfigError } from './config-values.ts'
import { DEVELOPMENT_KEYS } from './development.ts'
import { emptyCoreDumps } from './hardening/core-dumps.ts'
import { realMachine } from './hardening/machine.ts'
import { runChecks } from './hardening/report.ts'
import { hardeningSetting } from './hardening-setting.ts'
import { realWorld } from './lib/world.ts'
import { requireFreeAddress, StartError } from './server.ts'
import { isInUse } from './storage/sqlite-files.ts'

/** What `keywright server` sets before all else. */
const SERVER_UMASK = 0o077

export async function diagnose({ config: file, data }: Wanted): Promise<Diagnosis> {
  const { config, finding } = readConfig(file)
  const directory = data ?? (config.storage.type === 'sqlite' ? config.storage.directory : undefined)
  const asked: ServerConfig = directory === undefined ? config : { ...config, storage: { type: 'sqlite', directory } }
  // Without a file it is the data directory that says what kind of server is meant.
  const isDevelopment = file === undefined && directory !== undefined && existsSync(join(directory, DEVELOPMENT_KEYS))
  emptyCoreDumps()
  const machine = { ...realMachine(realWorld()), umask: SERVER_UMASK }
  const results = await runChecks(machine, hardeningSetting(asked, { isDevelopment, configFile: file }))
  return {
    subject: [file ?? 'No configuration file', directory ?? 'data in memory'].join(', '),
    checks: [finding, await addressFinding(asked, directory), ...results],
  }
}

function readConfig(file: string | undefined): { readonly config: ServerConfig; readonly finding: Diagnosed } {
  const about = { id: 'config', title: 'The configuration can be read', group: 'configuration' }
  if (file === undefined)
    return { config: DEFAULT_CONFIG, finding: { ...about, verdict: 'ok', sentence: 'None was named: the defaults' } }
  try {
    const config = { ...DEFAULT_CONFIG, ...readConfigFile(file) }
    return { config, finding: { ...about, verdict: 'ok', sentence: `${file} says nothing that is not known` } }
  } catch (cause) {
    if (!(cause instanceof ConfigError)) throw cause
    return { config: DEFAULT_CONFIG, finding: { ...about, verdict: 'refuse', sentence: cause.message } }
  }
}

async function addressFinding(config: ServerConfig, directory: string | undefined): Promise<Diagnosed> {
  const about = { id: 'address', title: 'The address can be listened on', group: 'network' }
  const address = `${config.host}:${config.port}`
  try {
    await requireFreeAddress(config)
    return { ...about, verdict: 'ok', sentence: `${address} is free` }
  } catch (cause) {
    if (!(cause instanceof StartError)) throw cause
    const isOurs = directory !== undefined && holdsStore(directory)
    if (isOurs) return { ...about, verdict: 'ok', sentence: `${address} is in use, and so is the store: by its server` }
    return { ...about, verdict: 'refuse', sentence: cause.message }
  }
}

function holdsStore(directory: string): boolean {
  try {
    return isInUse(directory)
  } catch {
    return false
  }
}
