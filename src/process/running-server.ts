// The options of a server and the handle of a running one, the same for both kinds: on threads, or in memory.

import { newSharedTelemetry, type SharedTelemetry } from '../assembly/shared-telemetry.ts'
import { addressText } from '../config/address-text.ts'
import type { ServerConfig } from '../config/config.ts'
import type { Log } from '../lib/log.ts'
import { type LogLevels, newLogLevels } from '../lib/log-levels.ts'
import type { World } from '../lib/world.ts'
import type { DevelopmentFacts } from './writer.ts'

/** Options with which `keywright server`, or a test, starts a server. */
export type ServerOptions = {
  readonly config: ServerConfig
  readonly world: World
  readonly log: Log
  /** The levels of all loggers, if `log` has them already; missing: those of the configuration. */
  readonly levels?: LogLevels
  readonly development: { readonly rootToken: string | undefined } | undefined
  /** Called when the process cannot go on: storage failed, or the writing thread ended. */
  readonly onFatal: (reason: string) => void
  /**
   * Reads the configuration again for a reload. Missing: it stays as it is.
   * @throws with the reason if it is refused
   */
  readonly reread?: () => ServerConfig
}

/** A server that listens. */
export type RunningServer = {
  /** The address of the first listener. */
  readonly address: string
  /** The addresses of all listeners, as clients are told. */
  readonly addresses: readonly string[]
  readonly development: DevelopmentFacts | undefined
  /** Every thread reloads what can change at run time. Resolves with false if something goes on as before. */
  reload(): Promise<boolean>
  /** Lets requests under way end, then closes the store. Resolves when all threads have ended. */
  stop(): Promise<void>
}

/** `ports` are the ports that were found free. */
function clientAddresses({ listeners }: ServerConfig, ports: readonly number[]): readonly string[] {
  return listeners.map(({ address, rules }, index) => {
    if (address.kind === 'unix') return addressText(address)
    const scheme = rules.tls === undefined ? 'http' : 'https'
    return `${scheme}://${addressText({ ...address, port: ports[index] ?? address.port })}`
  })
}

/** Returns the address members of a running server. */
export function shownAddresses(config: ServerConfig, ports: readonly number[]) {
  const addresses = clientAddresses(config, ports)
  return { address: addresses[0] ?? '', addresses }
}

/** Makes the telemetry memory for this many serving threads. */
export function sharedTelemetry({ world, config, levels }: ServerOptions, threads: number): SharedTelemetry {
  return newSharedTelemetry(world.random, levels ?? newLogLevels(config.logging.level), threads)
}
