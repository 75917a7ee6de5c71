// The end of a thread that uses devices: its orders go to the watching thread, which has their process.
import { JobForgotten, Overloaded } from '../lib/slow-work.ts'
import { call, NO_CALLS, notice } from '../rpc/calls.ts'
import { PeerGone } from '../rpc/errors.ts'
import { connectPeer, type Peer } from '../rpc/peer.ts'
import { type Port, portChannel } from '../rpc/ports.ts'
import type { DeviceOrder, OrderOutcome } from './orders.ts'

/**
 * Says why an order has no outcome. 'overloaded': too many wait. 'late': the device did not answer in time. 'died': the
 * process of the devices ended. 'forgotten': the server was sealed.
 */
export type OrderFailure = 'overloaded' | 'late' | 'died' | 'forgotten'

/** The calls that the watching thread answers (device-queue.ts). */
export const DEVICE_CALLS = {
  order: call<DeviceOrder, OrderOutcome | { readonly refused: OrderFailure }>(),
  forgive: notice<void>(),
  forget: call<void, void>(),
}

/** The devices of a server, as its threads use them. */
export interface Devices {
  /** Names of the `kms_library` stanzas, in the order of the configuration. */
  readonly libraries: readonly string[]
  /**
   * Carries out one order. A device that fails, or does not answer, is an outcome and no error.
   * @throws Overloaded if too many orders wait, JobForgotten if the server was sealed meanwhile
   */
  ask(order: DeviceOrder): Promise<OrderOutcome>
  /** Lets PINs that were refused be tried once more. */
  forgive(): void
  /** Called at seal: ends every session and log-in; resolves when the process of the devices has ended. */
  forget(): Promise<void>
}

/** Used when the configuration has no `kms_library`. */
export const NO_DEVICES: Devices = {
  libraries: [],
  ask: async () => ({ fault: 'no-library', detail: 'the configuration has no kms_library' }),
  forgive: () => {},
  forget: async () => {},
}

/** The devices through a port to the watching thread. */
export class DeviceLink implements Devices {
  readonly libraries: readonly string[]
  readonly #peer: Peer<typeof DEVICE_CALLS>

  constructor(port: Port, libraries: readonly string[]) {
    this.libraries = libraries
    // This end answers no calls, so none of its handlers can fail.
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

/** If the watching thread is gone, so is the process of the devices: that is an outcome. */
function endedOrThrow(cause: unknown): OrderOutcome {
  if (cause instanceof PeerGone) return ENDED
  throw cause
}
