// What a queued device writes to: connections, standard output, a file behind a network.
import { createSocket, type Socket as DatagramSocket } from 'node:dgram'
import { write as writeFile } from 'node:fs'
import { connect, type Socket } from 'node:net'
import type { Timers } from '../lib/world.ts'
import { DeviceError, type FileRule, openAuditFile, systemCodeOf } from './audit-file.ts'
import type { LogFile } from './device.ts'
import type { SocketAddress } from './device-types/socket-address.ts'
import { yieldToEventLoop } from './event-loop.ts'
import { LineTooLong, type Sink } from './queued-device.ts'

const KEEP_ALIVE_MS = 10_000
const NEWLINE = 0x0a
const NEWLINE_BYTES = Buffer.from('\n')

/** How one line is written to a connection; datagrams hold one line each. */
export type Framing = (line: Buffer) => Buffer

/** Lines as they are. */
export const PLAIN_LINES: Framing = (line) => Buffer.concat([line, NEWLINE_BYTES])

/** RFC 6587 section 3.4.1 over TCP: the length before each message; else a message a line. */
export function syslogFraming(header: string, type: SocketAddress['type']): Framing {
  const head = Buffer.from(header)
  if (type !== 'tcp') return (line) => Buffer.concat(type === 'udp' ? [head, line] : [head, line, NEWLINE_BYTES])
  return (line) => Buffer.concat([Buffer.from(`${head.length + line.length} `), head, line])
}

/** RFC 768 and 8200: what fits into a datagram of either IP version. */
const MOST_DATAGRAM_BYTES = 65_000

/** The longest line that goes to the address, in bytes; undefined: any. `header`: what the framing adds. */
export function longestLine(address: SocketAddress, header = ''): number | undefined {
  return address.type === 'udp' ? MOST_DATAGRAM_BYTES - header.length : undefined
}

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
  // Whoever takes no more than this says so by that alone.
  socket.on('end', () => ends('the connection was closed'))
  socket.on('close', () => ends('the connection was closed'))
  // A peer whose machine is gone says nothing.
  socket.setKeepAlive(true, KEEP_ALIVE_MS)
  // Nobody has anything to tell us.
  socket.resume()
  socket.unref()
  return {
    write: (lines) =>
      new Promise((resolve, reject) => {
        if (end !== undefined) return reject(end)
        const framed = frame === PLAIN_LINES ? lines : Buffer.concat([...linesOf(lines)].map(frame))
        socket.write(framed, (cause) => {
          if (cause) return reject(cause)
          // The system takes what nobody reads. That the peer is gone is known here a turn later.
          void yieldToEventLoop()
            .then(yieldToEventLoop)
            .then(() => (end === undefined ? resolve() : reject(end)))
        })
      }),
    ended,
    close: () => {
      // What was handed over is on its way; a peer that takes nothing is not waited for.
      if (socket.writableLength === 0) socket.end()
      else socket.destroy()
    },
  }
}

function connected(address: Exclude<SocketAddress, { type: 'udp' }>): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const place = address.type === 'unix' ? { path: address.file } : { host: address.host, port: address.port }
    const socket = connect(place)
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
  // Nobody listened there when the last one came.
  socket.on('error', (cause) => {
    refused = systemCodeOf(cause)
  })
  socket.unref()
  const send = (line: Buffer): Promise<void> =>
    new Promise((resolve, reject) => {
      const framed = frame === PLAIN_LINES ? line : frame(line)
      if (framed.length > MOST_DATAGRAM_BYTES) return reject(new DeviceError('an entry is longer than a datagram'))
      socket.send(framed, (cause) => {
        // Where the system, or the way to the peer, takes less than IP would.
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
    // Told of a look-up that failed, too, which its type does not say.
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

/** The standard output of the process, from whichever thread. */
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
        // Somebody else made the pipe one that does not wait, and it is full.
        if (written === 0) await timers.sleep(FULL_PIPE_MS)
        left = left.subarray(written)
      }
    },
    close: () => {
      isClosed = true
    },
  }
}

/** A file whose writes may hang. */
export async function openRemoteFile({ path, mode }: LogFile, rule: FileRule): Promise<Sink> {
  const { handle, isMidLine } = await openAuditFile(path, mode, rule)
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
