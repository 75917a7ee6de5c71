// What the checks of the surroundings are told: taken from the configuration as it is in force.
import { join } from 'node:path'
import { deviceSettings } from '../audit/device-options.ts'
import type { ServerConfig } from '../config/config.ts'
import { addressText, isLoopback, type ListenerConfig } from '../config/listener.ts'
import type { HardeningSetting, ListenerFacts } from '../hardening/setting.ts'
import { storeLocation } from '../storage/drivers.ts'

export type Start = {
  readonly isDevelopment: boolean
  /** Files and directories of the configuration. */
  readonly configFiles: readonly string[]
}

export async function hardeningSetting(
  config: ServerConfig,
  { isDevelopment, configFiles }: Start,
): Promise<HardeningSetting> {
  const { hardening, storage } = config
  return {
    isDevelopment,
    isStrict: hardening.isStrict,
    isAuditRequired: hardening.isAuditRequired,
    configFiles,
    inlineSecrets: hardening.inlineSecrets,
    program: [join(import.meta.dirname, '..'), join(import.meta.dirname, '../../bin'), process.execPath],
    storage,
    listeners: config.listeners.map((listener) => factsOf(listener, isDevelopment)),
    threads: config.threads,
    maxBodyBytes: config.limits.maxBodyBytes,
    auditDevices: await devicesOf(config),
    isAuditDeclared: config.audit.declared.length > 0,
    auditFiles: config.audit.declared.flatMap(({ type, options }) => {
      const { target } = deviceSettings(type, options, true)
      return target.file === undefined ? [] : [target.file.path]
    }),
    rootTokens: undefined,
  }
}

/** Those that requests made are in the store, and known once the server is open. */
async function devicesOf({ audit, storage }: ServerConfig): Promise<readonly string[] | undefined> {
  const declared = audit.declared.map(({ path }) => path)
  if (declared.length > 0) return declared
  const summary = await storeLocation(storage).durable?.summary()
  return summary === undefined || summary.kind === 'none' ? declared : undefined
}

/** In clear is only what says `tls_disable`, a Unix socket, or a development server. */
function factsOf({ address, rules }: ListenerConfig, isDevelopment: boolean): ListenerFacts {
  return {
    address: addressText(address),
    isLocal: address.kind === 'unix' || isLoopback(address.host),
    isTlsDisabled: rules.tls === undefined && address.kind === 'tcp' && !isDevelopment,
    certFile: rules.tls?.certFile,
    keyFile: rules.tls?.keyFile,
  }
}
