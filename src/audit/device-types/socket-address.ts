// Reads the addresses of devices that write to a connection.
import { refusal } from './device-type.ts'

/** The address that such a device connects to. */
export type SocketAddress =
  | { readonly type: 'tcp' | 'udp'; readonly host: string; readonly port: number }
  | { readonly type: 'unix'; readonly file: string }

/** Returns the address of a Unix socket. @throws Refusal unless the path is absolute */
export function unixAddress(file: string): SocketAddress {
  if (!file.startsWith('/') || file.includes('\0')) throw refusal('the option address must be an absolute path')
  return { type: 'unix', file }
}

const MOST_PORT = 65_535

/** Splits HOST:PORT; an IPv6 address stands in brackets. @throws Refusal */
export function hostAndPort(text: string): { readonly host: string; readonly port: number } {
  const colon = text.lastIndexOf(':')
  const named = text.slice(0, Math.max(colon, 0))
  const host = named.startsWith('[') && named.endsWith(']') ? named.slice(1, -1) : named
  const port = /^\d{1,5}$/.test(text.slice(colon + 1)) ? Number(text.slice(colon + 1)) : 0
  if (host === '' || port < 1 || port > MOST_PORT) throw refusal('the option address must be like 127.0.0.1:9090')
  return { host, port }
}
