// The sinks of queued devices: connections, standard output, a file behind a network.
import { createSocket, type Socket as DatagramSocket } from 'node:dgram'
import { write as writeFile } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { eventLoop, type Timers } from '../lib/world.ts'
import { DeviceError, type FileRule, openAuditFile, systemCodeOf } from './audit-file.ts'
import type { AuditFiles } from './audit-files.ts'
import type { LogFile } from './device.ts'
import type { SocketAddress } from './device-types/socket-address.ts'
import { LineTooLong, type Sink } from './queued-device.ts'

const KEEP_ALIVE_MS = 10_000
const NEWLINE = 0x0a
const NEWLINE_BYTES = Buffer.from('\n')

/** Frames one line for a connection; a datagram holds one line. */
export type Framing = (line: Buffer) => Buffer

/** Lines unchanged, each with its newline. */
export const PLAIN_LINES: Framing = (line) => Buffer.concat([line, NEWLINE_BYTES])

/**
 * Frames syslog messages: over TCP with the length before each (RFC 6587 section 3.4.1), otherwise
 * one message a line or datagram.
 */
export function syslogFraming(header: string, type: SocketAddress['type']): Framing {
  const head = Buffer.from(header)
  if (type !== 'tcp') return (line) => Buffer.concat(type === 'udp' ? [head, line] : [head, line, NEWLINE_BYTES])
  return (line) => Buffer.concat([Buffer.from(`${head.length + line.length} `), head, line])
}

/** Fits into a datagram of either IP version (RFC 768, RFC 8200). */
const MOST_DATAGRAM_BYTES = 65_000

/** Returns the longest line for the address, in bytes; undefined: any. `header` is what the framing adds. */
export function longestLine(address: SocketAddress, header = ''): number | undefined {
  return address.type === 'udp' ? MOST_DATAGRAM_BYTES - header.length : undefined
}

/** Returns a function that connects to the address. It rejects with a DeviceError if that fails. */
export function openSocket(address: SocketAddress, frame: Framing): () => Promise<Sink> {
  return address.type === 'udp' ? () => datagrams(address, frame) : () => connection(address, frame)
}

function* linesOf(lines: Buffer): Generator<Buffer> {
  for (let from = 0; from < lines.length; ) {
    const end = lines.indexOf(NEWLINE, from)
    if (end > from) yield lines.subarray(from, end)
    from = end === -1 ? lines.length : end + 1
  }
}

async function connection(address: Exclude<SocketAddress, { type: 'udp' }>, frame: Framing): Promise<Sink> {
  const socket = await connected(address)
  let end: DeviceError | undefined
  const { promise: ended, resolve: tell } = Promise.withResolvers<DeviceError>()
  const ends = (why: string): void => {
    end ??= new DeviceError(why)
    tell(end)
  }
  socket.on('error', (cause) => ends(systemCodeOf(cause)))
  // A peer that closes its side takes no more lines.
  socket.on('end', () => ends('the connection was closed'))
  socket.on('close', () => ends('the connection was closed'))
  // A peer whose machine is gone sends nothing, so the system must ask.
  socket.setKeepAlive(true, KEEP_ALIVE_MS)
  // Peers have nothing to tell us: what they send is read and dropped.
  socket.resume()
  socket.unref()
  return {
    write: (lines) =>
      new Promise((resolve, reject) => {
        if (end !== undefined) return reject(end)
        const framed = frame === PLAIN_LINES ? lines : Buffer.concat([...linesOf(lines)].map(frame))
        socket.write(framed, (cause) => {
          if (cause) return reject(cause)
          // The system accepts bytes even if the peer is gone; that becomes known a tick later.
          void eventLoop
            .next()
            .then(eventLoop.next)
            .then(() => (end === undefined ? resolve() : reject(end)))
        })
      }),
    ended,
    close: () => {
      // Bytes handed to the system are on their way; a peer that takes nothing is not waited for.
      if (socket.writableLength === 0) socket.end()
      else socket.destroy()
    },
  }
}

