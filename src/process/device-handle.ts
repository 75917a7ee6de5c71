// How a thread reaches the devices: through a handle that it gets from the watching thread, which alone starts their
// process (device-host.ts).
import type { MessagePort } from 'node:worker_threads'
import { DeviceLink, type Devices, NO_DEVICES } from '../managed-keys/device-link.ts'

/** The access of one thread to the devices. The port is transferred to it. */
export type DeviceHandle = { readonly port: MessagePort; readonly libraries: readonly string[] }

/** The devices as a thread uses them, from its handle. */
export const devicesOf = (handle: DeviceHandle | undefined): Devices =>
  handle === undefined ? NO_DEVICES : new DeviceLink(handle.port, handle.libraries)
