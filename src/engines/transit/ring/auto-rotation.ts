// Rotates the keys of a mount whose auto_rotate_period has passed since their latest version. A key gets one version,
// however many periods passed while the server was down.
import { maintains, type NodeRole } from '../../../api/node-role.ts'
import type { Log } from '../../../lib/log.ts'
import { isClosed, StorageCorrupt } from '../../../storage/errors.ts'
import type { View } from '../../../storage/sealed-storage.ts'
import type { WithKeys } from './keys.ts'
import type { RingHeader } from './ring-header.ts'
import { rotate, type VersionMaker } from './rotation.ts'
import { complete, dueKeys, dueSecond, isComplete } from './rotation-schedule.ts'

/** Pause between two keys, so that requests come first. */
const PAUSE_MS = 1

/** The key was rotated or changed after it was found to be due. */
class NotDue extends Error {}

/** Skips a key that cannot be read, so that the others still enter the schedule. */
function passOverCorrupt(cause: unknown): undefined {
  if (!(cause instanceof StorageCorrupt)) throw cause
}

/** The parts of the mount that rotation uses. */
type RotationParts = VersionMaker &
  WithKeys<'list' | 'headIn'> & {
    readonly storage: View
    readonly role: () => NodeRole
    readonly mount: () => { readonly path: string; readonly local: boolean }
    readonly log: Log
  }

/** Automatic rotation of one mount; runs on the thread that writes. */
export class AutoRotation {
  readonly #parts: RotationParts
  #isComplete = false

  constructor(parts: RotationParts) {
    this.#parts = parts
  }

  /**
   * Rotates all keys that are due now, where this node may change the mount. A key that fails holds up no other, and is
   * tried again at the next call.
   */
  async rotateDue(): Promise<void> {
    const { role, mount, storage, world, log } = this.#parts
    if (!maintains(role(), mount())) return
    await this.#complete()
    let failures = 0
    let first: unknown
    for await (const name of dueKeys(storage, world.clock.nowMs())) {
      // The role may change between two keys.
      if (!maintains(role(), mount())) return
      try {
        await this.#rotate(name)
      } catch (cause) {
        if (isClosed(cause)) throw cause
        failures += 1
        first ??= cause
      }
      await world.timers.sleep(PAUSE_MS)
    }
    if (failures === 0) return
    log('warn', 'Keys that are due could not be rotated: they go on as they are, and it is tried again', {
      mount: mount().path,
      keys: failures,
      cause: first instanceof Error ? first.name : typeof first,
    })
  }

  async #rotate(name: string): Promise<void> {
    const { world, log, mount } = this.#parts
    const requireDue = (header: RingHeader): void => {
      const second = dueSecond(header)
      if (second === undefined || second * 1000 > world.clock.nowMs()) throw new NotDue()
    }
    try {
      const ring = await rotate(this.#parts, name, requireDue)
      if (ring === undefined) return
      const { latestVersion } = ring.header
      log('info', 'A key was rotated by itself', { mount: mount().path, key: name, version: latestVersion })
    } catch (cause) {
      if (!(cause instanceof NotDue)) throw cause
    }
  }

  /** Adds keys that are older than the schedule to it: once in a mount's life. */
  async #complete(): Promise<void> {
    if (this.#isComplete) return
    const { storage, keys, world } = this.#parts
    if (!(await isComplete(storage))) {
      await complete(
        storage,
        (after, limit) => keys.list({ after, limit }),
        async (tx, name) => (await keys.headIn(tx, name).catch(passOverCorrupt))?.header,
        world.ticks,
      )
    }
    this.#isComplete = true
  }
}
