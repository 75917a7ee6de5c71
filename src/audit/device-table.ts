// Which devices there are, in one thread: made from what is stored, opened, exchanged for others while requests are
// between their two entries, and let go when the last of those is done.
import { SaltedHmac } from '../crypto/primitives/salted-hmac.ts'
import { publicKeyText, signText } from '../crypto/signatures/text-signature.ts'
import { randomBase62 } from '../lib/base62.ts'
import type { Log } from '../lib/log.ts'
import type { ReloadOutcome } from '../lib/reload.ts'
import type { World } from '../lib/world.ts'
import type { Invalidation } from '../storage/invalidation.ts'
import type { ChainHeads } from './chain-heads.ts'
import type { Device, DeviceParts } from './device.ts'
import { deviceSettings } from './device-options.ts'
import { type DeviceStore, STORED_PREFIXES, type StoredAudit, type StoredDevice } from './device-store.ts'
import { EntryFormat } from './entry-text.ts'
import { yieldToEventLoop } from './event-loop.ts'
import { openDevice } from './open-device.ts'
import { DeviceSet, type Recorder } from './recorder.ts'

export type DeviceTableParts = {
  readonly store: DeviceStore
  readonly recorder: Recorder
  readonly invalidation: Invalidation
  readonly world: World
  readonly log: Log
  readonly chainHeads: ChainHeads
  /** Named in the chains. */
  readonly thread: string
}

/** A device as it is open here, with what it was made from, and how many sets it is in. */
type Opened = { readonly stored: StoredDevice; readonly device: Device; sets: number }

const NOTHING_STORED: StoredAudit = {
  devices: [],
  headers: new Map(),
  headerNames: [],
  signingKey: undefined,
  restored: undefined,
}
const STREAM_ID_CHARACTERS = 16

const setOf = (opened: readonly Opened[]): DeviceSet =>
  new DeviceSet(
    opened.map(({ device }) => device),
    opened.map(({ stored }) => stored.uuid),
  )

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

  /** As they were when they were loaded last. */
  get stored(): StoredAudit {
    return this.#stored
  }

  async open(): Promise<void> {
    this.#isOpen = true
    this.#isStale = true
    await this.refresh()
  }

  /** What was begun still goes to the devices there were. */
  close(): void {
    this.#isOpen = false
    this.#stored = NOTHING_STORED
    this.#replace(new DeviceSet([]))
  }

  /** Ends all of them, whoever still needs them. */
  async stop(): Promise<void> {
    this.close()
    this.#parts.recorder.flush()
    for (const opened of this.#opened) await this.#end(opened)
  }

  /** 'kept' where a device goes on in the file that it has. */
  async reopen(): Promise<ReloadOutcome> {
    const swaps = await Promise.all([...this.#opened].map(({ device }) => device.reopen()))
    this.#parts.recorder.flush()
    for (const swap of swaps) if (typeof swap === 'function') swap()
    return swaps.includes('kept') ? 'kept' : undefined
  }

  /** Whether `refresh` comes before the next request. */
  get isStale(): boolean {
    // While they are being loaded they may still be the old ones.
    return this.#isOpen && (this.#isStale || this.#refreshing !== undefined)
  }

  /** The devices for a request, until `leave`. */
  enter(): DeviceSet {
    this.#set.open++
    return this.#set
  }

  /**
   * Those of the devices that wrote the first entry of a request elsewhere, until `leave`; undefined where they are
   * gone and others are there.
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

  leave(set: DeviceSet): void {
    set.open--
    if (set.isRetired && set.open === 0) this.#letGo(set)
  }

  /** Undefined where there is none. */
  find(path: string): Device | undefined {
    return this.#set.devices.find((device) => device.path === path)
  }

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
    // Sealed meanwhile: what was opened for nothing goes again.
    if (!this.#isOpen) {
      for (const one of opened) if (one.sets === 0) await this.#end(one)
      return
    }
    this.#stored = stored
    for (const one of opened) one.sets++
    this.#replace(setOf(opened))
  }

  /** The one that is open already, where nothing changed. */
  async #open(device: StoredDevice, stored: StoredAudit): Promise<Opened> {
    const text = JSON.stringify(device)
    for (const known of this.#opened) if (JSON.stringify(known.stored) === text) return known
    const opened = { stored: device, device: await openDevice(this.partsOf(device, stored)), sets: 0 }
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

  /** What a device is made of that is stored so. @throws Refusal for options that are none */
  partsOf(
    { path, type, options, isDeclared, salt }: StoredDevice,
    { signingKey, restored }: Pick<StoredAudit, 'signingKey' | 'restored'>,
  ): DeviceParts {
    if (signingKey === undefined) throw new Error('An audit device is stored without the key that signs its chain')
    const { world, log, thread, chainHeads } = this.#parts
    const settings = deviceSettings(type, options, isDeclared)
    const key = Buffer.from(salt, 'base64')
    const hmac = new SaltedHmac(key)
    key.fill(0)
    const headers = () => this.#stored.headers
    return {
      path,
      settings,
      isDeclared,
      hmac,
      format: new EntryFormat(hmac, settings.format, { headers, pause: yieldToEventLoop }),
      timers: world.timers,
      log,
      chain: {
        newId: () => randomBase62(STREAM_ID_CHARACTERS, world.random.bytes),
        time: () => this.#now(),
        sign: (text) => signText(signingKey, text),
        publicKey: publicKeyText(signingKey),
        thread,
        slot: (stream, device) => chainHeads.take(stream, device),
        restored,
      },
    }
  }

  /** Made once a millisecond. */
  #now(): string {
    const ms = this.#parts.world.clock.nowMs()
    if (ms !== this.#time.ms) this.#time = { ms, text: new Date(ms).toISOString() }
    return this.#time.text
  }
}
