// What the types that write to a connection open.
import type { Target } from '../device.ts'
import { QueuedDevice } from '../queued-device.ts'
import { type Framing, longestLine, openSocket } from '../sinks.ts'
import type { SocketAddress } from './socket-address.ts'

/** How long the word that nobody listens, where datagrams go, is waited for. */
const DATAGRAM_REFUSAL_MS = 100

/** `header`: what the framing puts in front of each line. */
export const socketTarget = (address: SocketAddress, frame: Framing, header = ''): Target => ({
  file: undefined,
  lateRefusalMs: address.type === 'udp' ? DATAGRAM_REFUSAL_MS : 0,
  open: async (parts) =>
    new QueuedDevice(parts, openSocket(address, frame), { longestLine: longestLine(address, header) }),
})
