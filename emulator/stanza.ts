// The part of a server's configuration that tells it of the emulator.
import type { Addresses } from './addresses.ts'

export type StanzaOptions = {
  readonly addresses: Addresses
  /** By which `environment` chooses it; `TestCloud` by default. */
  readonly name?: string
  /** What the server asks its own token for. */
  readonly audience?: string
  /** A file with the authority's certificate, for https. */
  readonly caFile?: string
  /** Where the managed identity of the server's own host is asked. */
  readonly metadata?: string
}

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
