// Binds a server to its address: a port, or a Unix socket with the rights of its file.
import { createServer, type Server } from 'node:net'
import { makeRoom, setOwner, type UnixAddress } from './unix-socket.ts'

/** A TCP address. With `share`, other threads listen on the same port and the system spreads the connections. */
export type TcpAddress = { readonly kind: 'tcp'; readonly host: string; readonly port: number; readonly share: boolean }
/** The address of a listener. */
export type ListenAddress = TcpAddress | UnixAddress

/**
 * Resolves when the server listens.
 * @throws the system's error if the address cannot be used (EADDRINUSE, EACCES, …); the server may be listening then
 */
export async function listenOn(server: Server, address: ListenAddress): Promise<void> {
  if (address.kind === 'unix') await makeRoom(address.path)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    const where =
      address.kind === 'unix'
        ? { path: address.path }
        : { port: address.port, host: address.host, reusePort: address.share }
    server.listen(where, () => {
      server.off('error', reject)
      // A later error on the listening socket affects no request, and without a handler it would end the process.
      server.on('error', () => {})
      resolve()
    })
  })
  if (address.kind === 'unix') setOwner(address)
}

/** An address that is held, and can be let go. */
export type HeldAddress = { readonly release: () => Promise<void> }

/** Takes the address and drops every connection to it. @throws the system's error; then it is not taken */
export async function holdAddress(address: ListenAddress): Promise<HeldAddress> {
  const server = createServer((socket) => socket.destroy())
  const release = (): Promise<void> => new Promise((resolve) => server.close(() => resolve()))
  try {
    await listenOn(server, address)
  } catch (cause) {
    // A socket that still listens would keep the process alive, which is about to end.
    if (server.listening) await release()
    throw cause
  }
  return { release }
}
