// The end in a thread that has something to do with devices.
import { JobForgotten, Overloaded } from '../lib/slow-work.ts'
import type { DeviceOrder, Outcome } from './orders.ts'

/** As much of a message port as is needed. */
export type DevicePort = {
  postMessage(message: unknown): void
  on(event: 'message' | 'close', listener: (message: unknown) => void): unknown
  close?(): void
}

export type FromThread =
  | { readonly kind: 'order'; readonly id: number; readonly order: DeviceOrder }
  | { readonly kind: 'forget'; readonly id: number }
  | { readonly kind: 'forgive' }
export type ToThread =
  | { readonly kind: 'outcome'; readonly id: number; readonly outcome: Outcome }
  /** 'late': the device did not answer; 'died': its process ended; 'forgotten': the server was sealed. */
  | { readonly kind: 'refused'; readonly id: number; readonly why: 'overloaded' | 'late' | 'died' | 'forgotten' }
  | { readonly kind: 'forgotten'; readonly id: number }

/** The devices of a server. */
export interface Devices {
  /** Names of the libraries that the configuration has, in its order. */
  readonly libraries: readonly string[]
  /**
   * A device that fails is an outcome.
   * @throws Overloaded where too much waits, JobForgotten where the server was sealed meanwhile
   */
  ask(order: DeviceOrder): Promise<Outcome>
  /** PINs that were refused may be tried once more. */
  forgive(): void
  /** At seal: ends every session and log-in; resolves when the process is no more. */
  forget(): Promise<void>
}

/** Where the configuration has none. */
export const NO_DEVICES: Devices = {
  libraries: [],
  ask: async () => ({ fault: 'no-library', detail: 'the configuration has no kms_library' }),
  forgive: () => {},
  forget: async () => {},
}

type Waiting = { readonly resolve: (outcome: Outcome) => void; readonly reject: (cause: Error) => void }

export class DeviceLink implements Devices {
  readonly libraries: readonly string[]
  readonly #port: DevicePort
  readonly #waiting = new Map<number, Waiting>()
  #lastId = 0
  #isGone = false

  constructor(port: DevicePort, libraries: readonly string[]) {
    this.libraries = libraries
    this.#port = port
    port.on('message', (message) => this.#heard(message as ToThread))
    port.on('close', () => {
      this.#isGone = true
      for (const { resolve } of this.#waiting.values()) resolve(ENDED)
      this.#waiting.clear()
    })
  }

  ask(order: DeviceOrder): Promise<Outcome> {
    return this.#send((id) => ({ kind: 'order', id, order }))
  }

  forgive(): void {
    if (!this.#isGone) this.#port.postMessage({ kind: 'forgive' } satisfies FromThread)
  }

  async forget(): Promise<void> {
    await this.#send((id) => ({ kind: 'forget', id }))
  }

  #send(message: (id: number) => FromThread): Promise<Outcome> {
    if (this.#isGone) return Promise.resolve(ENDED)
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      // Sent before it is noted: one that cannot be sent must not be waited for.
      this.#port.postMessage(message(id))
      this.#waiting.set(id, { resolve, reject })
    })
  }

  #heard(message: ToThread): void {
    const waiting = this.#waiting.get(message.id)
    this.#waiting.delete(message.id)
    if (message.kind === 'outcome') waiting?.resolve(message.outcome)
    else if (message.kind === 'forgotten') waiting?.resolve(ENDED)
    else if (message.why === 'overloaded') waiting?.reject(new Overloaded('More waits for a device than it does soon'))
    else if (message.why === 'forgotten') waiting?.reject(new JobForgotten('The server was sealed meanwhile'))
    else waiting?.resolve({ fault: 'failed', detail: REASONS[message.why] })
  }
}

const REASONS = { late: 'the device did not answer in time', died: 'the process of the devices ended' } as const
const ENDED: Outcome = { fault: 'failed', detail: REASONS.died }
