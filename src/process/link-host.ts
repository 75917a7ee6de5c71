// What a thread needs for links to other clusters. All of it, TLS included, is loaded only here, and only when there
// is a link.
import type { Log } from '../lib/log.ts'
import type { World } from '../lib/world.ts'
import type { LinkCounts } from '../replication/counts.ts'
import type { LinkOwner, LinkState } from '../replication/link/link-sides.ts'
import type { SourceStore } from '../replication/source/source-parts.ts'
import type { ReadStore } from '../storage/contract.ts'
import type { StorageConfig } from '../storage/drivers.ts'
import type { LinksHost } from '../threads/late-links.ts'

/** The parts that the host works with. */
export type BegunLinks = {
  readonly world: World
  readonly owner: LinkOwner
  readonly store: SourceStore
  readonly log: Log
  readonly counts: LinkCounts
}

/** Opens the store beside the thread that writes. @throws StorageError */
export async function openLinkedStore(storage: StorageConfig): Promise<ReadStore> {
  const { openReadingStore } = await import('./stores.ts')
  return openReadingStore(storage)
}

/** Begins the host over the links of this machine. It has nothing open until it is told a state. */
export async function beginLinks({ world, ...parts }: BegunLinks): Promise<LinksHost> {
  const [{ LinkHost }, { tlsLinks }] = await Promise.all([
    import('../replication/link/link-host.ts'),
    import('../lib/tls-links.ts'),
  ])
  const host = new LinkHost({ world: { ...world, links: tlsLinks(world) }, ...parts })
  return {
    play: (state) => host.play(state),
    disconnect: (family, id) => host.disconnect(family, id),
    knock: (knock) => host.knock(knock),
    handOver: (family, withinMs) => host.handOver(family, withinMs),
    takeBack: (family) => host.takeBack(family),
    ask: (call, body) => host.ask(call, body),
    sealChanged: (sealId) => host.sealChanged(sealId),
    recover: (family) => host.recover(family),
    compareAgain: (family) => host.compareAgain(family),
    status: () => host.status(),
    close: () => host.play(NOTHING),
  }
}

/** Closes every link and port. */
const NOTHING: LinkState = {
  facts: { version: '', clusterId: '', clusterAddresses: [], apiAddress: '' },
  listenAt: [],
  parts: [],
}
