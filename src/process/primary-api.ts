// The API of primaries over the network and the files of this process.
import { getCACertificates } from 'node:tls'
import { newPrimaryApi, type PrimaryApi } from '../assembly/replication/primary-api.ts'
import type { ServerConfig } from '../config/config.ts'
import { outboundTo } from '../lib/outbound.ts'
import type { World } from '../lib/world.ts'
import { authorityFiles } from './authority-files.ts'

/** Returns the API of primaries. An operator chooses the address, so no origin is known before. */
export function realPrimaryApi(
  { replication }: Pick<ServerConfig, 'replication'>,
  { clock, timers }: Pick<World, 'clock' | 'timers'>,
): PrimaryApi {
  return newPrimaryApi({
    authorities: authorityFiles(replication.allowedCaPaths),
    outboundTo: ({ origin, ca = origin.startsWith('https:') ? systemAuthorities() : undefined }) =>
      outboundTo([{ origin, ...(ca === undefined ? {} : { ca }) }], timers),
    clock,
  })
}

/** Those of the runtime, which go by its environment, and those that the operator of the machine has installed. */
function systemAuthorities(): string {
  return [...new Set([...getCACertificates('default'), ...getCACertificates('system')])].join('\n')
}
