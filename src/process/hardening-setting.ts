// Facts for the checks of the surroundings, taken from the configuration in force.
import { join } from 'node:path'
import { deviceSettings } from '../audit/device-options.ts'
import { addressText } from '../config/address-text.ts'
import type { ServerConfig } from '../config/config.ts'
import { isLoopback, type ListenerConfig } from '../config/listener.ts'
import type { HardeningSetting, ListenerFacts } from '../hardening/setting.ts'
import { storeLocation } from '../storage/drivers.ts'

/** How the server was started. */
export type Start = {
  readonly isDevelopment: boolean
  /** Files and directories of the configuration. */
  readonly configFiles: readonly string[]
}

/** Returns the facts for the checks. Of the store it reads only the summary. */
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

/**
 * Returns undefined if it is not known. Devices made by requests are in the store, and known once the server is open.
 */
async function devicesOf({ audit, storage }: ServerConfig): Promise<readonly string[] | undefined> {
  const declared = audit.declared.map(({ path }) => path)
  if (declared.length > 0) return declared
  const summary = await storeLocation(storage).durable?.summary()
  return summary === undefined || summary.kind === 'none' ? declared : undefined
}

/**
 * A listener is in clear if it says `tls_disable`, is a Unix socket, or belongs to a development server. Only the first
 * is a finding.
 */
function factsOf({ address, rules }: ListenerConfig, isDevelopment: boolean): ListenerFacts {
  return {
    address: addressText(address),
    isLocal: address.kind === 'unix' || isLoopback(address.host),
    isTlsDisabled: rules.tls === undefined && address.kind === 'tcp' && !isDevelopment,
    certFile: rules.tls?.certFile,
    keyFile: rules.tls?.keyFile,
  }
}
