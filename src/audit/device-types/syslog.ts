// The type `syslog`: messages of RFC 5424, to the syslog of this machine or of another.
import { syslogFraming } from '../sinks.ts'
import { type DeviceType, type Options, refusal } from './device-type.ts'
import { hostAndPort, type SocketAddress, unixAddress } from './socket-address.ts'
import { socketTarget } from './socket-target.ts'

/** Devices of the type `syslog`. */
export const SYSLOG: DeviceType = {
  name: 'syslog',
  oneOf: 'syslog',
  options: ['facility', 'tag', 'address', 'write_timeout'],
  oldOptions: [],
  target: (options) => {
    const address = syslogAddress(options.address)
    const header = syslogHeader(options)
    return socketTarget(address, syslogFraming(header, address.type), header)
  },
}

const SYSLOG_SOCKET = '/dev/log'

/** Reads the address: udp:…, tcp:… or unix:…; by default the socket of this machine. @throws Refusal */
export function syslogAddress(text: string | undefined): SocketAddress {
  if (text === undefined || text === '') return { type: 'unix', file: SYSLOG_SOCKET }
  const colon = text.indexOf(':')
  const [type, rest] = [text.slice(0, Math.max(colon, 0)), text.slice(colon + 1)]
  if (type === 'unix') return unixAddress(rest)
  if (type === 'tcp' || type === 'udp') return { type, ...hostAndPort(rest) }
  throw refusal('the option address must be like udp:127.0.0.1:514, tcp:127.0.0.1:601 or unix:/dev/log')
}

/** Facilities in the order of their numbers (RFC 5424 section 6.2.1). */
const FACILITIES = [
  'KERN,USER,MAIL,DAEMON,AUTH,SYSLOG,LPR,NEWS,UUCP,CRON,AUTHPRIV,FTP,NTP,SECURITY,CONSOLE,SOLARIS-CRON',
  'LOCAL0,LOCAL1,LOCAL2,LOCAL3,LOCAL4,LOCAL5,LOCAL6,LOCAL7',
].flatMap((names) => names.split(','))
const INFORMATIONAL = 6
const MOST_TAG_CHARACTERS = 48

/**
 * Returns the header of a message, version 1 (RFC 5424 section 6). Time, host, process and message id are left to the
 * syslog server. @throws Refusal naming the option
 */
export function syslogHeader(options: Options): string {
  const facility = FACILITIES.indexOf((options.facility ?? 'AUTH').toUpperCase())
  if (facility === -1) throw refusal(`the option facility must be one of ${FACILITIES.join(', ')}`)
  const tag = options.tag ?? 'keywright'
  if (!/^[!-~]+$/.test(tag) || tag.length > MOST_TAG_CHARACTERS)
    throw refusal(`the option tag must have 1 to ${MOST_TAG_CHARACTERS} printable characters without blanks`)
  return `<${facility * 8 + INFORMATIONAL}>1 - - ${tag} - - - `
}
