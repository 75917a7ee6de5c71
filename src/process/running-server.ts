// What is asked of a server and what is had of a running one, of either kind: on threads, or in memory.

import { newSharedTelemetry, type SharedTelemetry } from '../assembly/shared-telemetry.ts'
import type { ServerConfig } from '../config/config.ts'
import { addressText } from '../config/listener.ts'
import type { Log } from '../lib/log.ts'
import { type LogLevels, newLogLevels } from '../lib/log-levels.ts'
import type { World } from '../lib/world.ts'
import type { DevelopmentFacts } from './writer.ts'

export type ServerOptions = {
  readonly config: ServerConfig
  readonly world: World
  readonly log: Log
  /** Of all loggers, where the log above has them; missing: those of the configuration. */
  readonly levels?: LogLevels
  readonly development: { readonly rootToken: string | undefined } | undefined
  /** The process cannot go on: storage failed, or the writing thread ended. */
  readonly onFatal: (reason: string) => void
  /** Reads the configuration anew, for a reload. Missing: it stays as it is. @throws what says why it is refused */
  readonly reread?: () => ServerConfig
}

export type RunningServer = {
  /** Of the first listener. */
  readonly address: string
  /** Of all of them, as clients are told. */
  readonly addresses: readonly string[]
  readonly development: DevelopmentFacts | undefined
  /** Every thread reads anew what can change while the server runs. False where something goes on as before. */
  reload(): Promise<boolean>
  stop(): Promise<void>
}

/** For clients; `ports` are those that were found. */
function clientAddresses({ listeners }: ServerConfig, ports: readonly number[]): readonly string[] {
  return listeners.map(({ address, rules }, index) => {
    if (address.kind === 'unix') return addressText(address)
    const scheme = rules.tls === undefined ? 'http' : 'https'
    return `${scheme}://${addressText({ ...address, port: ports[index] ?? address.port })}`
  })
}

export function shownAddresses(config: ServerConfig, ports: readonly number[]) {
  const addresses = clientAddresses(config, ports)
  return { address: addresses[0] ?? '', addresses }
}

export function sharedTelemetry({ world, config, levels }: ServerOptions, threads: number): SharedTelemetry {
  return newSharedTelemetry(world.random, levels ?? newLogLevels(config.logging.level), threads)
}
