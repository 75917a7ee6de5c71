// The types of audit devices. A type that is not listed is refused; each one defines its options and how it is opened.
import type { DeviceType } from './device-type.ts'
import { FILE } from './file.ts'
import { SOCKET } from './socket.ts'
import { SYSLOG } from './syslog.ts'

/** All types, in the order in which texts name them. */
export const DEVICE_TYPES: readonly DeviceType[] = [FILE, SOCKET, SYSLOG]
