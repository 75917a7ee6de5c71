import type { Message } from '../protocol/messages.ts'
import type { Arrival, PrimaryOwner } from './link-sides.ts'

/** What a seal sender needs. */
export type SealSenderParts = {
  readonly owner: Pick<PrimaryOwner, 'sealFor'>
  readonly arrival: Arrival
  /** As the secondary said in its hello. */
  readonly receiver: { readonly key: Buffer; readonly number: number }
  readonly send: (message: Message<'seal-bundle'>) => Promise<void>
}

/** Sends the primary's seal to one secondary, if it is newer than what that one has. */
export class SealSender {
  readonly #parts: SealSenderParts
  #isDue = false
  #running: Promise<void> | undefined

  constructor(parts: SealSenderParts) {
    this.#parts = parts
  }

  /** Asks for the seal, and once more if this is called meanwhile. @throws what the owner throws, and LinkClosed */
  due(): Promise<void> {
    this.#isDue = true
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  async #run(): Promise<void> {
    const { owner, arrival, receiver, send } = this.#parts
    while (this.#isDue) {
      this.#isDue = false
      const sealed = await owner.sealFor(arrival, receiver)
      if (sealed !== undefined) await send({ kind: 'seal-bundle', sealed })
    }
  }
}
