// The types of audit devices. What is not here is refused; what is here says itself what it takes and how it is opened.
import type { DeviceType } from './device-type.ts'
import { FILE } from './file.ts'
import { SOCKET } from './socket.ts'
import { SYSLOG } from './syslog.ts'

export const DEVICE_TYPES: readonly DeviceType[] = [FILE, SOCKET, SYSLOG]
