// The effects of a restore on audit, for the operator who asked for it: it replaces the devices, and the key that signs
// chains.
import type { StoredDevice } from '../audit/device-store.ts'

const DEVICE = /^root\/core\/(?:local-)?audit\/(.+)$/
const SIGNING_KEY = 'root/core/audit-key'

type Device = Pick<StoredDevice, 'uuid' | 'path' | 'isDeclared'>

/** Compares the present devices with the keys of a snapshot. */
export class RestoredAudit {
  readonly #devices: readonly Device[]
  readonly #restored = new Set<string>()
  #hasKey = false

  constructor(devices: readonly Device[]) {
    this.#devices = devices
  }

  /** Takes one key of the snapshot; called for each. */
  see(key: string): void {
    if (key === SIGNING_KEY) this.#hasKey = true
    const uuid = DEVICE.exec(key)?.[1]
    if (uuid !== undefined) this.#restored.add(uuid)
  }

  /** Returns sentences for the operator; none if nothing is lost. */
  warnings(): readonly string[] {
    if (this.#devices.length === 0) return []
    // Devices that the configuration declares come back as soon as the server is unsealed.
    const lost = this.#devices.filter(({ uuid, isDeclared }) => !isDeclared && !this.#restored.has(uuid))
    const paths = lost.map(({ path }) => path).join(', ')
    return [
      ...(lost.length === 0
        ? []
        : [`The restored state lacks audit devices that were here: ${paths}. Enable them again after unsealing`]),
      ...(this.#hasKey
        ? []
        : ['The restored state has no key that signs audit chains: a new one is made, keep the old public key']),
    ]
  }
}
