// Channels over what the runtime has: ports between threads, and threads themselves.
import type { Channel, Movable } from './channel.ts'

/** As much of a message port, or of the port to the parent, as is needed. */
export type Port = {
  postMessage(message: unknown, moved: Movable[]): void
  on(event: 'message' | 'close', listener: (message: unknown) => void): unknown
}

/** A port is closed when the thread at its other end ends, however it does. */
export function portChannel(port: Port): Channel {
  return {
    send: (message, moved) => port.postMessage(message, [...moved]),
    onMessage: (listener) => void port.on('message', listener),
    onEnd: (listener) => void port.on('close', () => listener()),
  }
}

/** As much of a thread as is needed by the one that started it. */
export type ThreadPort = {
  postMessage(message: unknown, moved: Movable[]): void
  on(event: 'message', listener: (message: unknown) => void): unknown
  once(event: 'exit', listener: () => void): unknown
}

export function threadChannel(thread: ThreadPort): Channel {
  return {
    send: (message, moved) => thread.postMessage(message, [...moved]),
    onMessage: (listener) => void thread.on('message', listener),
    onEnd: (listener) => void thread.once('exit', listener),
  }
}
