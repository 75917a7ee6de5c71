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

/** There is no TLS yet: an address that others reach says `tls_disable`, or the configuration is refused. */
function listenerInForce({ host, port }: ServerConfig): ListenerFacts {
  const isLocal = isLoopback(host)
  return {
    address: `${host.includes(':') ? `[${host}]` : host}:${port}`,
    isLocal,
    isTlsDisabled: !isLocal,
    certFile: undefined,
    keyFile: undefined,
  }
}