function connected(address: Exclude<SocketAddress, { type: 'udp' }>): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const target = address.type === 'unix' ? { path: address.file } : { host: address.host, port: address.port }
    const socket = connect(target)
    const refused = (cause: Error): void => reject(notConnected(address, cause))
    socket.once('error', refused)
    socket.once('connect', () => {
      socket.off('error', refused)
      resolve(socket)
    })
  })
}

function notConnected(address: SocketAddress, cause: unknown): DeviceError {
  const code = systemCodeOf(cause)
  if (address.type === 'unix' && code === 'EPROTOTYPE')
    return new DeviceError(
      `${address.file} takes datagrams only, which cannot be sent from here: give address = "udp:HOST:PORT" or "tcp:…"`,
    )
  return new DeviceError(`it cannot be connected to: ${code}`)
}

async function datagrams(address: { readonly host: string; readonly port: number }, frame: Framing): Promise<Sink> {
  const socket = await connectedDatagrams(address)
  let refused: string | undefined
  // The system reports here that no process took an earlier datagram.
  socket.on('error', (cause) => {
    refused = systemCodeOf(cause)
  })
  socket.unref()
  const send = (line: Buffer): Promise<void> =>
    new Promise((resolve, reject) => {
      const framed = frame === PLAIN_LINES ? line : frame(line)
      if (framed.length > MOST_DATAGRAM_BYTES) return reject(new DeviceError('an entry is longer than a datagram'))
      socket.send(framed, (cause) => {
        // The system, or the route to the peer, takes less than IP would allow.
        if (cause && systemCodeOf(cause) === 'EMSGSIZE') reject(new LineTooLong(line.length))
        else if (cause) reject(cause)
        else resolve()
      })
    })
  return {
    write: async (lines) => {
      for (const line of linesOf(lines)) {
        await send(line)
        if (refused !== undefined) throw new DeviceError(refused)
      }
    },
    close: () => {
      socket.close()
    },
  }
}

function connectedDatagrams({ host, port }: { readonly host: string; readonly port: number }): Promise<DatagramSocket> {
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4')
  return new Promise((resolve, reject) => {
    const refused = (cause: Error): void => {
      socket.close()
      reject(new DeviceError(`it cannot be connected to: ${systemCodeOf(cause)}`))
    }
    socket.once('error', refused)
    // Also called if the name lookup fails, which its type does not say.
    const connected: (cause?: Error) => void = (cause) => {
      socket.off('error', refused)
      if (cause === undefined) resolve(socket)
      else refused(cause)
    }
    socket.connect(port, host, connected)
  })
}

const FULL_PIPE_MS = 5
const STDOUT = 1

/** Opens the standard output of the process, from any thread. */
export async function openStdout(timers: Timers): Promise<Sink> {
  const once = (bytes: Buffer): Promise<number> =>
    new Promise((resolve, reject) => {
      writeFile(STDOUT, bytes, (cause, written) => {
        if (cause === null) resolve(written)
        else if (cause.code === 'EAGAIN') resolve(0)
        else reject(cause)
      })
    })
  let isClosed = false
  return {
    write: async (lines) => {
      for (let left = lines; left.length > 0; ) {
        if (isClosed) throw new DeviceError('it was closed')
        const written = await once(left)
        // Another process made the pipe non-blocking, and it is full.
        if (written === 0) await timers.sleep(FULL_PIPE_MS)
        left = left.subarray(written)
      }
    },
    close: () => {
      isClosed = true
    },
  }
}

/** Opens a file whose writes may hang. @throws DeviceError */
export async function openRemoteFile({ path, mode }: LogFile, rule: FileRule, files?: AuditFiles): Promise<Sink> {
  const { handle, isMidLine } = await openAuditFile(path, mode, rule, files)
  let isMiddle = isMidLine
  return {
    write: async (lines) => {
      const bytes = isMiddle ? Buffer.concat([NEWLINE_BYTES, lines]) : lines
      isMiddle = false
      const { bytesWritten } = await handle.write(bytes)
      if (bytesWritten < bytes.length) throw new DeviceError('short write')
    },
    close: () => {
      void handle.close().catch(() => {})
    },
  }
}
