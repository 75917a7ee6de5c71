// The stanza of a server's configuration that names the emulator's addresses.
import type { Addresses } from './addresses.ts'

/** Values of the stanza. */
export type StanzaOptions = {
  readonly addresses: Addresses
  /** The name by which `environment` chooses the cloud; `TestCloud` by default. */
  readonly name?: string
  /** The audience of the server's own token. */
  readonly audience?: string
  /** A file with the authority's certificate, for https. */
  readonly caFile?: string
  /** The metadata address of the server's own host. */
  readonly metadata?: string
}

/** Returns the stanza. Addresses over http need, and get, `allow_http_loopback`. */
export function formatStanza(options: StanzaOptions): string {
  const { addresses, name = 'TestCloud', audience = 'https://management.core.windows.net/' } = options
  const plain = addresses.authority.startsWith('http:')
  const rows: [string, string | boolean | undefined][] = [
    ['authority', addresses.authority],
    ['resource_manager', addresses.resourceManager],
    ['resource_manager_audience', audience],
    ['graph', addresses.graph],
    ['metadata', options.metadata],
    ['ca_file', options.caFile],
    ['allow_http_loopback', plain || options.metadata !== undefined ? true : undefined],
  ]
  const lines = rows.flatMap(([key, value]) =>
    value === undefined ? [] : [`  ${key.padEnd(25)} = ${JSON.stringify(value)}`],
  )
  return `cloud ${JSON.stringify(name)} {\n${lines.join('\n')}\n}\n`
}
