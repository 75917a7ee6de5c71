// The TLS material of all listeners, held by the watching thread. It alone reads the files for them, so that all
// threads change to a new certificate together. A thread that replaces another gets the same material.

import { addressText } from '../config/address-text.ts'
import type { ServerConfig } from '../config/config.ts'
import type { TlsMaterial } from '../http/tls.ts'
import type { Log } from '../lib/log.ts'
import type { ReloadOutcome } from '../lib/reload.ts'
import type { Timer, World } from '../lib/world.ts'
import type { TlsMaterials } from './listening.ts'
import { materialOf, readTlsFiles, TlsFileError } from './tls-files.ts'

/** A ticket key can decrypt the sessions whose tickets it made, so none is kept for longer than this. */
const TICKET_KEY_LIFE_MS = 12 * 3_600_000

/** The present material, and its renewal. */
export class TlsState {
  readonly #config: ServerConfig
  readonly #world: World
  readonly #log: Log
  #materials: TlsMaterials
  #timer: Timer | undefined

  /** @throws TlsFileError */
  constructor(config: ServerConfig, world: World, log: Log) {
    this.#config = config
    this.#world = world
    this.#log = log
    this.#materials = config.listeners.map((_, index) => this.#read(index))
  }

  /** The material that a thread starting now is to use. */
  get materials(): TlsMaterials {
    return this.#materials
  }

  /** Reads the files again. Returns 'kept' if some cannot be used: the former material of that listener stays. */
  renew(): ReloadOutcome {
    let outcome: ReloadOutcome
    this.#materials = this.#materials.map((before, index) => {
      if (before === undefined) return undefined
      const listener = this.#nameOf(index)
      try {
        const material = this.#read(index)
        this.#log('info', 'Reload: the certificate was reloaded', { listener })
        return material
      } catch (cause) {
        if (!(cause instanceof TlsFileError)) throw cause
        this.#log('error', `Reload: the previous certificate stays in use: ${cause.message}`, { listener })
        outcome = 'kept'
        return before
      }
    })
    return outcome
  }

  /** Calls `tell` each time there are new keys for session tickets, until `stop`. */
  renewTickets(tell: (materials: TlsMaterials) => void): void {
    if (this.#materials.every((material) => material === undefined)) return
    this.#timer = this.#world.timers.after(TICKET_KEY_LIFE_MS, () => {
      this.#materials = this.#materials.map((material) => material && materialOf(material, this.#world))
      tell(this.#materials)
      this.renewTickets(tell)
    })
  }

  stop(): void {
    this.#timer?.cancel()
  }

  #read(index: number): TlsMaterial | undefined {
    const rules = this.#config.listeners[index]?.rules.tls
    if (rules === undefined) return undefined
    const files = readTlsFiles(rules, this.#world.clock.nowMs())
    for (const warning of files.warnings) this.#log('warn', warning, { listener: this.#nameOf(index) })
    return materialOf(files, this.#world)
  }

  #nameOf(index: number): string {
    const address = this.#config.listeners[index]?.address
    return address === undefined ? '' : addressText(address)
  }
}
