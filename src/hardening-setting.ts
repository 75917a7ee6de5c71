// What the checks of the surroundings are told: taken from the configuration as it is in force.
import { join } from 'node:path'
import type { ServerConfig } from './config.ts'
import { isLoopback } from './config-listener.ts'
import type { HardeningSetting, ListenerFacts } from './hardening/setting.ts'

export type Start = {
  readonly isDevelopment: boolean
  /** The file of the configuration. */
  readonly configFile: string | undefined
}

export function hardeningSetting(config: ServerConfig, { isDevelopment, configFile }: Start): HardeningSetting {
  const { hardening, storage } = config
  return {
    isDevelopment,
    isStrict: hardening.isStrict,
    isAuditRequired: hardening.isAuditRequired,
    configFile,
    inlineSecrets: hardening.inlineSecrets,
    program: [import.meta.dirname, join(import.meta.dirname, '../bin'), process.execPath],
    dataDirectory: storage.type === 'sqlite' ? storage.directory : undefined,
    listeners: [listenerInForce(config)],
    threads: config.threads,
    maxRequestBytes: config.limits.maxRequestBytes,
    // There are none yet.
    auditDevices: [],
    rootTokens: undefined,
  }
}

/** An option of the command line may have another address than the file. */
function listenerInForce({ host, port, hardening }: ServerConfig): ListenerFacts {
  const address = `${host.includes(':') ? `[${host}]` : host}:${port}`
  const given = hardening.listeners.find((listener) => listener.address === address)
  const plain = { isTlsDisabled: false, certFile: undefined, keyFile: undefined }
  return { ...plain, ...given, address, isLocal: isLoopback(host) }
}
