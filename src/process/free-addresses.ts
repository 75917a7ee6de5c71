// Addresses that cannot be listened on: how the operator is told, and how a start finds them before its threads do.
import { addressText } from '../config/address-text.ts'
import type { ListenerAddress } from '../config/listener.ts'
import { type HeldAddress, holdAddress } from '../http/listening-socket.ts'
import { own } from '../lib/own.ts'

/** An address that cannot be listened on. `code` is the error code of the system. */
export class ListenFailed extends Error {
  override name = 'ListenFailed'
  readonly code: string
  readonly address: string

  constructor(address: string, code: string) {
    super(listenReason(address, code))
    this.address = address
    this.code = code
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE:
    'is in use by another program: stop it, or choose another address with -dev-listen-address or listener "tcp"',
  EACCES: 'may not be used by this user: choose a port from 1024 on, or a directory that it may write to',
  EADDRNOTAVAIL: 'does not belong to this machine',
  ENOTFOUND: 'has an unknown host name',
  ENOTSOCK: 'is the path of another file: remove that, or choose another path',
  ENOENT: 'is in a directory that does not exist',
  EPERM: 'cannot be given to socket_user and socket_group by this user',
}

const listenReason = (address: string, code: string): string =>
  `The address ${address} ${own(REASONS, code) ?? `cannot be listened on (${code})`}`

/** The error for an address that could not be listened on, because of `cause`. */
export const listenFailed = (address: ListenerAddress, cause: unknown): ListenFailed =>
  new ListenFailed(addressText(address), (cause as NodeJS.ErrnoException).code ?? String(cause))

/**
 * Opens every address once alone, then closes them. Threads share a port with any process of this user that shares it
 * too, so a second server would not be noticed otherwise.
 * @throws ListenFailed
 */
export async function requireFreeAddresses(addresses: readonly ListenerAddress[]): Promise<void> {
  const held: HeldAddress[] = []
  try {
    for (const address of addresses) {
      try {
        held.push(await holdAddress(address.kind === 'unix' ? address : { ...address, share: false }))
      } catch (cause) {
        throw listenFailed(address, cause)
      }
    }
  } finally {
    await Promise.all(held.map(({ release }) => release()))
  }
}
