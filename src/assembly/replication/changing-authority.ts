// The primary has its authority followed by another one, by itself and when an operator asks: it does each step that is
// next, and has the links take it over.
import { describeCause } from '../../core/describe-cause.ts'
import type { Log } from '../../lib/log.ts'
import type { World } from '../../lib/world.ts'
import { type AuthorityStep, beginAuthorityChange, stepAuthority } from '../../replication/set/authority-change.ts'
import { Sealed, StorageClosed } from '../../storage/errors.ts'
import type { ReplicationFamily } from '../../storage/peer-log.ts'
import type { View } from '../../storage/sealed-storage.ts'
import { ownFamilies } from './own-parts.ts'

/** The parts that it works with. */
export type ChangingAuthorityParts = {
  readonly view: View
  readonly world: Pick<World, 'clock' | 'random'>
  readonly log: Log
  /** Has the links take over what the records say. */
  readonly play: () => Promise<void>
}

const SAID: Readonly<Record<AuthorityStep, string>> = {
  begun: 'Another authority is to follow that of the set: secondaries are told to trust it',
  changed: 'The authority of the set was followed by another one, which all secondaries trust',
  dropped: 'No certificate is of the former authority of the set any more: it is trusted no longer',
}

/** The authorities of the sets that this cluster is primary of. */
export class ChangingAuthority {
  readonly #parts: ChangingAuthorityParts
  /** Why the last look at a family failed. */
  readonly #faults = new Map<ReplicationFamily, string>()

  constructor(parts: ChangingAuthorityParts) {
    this.#parts = parts
  }

  /** Does all steps that can be done now. */
  async goOn(): Promise<void> {
    const { view, play } = this.#parts
    const own = await view.transaction((tx) => ownFamilies(tx))
    let isNews = false
    for (const family of own) while (await this.#step(family)) isNews = true
    if (isNews) await play()
  }

  /** What fails is tried again at the next look. It keeps nothing else from being done: leaves can still be made. */
  async #step(family: ReplicationFamily): Promise<boolean> {
    const { view, log } = this.#parts
    try {
      const step = await view.transaction((tx) => stepAuthority(tx, family, this.#making))
      this.#faults.delete(family)
      if (step !== undefined) log('info', SAID[step], { family })
      return step !== undefined
    } catch (cause) {
      if (cause instanceof Sealed || cause instanceof StorageClosed) throw cause
      const why = describeCause(cause)
      const isNews = this.#faults.get(family) !== why
      if (isNews) log('warn', 'It is not known whether another authority is due for the set', { family, cause: why })
      this.#faults.set(family, why)
      return false
    }
  }

  /** `primary/rotate-authority`. Returns the ids that are waited for. @throws SetRefused */
  async begin(family: ReplicationFamily): Promise<readonly string[]> {
    const { view, play } = this.#parts
    const waitedFor = await view.transaction((tx) => beginAuthorityChange(tx, family, this.#making))
    await this.goOn()
    // What was begun here is no step of `goOn`.
    await play()
    return waitedFor
  }

  get #making() {
    const { random, clock } = this.#parts.world
    return { random, nowMs: clock.nowMs() }
  }
}
