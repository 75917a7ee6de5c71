// Opens the devices of the types that write to a connection.
import type { Target } from '../device.ts'
import { QueuedDevice } from '../queued-device.ts'
import { type Framing, longestLine, openSocket } from '../sinks.ts'
import type { SocketAddress } from './socket-address.ts'

/** How long to wait for the system's word that no process takes the datagrams. */
const DATAGRAM_REFUSAL_MS = 100

/** Returns the target for an address. `header` is what the framing puts before each line. */
export const socketTarget = (address: SocketAddress, frame: Framing, header = ''): Target => ({
  file: undefined,
  lateRefusalMs: address.type === 'udp' ? DATAGRAM_REFUSAL_MS : 0,
  open: async (parts) =>
    new QueuedDevice(parts, openSocket(address, frame), { longestLine: longestLine(address, header) }),
})
