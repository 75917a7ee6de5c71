// A secondary's question for its next leaf, over the link that it follows by. The new key is drawn here and told to
// nobody but the owner.
import type { Log } from '../../lib/log.ts'
import type { ReplicationFamily } from '../../storage/peer-log.ts'
import type { Message } from '../protocol/messages.ts'
import { newLeafKey, publicKeyOf } from '../set/certificates.ts'
import type { LinkWorld } from './end-parts.ts'
import type { SecondaryOwner } from './link-sides.ts'
import type { LinkTimes } from './link-times.ts'

/** What the renewal of a leaf needs. */
export type LeafRenewalParts = {
  readonly world: Pick<LinkWorld, 'clock' | 'random'>
  readonly owner: Pick<SecondaryOwner, 'renewed'>
  readonly times: Pick<LinkTimes, 'renewalMs' | 'healthyMs'>
  readonly log: Log
}

/** Renews the leaf of one secondary, over one link after the other. */
export class LeafRenewal {
  readonly #parts: LeafRenewalParts
  readonly #family: ReplicationFamily
  /** The private number that a leaf was asked for. */
  #key: Buffer | undefined
  /** When the next question may be asked, by the monotonic clock. */
  #nextMs = Number.NEGATIVE_INFINITY

  constructor(parts: LeafRenewalParts, family: ReplicationFamily) {
    this.#parts = parts
    this.#family = family
  }

  /** Asks, if the leaf is due and no question was asked lately. @throws what `send` rejects with */
  async ask(dueMs: number, send: (message: Message<'certificate-wanted'>) => Promise<void>): Promise<void> {
    const { world, times } = this.#parts
    const nowMs = world.clock.monotonicMs()
    if (world.clock.nowMs() < dueMs || nowMs < this.#nextMs) return
    this.#nextMs = nowMs + times.renewalMs
    this.#forget()
    this.#key = newLeafKey(world.random)
    await send({ kind: 'certificate-wanted', publicKey: publicKeyOf(this.#key) })
  }

  /** Takes the answer. One that nobody asked for is left alone. */
  async came({ certificate, trusted }: Message<'certificate'>): Promise<void> {
    const { owner, log } = this.#parts
    const key = this.#key
    if (key === undefined) return
    this.#key = undefined
    try {
      const leaf = { certificate: Buffer.from(certificate), trusted: trusted.map((one) => Buffer.from(one)), key }
      await owner.renewed(this.#family, leaf)
      log('info', 'The certificate of this secondary was renewed', { family: this.#family })
    } catch (cause) {
      // The one before holds on for now, and another is asked for later.
      log('warn', 'A renewed certificate was not kept', { family: this.#family, why: (cause as Error).message })
    }
  }

  /**
   * The link is over: what was asked is not answered any more, and is asked again soon. Not at once: a primary whose
   * store fails ends the link at the question, and the next one is to count as a good one before that.
   */
  drop(): void {
    const { world, times } = this.#parts
    if (this.#key === undefined) return
    this.#forget()
    this.#nextMs = Math.min(this.#nextMs, world.clock.monotonicMs() + 2 * times.healthyMs)
  }

  #forget(): void {
    this.#key?.fill(0)
    this.#key = undefined
  }
}
