// The type `socket`: plain lines, to a listener at an address.
import { PLAIN_LINES } from '../sinks.ts'
import { type DeviceType, type Options, refusal } from './device-type.ts'
import { hostAndPort, type SocketAddress, unixAddress } from './socket-address.ts'
import { socketTarget } from './socket-target.ts'

/** Devices of the type `socket`. */
export const SOCKET: DeviceType = {
  name: 'socket',
  oneOf: 'a socket',
  options: ['address', 'socket_type', 'write_timeout'],
  oldOptions: [],
  target: (options) => socketTarget(socketAddress(options), PLAIN_LINES),
}

/** Reads the address from the options; the default is TCP. @throws Refusal naming the option */
export function socketAddress(options: Options): SocketAddress {
  const { address, socket_type: type = 'tcp' } = options
  if (address === undefined || address === '') throw refusal('address is required') // Wire text.
  if (type === 'unix') return unixAddress(address)
  if (type !== 'tcp' && type !== 'udp') throw refusal('the option socket_type must be tcp, udp or unix')
  return { type, ...hostAndPort(address) }
}
