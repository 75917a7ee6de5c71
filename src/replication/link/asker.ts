// A secondary keeps a link by which its primary carries out requests. It is another one than that of the log, so that
// no copy holds up a request.
//
//   dial ─▶ link (answering-primary.ts) ─▶ its end ─▶ pause (pauses.ts) ─▶ dial …
import { AnsweringPrimary, KINDS_OF_ANSWERS } from './answering-primary.ts'
import { dialPrimary, NoLink } from './dialing.ts'
import type { LinkEndParts } from './end-parts.ts'
import { EndablePause } from './endable-pause.ts'
import { changesIn, isNewFor, isSamePart, isStaleFor } from './followed-part.ts'
import { ASKING_PROTOCOL } from './link-protocols.ts'
import type { AskOutcome, SecondaryPart } from './link-sides.ts'
import { MessageLink } from './message-link.ts'
import { Pauses } from './pauses.ts'

/** Keeps the link to the primary of one set, until it is stopped. */
export class Asker {
  readonly #parts: LinkEndParts
  readonly #pauses: Pauses
  readonly #pause: EndablePause
  readonly #stopping = new AbortController()
  #part: SecondaryPart
  /** The part as it was when the link was dialed last. */
  #dialed: SecondaryPart
  #link: AnsweringPrimary | undefined
  #linkedAtMs: number | undefined
  /** Why there is no link, as it was logged last. */
  #told = ''

  constructor(parts: LinkEndParts, part: SecondaryPart) {
    this.#parts = parts
    this.#part = part
    this.#dialed = part
    this.#pauses = new Pauses(parts.world.random, parts.times)
    this.#pause = new EndablePause(parts.world.timers)
    void this.#run()
  }

  /** As Follower. */
  isFor(part: SecondaryPart): boolean {
    return isSamePart(this.#part, part)
  }

  /** Takes over a leaf and addresses that may be new. Where they are, a pause is over. */
  update(part: SecondaryPart): void {
    const { isRenewed, isMoved, isElsewhere } = changesIn(this.#part, part)
    this.#part = part
    // The first use of a new leaf ends the one before at the primary.
    if (isRenewed) this.#link?.stop(new Error('the certificate was renewed'))
    else if (isElsewhere) this.#link?.stop(new Error('the primary is at another address'))
    if (isRenewed || isMoved) this.#pause.end()
  }

  /** Dials anew at once, if it waits. */
  recover(): void {
    this.#pauses.reset()
    this.#pause.end()
  }

  stop(): void {
    this.#stopping.abort()
    this.#link?.stop(new Error('this cluster does not follow any more'))
    this.#pause.end()
  }

  /** As LinkControl. */
  async ask(call: string, body: Buffer): Promise<AskOutcome> {
    return this.#link?.ask(call, body) ?? { kind: 'no-link' }
  }

  get #isStopped(): boolean {
    return this.#stopping.signal.aborted
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      const cause = await this.#once()
      this.#link = undefined
      if (!this.#isStopped) await this.#rest(cause)
    }
  }

  /** One link, from dial to end. Returns why it ended. */
  async #once(): Promise<Error> {
    const { owner, counts, log, world } = this.#parts
    const { family } = this.#part.set
    this.#dialed = this.#part
    try {
      // Before the primary has heard that, it takes this cluster for none of its secondaries.
      if ((await owner.unconfirmed(family)) !== undefined)
        throw new NoLink('cut', 'The activation is not confirmed yet')
      const shown = await owner.shown(family)
      const { signal } = this.#stopping
      const part = this.#part
      this.#dialed = part
      const { link, address } = await dialPrimary(world, part, part.addresses, ASKING_PROTOCOL, signal)
      if (this.#isStopped || isStaleFor(part, this.#part)) {
        link.destroy('it is not needed any more')
        throw new Error('The part of this cluster has changed')
      }
      const onWelcome = (): void => {
        this.#linkedAtMs = world.clock.monotonicMs()
        this.#told = ''
        log('info', 'This secondary can hand requests to its primary', { family, address })
      }
      const messages = new MessageLink(link, { ...this.#parts, count: counts(family) }, KINDS_OF_ANSWERS)
      this.#link = new AnsweringPrimary({ ...this.#parts, part, shown, onWelcome }, messages)
      return await this.#link.run()
    } catch (cause) {
      return cause as Error
    }
  }

  async #rest(cause: Error): Promise<void> {
    const { world, times, log } = this.#parts
    const linkedMs = this.#linkedAtMs === undefined ? 0 : world.clock.monotonicMs() - this.#linkedAtMs
    if (linkedMs >= times.healthyMs) this.#pauses.reset()
    this.#linkedAtMs = undefined
    const { connection, idle, afterMs } = this.#pauses.after(cause)
    const { reason, sentence: why } = idle
    const level = connection === 'idle' ? 'warn' : 'info'
    const fields = { family: this.#part.set.family, reason, why }
    if (this.#told !== why) log(level, 'This secondary cannot hand requests to its primary', fields)
    this.#told = why
    if (isNewFor(this.#dialed, this.#part)) return
    await this.#pause.rest(afterMs)
  }
}
