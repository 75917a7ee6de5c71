// Channels over what the runtime has: ports between threads, and threads themselves.
import type { Channel, Movable } from './channel.ts'

/** The part of a message port, or of the port to the parent, that is used here. */
export type Port = {
  postMessage(message: unknown, moved: Movable[]): void
  on(event: 'message' | 'close', listener: (message: unknown) => void): unknown
}

/** A channel over a port. The port closes when the thread at its other end ends, in whatever way. */
export function portChannel(port: Port): Channel {
  return {
    send: (message, moved) => port.postMessage(message, [...moved]),
    onMessage: (listener) => void port.on('message', listener),
    onEnd: (listener) => void port.on('close', () => listener()),
  }
}

/** The part of a Worker that its starter uses here. */
export type ThreadPort = {
  postMessage(message: unknown, moved: Movable[]): void
  on(event: 'message', listener: (message: unknown) => void): unknown
  once(event: 'exit', listener: () => void): unknown
}

/** A channel to a thread, in the thread that started it. */
export function threadChannel(thread: ThreadPort): Channel {
  return {
    send: (message, moved) => thread.postMessage(message, [...moved]),
    onMessage: (listener) => void thread.on('message', listener),
    onEnd: (listener) => void thread.once('exit', listener),
  }
}
