// The end in a thread that has something to do with devices.
import { JobForgotten, Overloaded } from '../lib/slow-work.ts'
import { call, NO_CALLS, notice } from '../rpc/calls.ts'
import { PeerGone } from '../rpc/errors.ts'
import { connectPeer, type Peer } from '../rpc/peer.ts'
import { type Port, portChannel } from '../rpc/ports.ts'
import type { DeviceOrder, OrderOutcome } from './orders.ts'

/** Why an order has no outcome. 'late': the device did not answer; 'died': its process ended; 'forgotten': at seal. */
export type OrderFailure = 'overloaded' | 'late' | 'died' | 'forgotten'

/** What the watching thread is asked, which has the process of the devices. */
export const DEVICE_CALLS = {
  order: call<DeviceOrder, OrderOutcome | { readonly refused: OrderFailure }>(),
  forgive: notice<void>(),
  forget: call<void, void>(),
}

/** The devices of a server. */
export interface Devices {
  /** Names of the libraries that the configuration has, in its order. */
  readonly libraries: readonly string[]
  /**
   * A device that fails is an outcome.
   * @throws Overloaded where too much waits, JobForgotten where the server was sealed meanwhile
   */
  ask(order: DeviceOrder): Promise<OrderOutcome>
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

export class DeviceLink implements Devices {
  readonly libraries: readonly string[]
  readonly #peer: Peer<typeof DEVICE_CALLS>

  constructor(port: Port, libraries: readonly string[]) {
    this.libraries = libraries
    // It is asked nothing, so nothing can go wrong while it answers.
    const onFault = (): void => {}
    this.#peer = connectPeer({
      channel: portChannel(port),
      asks: DEVICE_CALLS,
      answers: NO_CALLS,
      handlers: {},
      onFault,
    })
  }

  async ask(order: DeviceOrder): Promise<OrderOutcome> {
    const outcome = await this.#peer.call('order', order).catch(endedOrThrow)
    if (!('refused' in outcome)) return outcome
    const { refused } = outcome
    if (refused === 'overloaded') throw new Overloaded('More waits for a device than it does soon')
    if (refused === 'forgotten') throw new JobForgotten('The server was sealed meanwhile')
    return { fault: 'failed', detail: REASONS[refused] }
  }

  forgive(): void {
    this.#peer.tell('forgive', undefined)
  }

  async forget(): Promise<void> {
    await this.#peer.call('forget', undefined).catch(endedOrThrow)
  }
}

const REASONS = { late: 'the device did not answer in time', died: 'the process of the devices ended' } as const
const ENDED: OrderOutcome = { fault: 'failed', detail: REASONS.died }

/** The process of the devices ends with the thread that has it. */
function endedOrThrow(cause: unknown): OrderOutcome {
  if (cause instanceof PeerGone) return ENDED
  throw cause
}
