// Changes the stored devices, by requests and by the configuration file. Runs only on the thread that writes.
import type { AuditDevices, NewDevice, ShownDevice } from '../api/audit.ts'
import { fail } from '../api/errors.ts'
import type { Sight } from '../api/node-role.ts'
import { OneAtATime } from '../lib/one-at-a-time.ts'
import { inDataDirectory, liesIn } from './data-directory.ts'
import { deviceSettings } from './device-options.ts'
import type { DeviceStore, StoredDevice } from './device-store.ts'
import type { DeviceTable } from './device-table.ts'
import { requireUsableTarget } from './open-device.ts'

/** The audit part of the configuration file. */
export type AuditSettings = {
  readonly declared: readonly ShownDevice[]
  /** True if requests may enable devices. */
  readonly allowsApi: boolean
  /** The data directory, where no log may lie; missing if data is kept in memory. */
  readonly dataDirectory?: string | undefined
}

/** Name of the setting in the configuration file. */
export const API_SWITCH = 'unsafe_allow_api_audit_creation'
const MOST_DEVICES = 32
const MOST_HEADERS = 64

/** Changes of devices and recorded headers. A change by a request resolves when the devices of this thread match. */
export class DeviceChanges implements Pick<AuditDevices, 'enable' | 'disable' | 'setHeader'> {
  readonly #store: DeviceStore
  readonly #table: DeviceTable
  readonly #settings: AuditSettings
  readonly #queue = new OneAtATime()

  constructor(store: DeviceStore, table: DeviceTable, settings: AuditSettings) {
    this.#store = store
    this.#table = table
    this.#settings = settings
  }

  /**
   * Makes the declared devices match the configuration file. One that stays keeps its salt, so its HMACs stay
   * comparable. Devices that requests made are left alone, also at the same path: they may be another server's too.
   */
  async declare(): Promise<void> {
    const { declared } = this.#settings
    const former = await this.#store.readFormer()
    await this.#store.transaction((devices, tx) => {
      const present = devices.filter(({ isDeclared }) => isDeclared)
      for (const device of present) {
        if (!declared.some(({ path }) => path === device.path)) tx.delete(device)
      }
      for (const one of declared) {
        const isThis = ({ path }: StoredDevice): boolean => path === one.path
        const before = present.find(isThis)
        const known = before ?? former.find(isThis) ?? this.#store.made({ ...one, isDeclared: true })
        const after = { ...known, ...one, isDeclared: true }
        if (JSON.stringify(before) !== JSON.stringify(after)) tx.put(after)
      }
    })
  }

  /** Removes what earlier releases stored in a class that goes to other clusters; `declare` has taken it over. */
  removeFormer(): Promise<void> {
    return this.#store.removeFormer()
  }

  async enable(device: NewDevice): Promise<void> {
    if (!this.#settings.allowsApi)
      throw fail('declared_in_config', [
        `audit devices are declared in the configuration file here: ${API_SWITCH} = false`,
      ])
    await this.#queue.run(() => this.#enable(device))
  }

  async #enable(given: NewDevice): Promise<void> {
    const { path, type, options } = given
    const { target } = deviceSettings(type, options, false)
    const { dataDirectory } = this.#settings
    if (target.file !== undefined && dataDirectory !== undefined && (await liesIn(target.file.path, dataDirectory)))
      throw fail('audit_option_invalid', [`the option file_path: ${inDataDirectory(target.file.path)}`])
    const { devices } = this.#table.stored
    requireFree(devices, path)
    if (devices.length >= MOST_DEVICES) throw fail('limit_reached', [`there are ${MOST_DEVICES} audit devices already`])
    const device = this.#store.made({ ...given, isDeclared: false })
    await requireUsableTarget(this.#table.partsOf(device, await this.#store.read()))
    await this.#store.transaction((known, tx) => {
      requireFree(known, path)
      tx.put(device)
    })
    await this.#table.refresh()
  }

  async disable(path: string, sight: Sight): Promise<void> {
    await this.#store.transaction((devices, tx) => {
      // The first is the one that the path means.
      const device = devices.find((one) => one.path === path && (sight === 'all' || isShared(one)))
      if (device === undefined) return
      if (device.isDeclared) throw fail('declared_in_config', [declaredText(device)])
      tx.delete(device)
    })
    await this.#table.refresh()
  }

  async setHeader(name: string, setting: { readonly hmac: boolean } | undefined): Promise<void> {
    await this.#store.setHeaders((before) => {
      const after = new Map(before)
      if (setting === undefined) after.delete(name)
      else after.set(name, setting)
      if (after.size > MOST_HEADERS) throw fail('limit_reached', [`at most ${MOST_HEADERS} headers are recorded`])
      return after
    })
    await this.#table.refresh()
  }
}

/** What the configuration file declares is of this cluster alone, whatever it says. */
const isShared = ({ local, isDeclared }: StoredDevice): boolean => !local && !isDeclared

const declaredText = ({ type, path }: StoredDevice): string =>
  `the configuration file declares this device: take audit "${type}" "${path.slice(0, -1)}" out of it, and restart`

/** Requires that no device has the path. @throws Refusal */
function requireFree(devices: readonly StoredDevice[], path: string): void {
  if (devices.some((one) => one.path === path)) throw fail('already_exists', ['path already in use']) // Wire text.
}
