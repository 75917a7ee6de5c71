// Runs changes of a mount's credential: while one is under way, and when the operator's schedule says so. Runs on the
// writing thread only, from unseal to seal.
import { Refusal } from '../../api/errors.ts'
import type { Log } from '../../lib/log.ts'
import { PeriodicTask } from '../../lib/periodic-task.ts'
import type { World } from '../../lib/world.ts'
import { isClosed } from '../../storage/errors.ts'
import type { CloudConfig, ConfigStore } from './config.ts'
import type { Remaining, Rotation } from './rotation.ts'
import { nextTimeMs, parseSchedule } from './schedule.ts'

/** First pause after an attempt that brought nothing, and how often it doubles; the pause after a failure. */
const SOON_MS = 5_000
const MOST_DOUBLINGS = 10
const RETRY_MS = 60_000
/**
 * Longest pauses between attempts. The directory should know a new secret within minutes; the removal of old ones has
 * time.
 */
const LONGEST_BACK_OFF_MS: Readonly<Record<Remaining, number>> = {
  pending: 60_000,
  leftovers: 3_600_000,
  nothing: 0,
}
/** Pause if nothing is due. */
const LONGEST_WAIT_MS = 3_600_000

type Parts = {
  readonly world: World
  readonly log: Log
  readonly configs: ConfigStore
  readonly rotation: Rotation
  /** True if the mount has a secret that the service may change. */
  readonly changesSecret: (config: CloudConfig) => boolean
}

/** The schedule of one mount. Everything it needs to know is stored, so a restart loses nothing but missed moments. */
export class RotationClock {
  readonly #parts: Parts
  readonly #task: PeriodicTask
  /** Times of the schedule before this moment are not made up for. */
  #sinceMs = 0
  /** Consecutive attempts after which something was left to do. */
  #attempts = 0

  constructor(parts: Parts) {
    this.#parts = parts
    const { world, log } = parts
    const failure = 'The cloud credential could not be looked after: it is tried again'
    this.#task = new PeriodicTask(() => this.#run(), { world, log, failure, retryMs: RETRY_MS, isClosed })
  }

  /** Starts watching, with an attempt at once: a restart may have interrupted a change. */
  start(): void {
    this.#sinceMs = this.#parts.world.clock.nowMs()
    this.#attempts = 0
    this.#task.start(0)
  }

  /** Stops watching the schedule. */
  stop(): void {
    this.#task.stop()
  }

  /** Makes an attempt at once, because something changed. */
  soon(): void {
    this.#attempts = 0
    this.#task.within(0)
  }

  async #run(): Promise<number> {
    try {
      return await this.#work()
    } catch (cause) {
      // The mount was removed.
      if (!(cause instanceof Refusal) || cause.code !== 'no_route') throw cause
      this.stop()
      return Infinity
    }
  }

  /** Does what is due, and returns how long nothing is to be done. */
  async #work(): Promise<number> {
    const remaining = await this.#parts.rotation.proceed()
    if (remaining === 'nothing') this.#attempts = 0
    const backOffMs = Math.min(LONGEST_BACK_OFF_MS[remaining], SOON_MS * 2 ** this.#attempts)
    if (remaining !== 'nothing') this.#attempts = Math.min(this.#attempts + 1, MOST_DOUBLINGS)
    if (remaining === 'pending') return backOffMs
    // Leftovers of earlier changes do not put off the next one.
    const waitMs = await this.#scheduled()
    return remaining === 'leftovers' ? Math.min(waitMs, backOffMs) : waitMs
  }

  /** Begins a change if one is due; otherwise returns how long none is. */
  async #scheduled(): Promise<number> {
    const { configs, rotation, changesSecret, world, log } = this.#parts
    const config = await configs.find()
    if (config === undefined || !changesSecret(config)) return LONGEST_WAIT_MS
    const nowMs = world.clock.nowMs()
    const due = dueMs(config, this.#sinceMs)
    if (due === undefined) return LONGEST_WAIT_MS
    if (due > nowMs) return due - nowMs
    this.#sinceMs = nowMs
    const windowMs = config.rotationWindowSeconds * 1000
    if (windowMs > 0 && nowMs > due + windowMs) return 0
    try {
      await rotation.begin()
      this.#attempts = 0
      return 0
    } catch (cause) {
      if (!(cause instanceof Refusal)) throw cause
      log('error', 'The cloud credential could not be changed as scheduled: it is tried again', {
        reason: cause.message,
      })
      // The scheduled moment is not used up: the attempt is repeated, within the window if there is one.
      this.#sinceMs = due - 1
      return RETRY_MS
    }
  }
}

/** Returns when the next change is due; undefined if the service makes none by itself. */
export function dueMs(config: CloudConfig, sinceMs: number): number | undefined {
  const { rotationPeriodSeconds: period, rotationSchedule: text, disableAutomatedRotation, rotation } = config
  if (disableAutomatedRotation || config.clientId === '') return undefined
  if (period > 0) return (rotation.lastAtMs ?? config.periodFromMs ?? sinceMs) + period * 1000
  const schedule = text === '' ? undefined : parseSchedule(text)
  return schedule === undefined ? undefined : nextTimeMs(schedule, Math.max(sinceMs, rotation.lastAtMs ?? 0))
}
