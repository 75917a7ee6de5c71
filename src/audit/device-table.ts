// The open devices of one thread. They are made from what is stored, and may be replaced while requests are between
// their two entries. A replaced device is closed when the last of those requests is done.
import { SaltedHmac } from '../crypto/primitives/salted-hmac.ts'
import { publicKeyText, signText } from '../crypto/signatures/text-signature.ts'
import { randomBase62 } from '../lib/base62.ts'
import type { Log } from '../lib/log.ts'
import type { ReloadOutcome } from '../lib/reload.ts'
import type { World } from '../lib/world.ts'
import type { Invalidation } from '../storage/invalidation.ts'
import type { AuditFiles } from './audit-files.ts'
import type { ChainHeads } from './chain-heads.ts'
import type { Device, DeviceParts } from './device.ts'
import { deviceSettings } from './device-options.ts'
import { type DeviceStore, STORED_PREFIXES, type StoredAudit, type StoredDevice } from './device-store.ts'
import { EntryFormat } from './entry-text.ts'
import { openDevice } from './open-device.ts'
import { DeviceSet, type Recorder } from './recorder.ts'
import { UnopenedDevice } from './unopened-device.ts'

/** The parts that Audit hands in. */
export type DeviceTableParts = {
  readonly store: DeviceStore
  readonly recorder: Recorder
  readonly invalidation: Invalidation
  readonly world: World
  readonly log: Log
  readonly chainHeads: ChainHeads
  /** Name of the thread, as chains show it. */
  readonly thread: string
  /** Missing: those of this machine. */
  readonly files?: AuditFiles | undefined
}

/**
 * An open device, the record it was made from, what the start of its chain says, and the number of sets that contain
 * it. It is closed at 0.
 */
type Opened = { readonly stored: StoredDevice; readonly start: string; readonly device: Device; sets: number }

const NOTHING_STORED: StoredAudit = {
  devices: [],
  headers: new Map(),
  headerNames: [],
  signingKey: undefined,
  origin: {},
}
const STREAM_ID_CHARACTERS = 16

const setOf = (opened: readonly Opened[]): DeviceSet =>
  new DeviceSet(
    opened.map(({ device }) => device),
    opened.map(({ stored }) => stored.uuid),
  )

/** The current set of devices, and earlier sets that requests still use. */
export class DeviceTable {
  readonly #parts: DeviceTableParts
  readonly #opened = new Set<Opened>()
  #set = new DeviceSet([])
  #stored = NOTHING_STORED
  #isOpen = false
  #isStale = true
  #refreshing: Promise<void> | undefined
  #time = { ms: 0, text: '' }

