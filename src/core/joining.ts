// What engines of shared mounts have to tell the primary of their set before they can work without it. A secondary does
// it ahead of need: the link may be down when the first request comes.
import { Refusal } from '../api/errors.ts'
import type { NodeRole } from '../api/node-role.ts'
import type { Log } from '../lib/log.ts'
import { PeriodicTask } from '../lib/periodic-task.ts'
import type { World } from '../lib/world.ts'
import { isClosed } from '../storage/errors.ts'
import { describeCause } from './describe-cause.ts'
import type { MountTable } from './mount-table.ts'

/** A round costs a look at each mount, and mounts come at any time. */
const ROUND_EVERY_MS = 5_000

type Parts = {
  readonly mounts: Pick<MountTable, 'stale' | 'refresh' | 'mounted'>
  readonly role: () => NodeRole
  readonly world: World
  readonly log: Log
}

/** Calls `joinPrimary` of the engines of shared mounts at intervals. It runs on the writing thread. */
export class JoiningMounts {
  readonly #mounts: Parts['mounts']
  readonly #role: () => NodeRole
  readonly #log: Log
  readonly #task: PeriodicTask

  constructor({ mounts, role, world, log }: Parts) {
    this.#mounts = mounts
    this.#role = role
    this.#log = log
    const failure = 'The primary could not be told of the mounts of this cluster: it is tried again'
    this.#task = new PeriodicTask(() => this.#round(), { world, log, failure, retryMs: ROUND_EVERY_MS, isClosed })
  }

  start(): void {
    this.#task.start(ROUND_EVERY_MS)
  }

  stop(): void {
    this.#task.stop()
  }

  async #round(): Promise<number> {
    if (this.#role().performance === 'secondary') await this.#joinAll()
    return ROUND_EVERY_MS
  }

  async #joinAll(): Promise<void> {
    // Without a request nobody has taken over what came.
    if (this.#mounts.stale) await this.#mounts.refresh()
    for (const { entry, engine } of [...this.#mounts.mounted()]) {
      if (!this.#task.isOn) return
      if (entry.local) continue
      try {
        await engine.joinPrimary?.()
      } catch (cause) {
        if (isClosed(cause)) throw cause
        // The link is down, for the other mounts too: status tells of it.
        if (cause instanceof Refusal && cause.status === 503) return
        // It holds up no other mount, and comes again in the next round.
        this.#log('debug', 'A mount could not be told to the primary', {
          mount: entry.path,
          cause: describeCause(cause),
        })
      }
    }
  }
}
