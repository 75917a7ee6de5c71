// Brings entries to the devices, for one thread. Entries of one tick are written together, and the requests
// that wait for them continue together. An entry is recorded once one device has it; a slow device is
// waited for only if no other has it.
import type { Timer, Timers } from '../lib/world.ts'
import type { Device } from './device.ts'
import type { EntryType } from './line-stream.ts'

/** Thrown if no device has stored the entry. */
export class NotRecorded extends Error {
  override name = 'NotRecorded'
}

/** A line is covered by a signature within this time (threats P-38). */
export const CHECKPOINT_MS = 1_000

type Outcome = boolean | Promise<boolean>

/** The devices that record a request, from its first entry to its last, whatever is changed meanwhile. */
export class DeviceSet {
  readonly devices: readonly Device[]
  /** Ids of the devices, in their order. */
  readonly uuids: readonly string[]
  /** Number of requests between their two entries. */
  open = 0
  isRetired = false
  waiting: PromiseWithResolvers<void> | undefined

  constructor(devices: readonly Device[], uuids: readonly string[] = []) {
    this.devices = devices
    this.uuids = uuids
  }
}

/** The record of a request between its two entries. */
export type AuditRecord = {
  readonly set: DeviceSet
  /** `auth` and `request` as each device writes them; undefined if another thread wrote the first entry. */
  texts: readonly string[] | undefined
}

/** Writes entries, and signs chains after them, for all devices of a thread. */
export class Recorder {
  readonly #timers: Timers
  /** Runs `work` at the end of the current tick. */
  readonly #afterTick: (work: () => void) => void
  readonly #sets = new Set<DeviceSet>()
  /** Devices with lines since their last checkpoint. */
  readonly #unsigned = new Set<Device>()
  #isScheduled = false
  #checkpoint: Timer | undefined

  constructor(timers: Timers, afterTick: (work: () => void) => void) {
    this.#timers = timers
    this.#afterTick = afterTick
  }

  /**
   * Appends one entry, whose text each device of the set has in two parts. Returns what to `wait` for: the set, or
   * those of its devices that took the entry.
   */
  append(set: DeviceSet, type: EntryType, bodies: readonly string[], rests?: readonly string[]): DeviceSet {
    let refusing: Set<Device> | undefined
    for (let at = 0; at < set.devices.length; at++) {
      const device = set.devices[at] as Device
      this.#unsigned.add(device)
      if (device.append(type, bodies[at] as string, rests?.[at] ?? '')) continue
      refusing ??= new Set()
      refusing.add(device)
    }
    this.#checkpoint ??= this.#timers.after(CHECKPOINT_MS, () => this.#sign())
    return refusing === undefined ? set : without(set, refusing)
  }

  /** Resolves when everything appended to the set in this tick is stored. @throws NotRecorded */
  wait(set: DeviceSet): Promise<void> {
    if (set.waiting === undefined) {
      set.waiting = Promise.withResolvers()
      // Waiting requests see the rejection. If none waits any more, it must not end the process.
      set.waiting.promise.catch(() => {})
      this.#sets.add(set)
      this.#scheduleFlush()
    }
    return set.waiting.promise
  }

  #scheduleFlush(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    this.#afterTick(this.#flushScheduled)
  }

  readonly #flushScheduled = (): void => {
    this.#isScheduled = false
    this.flush()
  }

  /** Writes what waits, once for each device. */
  flush(): void {
    const outcomes = new Map<Device, Outcome>()
    const sets = [...this.#sets]
    this.#sets.clear()
    for (const set of sets) {
      for (const device of set.devices) if (!outcomes.has(device)) outcomes.set(device, device.flush())
      const { waiting } = set
      set.waiting = undefined
      if (waiting !== undefined) settle(waiting, set.devices, outcomes)
    }
  }

  #sign(): void {
    this.#checkpoint = undefined
    // Lines that wait are covered too.
    for (const device of this.#unsigned) device.checkpoint()
    this.flush()
    for (const device of this.#unsigned) if (device.waiting > 0) void device.flush()
    this.#unsigned.clear()
  }

  /** Forgets a device that is no longer written to. */
  forget(device: Device): void {
    this.#unsigned.delete(device)
  }

  /** Stops signing; called when all devices have ended. */
  close(): void {
    this.#checkpoint?.cancel()
    this.#checkpoint = undefined
    this.#unsigned.clear()
  }
}

/** The devices of one entry, without those that refuse it: other entries of the tick still wait for these. */
function without({ devices }: DeviceSet, refusing: ReadonlySet<Device>): DeviceSet {
  return new DeviceSet(devices.filter((device) => !refusing.has(device)))
}

const NOT_STORED = 'No audit device has stored the entry'

function settle(
  waiting: PromiseWithResolvers<void>,
  devices: readonly Device[],
  outcomes: ReadonlyMap<Device, Outcome>,
): void {
  const slow: Promise<boolean>[] = []
  for (const device of devices) {
    const outcome = outcomes.get(device)
    if (outcome === true) {
      waiting.resolve()
      return
    }
    if (outcome instanceof Promise) slow.push(outcome)
  }
  let left = slow.length
  if (left === 0) waiting.reject(new NotRecorded(NOT_STORED))
  for (const outcome of slow) {
    void outcome.then((isStored) => {
      left--
      if (isStored) waiting.resolve()
      else if (left === 0) waiting.reject(new NotRecorded(NOT_STORED))
    })
  }
}
