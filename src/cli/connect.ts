import { Client } from './client.ts'
import type { ConnectionValues } from './common-options.ts'
import { readConnection } from './connection.ts'
import type { CliIo } from './io.ts'

/** Makes the client that the options and the environment describe. Nothing is sent yet. @throws CliError */
export function connect(io: CliIo, options: ConnectionValues): Client {
  return new Client(readConnection(options, io.env), io.sleep)
}