  constructor(parts: DeviceTableParts) {
    this.#parts = parts
    const stale = () => {
      this.#isStale = true
    }
    for (const prefix of STORED_PREFIXES) parts.invalidation.register({ prefix, changed: stale, reset: stale })
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** The stored state as of the last refresh. */
  get stored(): StoredAudit {
    return this.#stored
  }

  /**
   * Opens the stored devices. One that cannot be reached is open all the same, and tries again with each entry. One
   * that cannot be opened keeps no server sealed: it stores nothing, and is tried again when
   * something that is stored for audit changes: the key that signs chains, for instance.
   */
  async open(): Promise<void> {
    this.#isOpen = true
    this.#isStale = true
    await this.refresh()
  }

  /** Closes to new requests; those already begun keep their devices. */
  close(): void {
    this.#isOpen = false
    this.#stored = NOTHING_STORED
    this.#replace(new DeviceSet([]))
  }

  /** Ends all devices, even those that requests still use. */
  async stop(): Promise<void> {
    this.close()
    this.#parts.recorder.flush()
    for (const opened of this.#opened) await this.#end(opened)
  }

  /** Opens the files of all devices anew; 'kept' if a device continues in the file it has. */
  async reopen(): Promise<ReloadOutcome> {
    const swaps = await Promise.all([...this.#opened].map(({ device }) => device.reopen()))
    this.#parts.recorder.flush()
    for (const swap of swaps) if (typeof swap === 'function') swap()
    return swaps.includes('kept') ? 'kept' : undefined
  }

  /** True if the next request must wait for `refresh`. */
  get isStale(): boolean {
    // During a refresh the devices may still be the old ones.
    return this.#isOpen && (this.#isStale || this.#refreshing !== undefined)
  }

  /** Returns the devices for a request; `leave` must follow. */
  enter(): DeviceSet {
    this.#set.open++
    return this.#set
  }

  /**
   * Returns the current devices among those that wrote the first entry on another thread; `leave` must follow.
   * Undefined if all of those were replaced.
   */
  enterThose(uuids: readonly string[]): DeviceSet | undefined {
    const all = this.#set
    const known = all.uuids.filter((uuid) => uuids.includes(uuid))
    if (known.length === all.uuids.length) return this.enter()
    if (known.length === 0) return undefined
    const kept = [...this.#opened].filter(
      ({ stored, device }) => known.includes(stored.uuid) && all.devices.includes(device),
    )
    for (const one of kept) one.sets++
    const set = setOf(kept)
    set.open = 1
    set.isRetired = true
    return set
  }

  /** Ends the use of a set by one request; the last one closes devices that no set contains any more. */
  leave(set: DeviceSet): void {
    set.open--
    if (set.isRetired && set.open === 0) this.#letGo(set)
  }

  /** Returns the device at the path, or undefined. */
  find(path: string): Device | undefined {
    return this.#set.devices.find((device) => device.path === path)
  }

  /** Makes the devices match what is stored. Concurrent calls share one run. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#refreshUntilFresh().finally(() => {
      this.#refreshing = undefined
    })
    return this.#refreshing
  }

  async #refreshUntilFresh(): Promise<void> {
    do {
      this.#isStale = false
      try {
        await this.#load()
      } catch (cause) {
        this.#isStale = true
        throw cause
      }
    } while (this.#isStale && this.#isOpen)
  }

  async #load(): Promise<void> {
    const stored = await this.#parts.store.read()
    const opened = await Promise.all(stored.devices.map((device) => this.#open(device, stored)))
    // Sealed meanwhile: devices that were opened in vain are closed again.
    if (!this.#isOpen) {
      for (const one of opened) if (one.sets === 0) await this.#end(one)
      return
    }
    this.#stored = stored
    for (const one of opened) one.sets++
    this.#replace(setOf(opened))
  }

  /**
   * Returns the device that is already open, if neither its record changed nor what its chain began with: a request
   * that brings another state, such as a restore, still has the device of before.
   */
  async #open(device: StoredDevice, stored: StoredAudit): Promise<Opened> {
    const text = JSON.stringify(device)
    const known = [...this.#opened].filter((one) => JSON.stringify(one.stored) === text)
    const start = startOf(stored)
    const isUnopened = (one: Opened | undefined) => one?.device instanceof UnopenedDevice
    const same = known.find((one) => one.start === start && !isUnopened(one))
    if (same !== undefined) return same
    try {
      const opened = { stored: device, start, device: await openDevice(this.partsOf(device, stored)), sets: 0 }
      this.#opened.add(opened)
      if (isUnopened(known.at(-1))) this.#parts.log('info', 'An audit device is open now', { device: device.path })
      return opened
    } catch (cause) {
      return known.at(-1) ?? this.#unopened(device, cause)
    }
  }

  #unopened(device: StoredDevice, cause: unknown): Opened {
    const message = cause instanceof Error ? cause.message : 'unknown'
    this.#parts.log('error', 'An audit device cannot be opened and records nothing', {
      device: device.path,
      cause: message,
    })
    const whole = { headers: () => this.#stored.headers, pause: this.#parts.world.ticks.next }
    const unopened = new UnopenedDevice(device.path, hmacOf(device), whole)
    const opened = { stored: device, start: '', device: unopened, sets: 0 }
    this.#opened.add(opened)
    return opened
  }

  #replace(set: DeviceSet): void {
    const before = this.#set
    this.#set = set
    before.isRetired = true
    if (before.open === 0) this.#letGo(before)
  }

  #letGo({ devices }: DeviceSet): void {
    this.#parts.recorder.flush()
    for (const opened of this.#opened) {
      if (!devices.includes(opened.device)) continue
      opened.sets--
      if (opened.sets === 0) void this.#end(opened)
    }
  }

  async #end(opened: Opened): Promise<void> {
    this.#opened.delete(opened)
    this.#parts.recorder.forget(opened.device)
    await opened.device.end()
    opened.device.hmac.wipe()
  }

  /** Returns what a device is opened with. @throws Refusal for invalid options */
  partsOf(device: StoredDevice, { signingKey, origin }: Pick<StoredAudit, 'signingKey' | 'origin'>): DeviceParts {
    if (signingKey === undefined) throw new Error('This cluster has no key yet that signs audit chains')
    const { world, log, thread, chainHeads, files } = this.#parts
    const { path, type, options, isDeclared } = device
    const settings = deviceSettings(type, options, isDeclared)
    const hmac = hmacOf(device)
    const headers = () => this.#stored.headers
    return {
      path,
      settings,
      isDeclared,
      hmac,
      format: new EntryFormat(hmac, settings.format, { headers, pause: world.ticks.next }),
      timers: world.timers,
      files,
      log,
      chain: {
        newId: () => randomBase62(STREAM_ID_CHARACTERS, world.random.bytes),
        time: () => this.#now(),
        sign: (text) => signText(signingKey, text),
        publicKey: publicKeyText(signingKey),
        thread,
        slot: (stream, device) => chainHeads.take(stream, device),
        origin,
      },
    }
  }

  /** The current time as text, formatted at most once a millisecond. */
  #now(): string {
    const ms = this.#parts.world.clock.nowMs()
    if (ms !== this.#time.ms) this.#time = { ms, text: new Date(ms).toISOString() }
    return this.#time.text
  }
}

/** Compared alone: the key that signs a chain, and how the state of this server began. */
const startOf = ({ signingKey, origin }: StoredAudit): string =>
  JSON.stringify([signingKey && publicKeyText(signingKey), origin])

function hmacOf({ salt }: StoredDevice): SaltedHmac {
  const key = Buffer.from(salt, 'base64')
  const hmac = new SaltedHmac(key)
  key.fill(0)
  return hmac
}
