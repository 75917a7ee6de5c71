// The thread of the links to other clusters. TLS and framing run here, so that they never hold up the thread that
// writes. It has no key of the server: what it reads of the store, and passes on, is ciphertext. Requests that a
// secondary hands to its primary pass in clear.
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import type { SharedTelemetry } from '../assembly/shared-telemetry.ts'
import type { ServerConfig } from '../config/config.ts'
import type { Log } from '../lib/log.ts'
import { realWorld } from '../lib/world.ts'
import { NO_CALLS } from '../rpc/calls.ts'
import { connectPeer } from '../rpc/peer.ts'
import { portChannel } from '../rpc/ports.ts'
import type { StorageConfig } from '../storage/drivers.ts'
import { CELL, LINKING_ROW, rowOf } from '../telemetry/cells.ts'
import { sampleThread } from '../telemetry/thread-sampler.ts'
import { CommittedFollower, type CommittedIndex } from '../threads/committed-index.ts'
import { faultLog } from '../threads/fault-log.ts'
import { LateLinks } from '../threads/late-links.ts'
import { connectOwner } from '../threads/owner-link.ts'
import { linkCounts } from './link-counts.ts'
import { beginLinks, openLinkedStore } from './link-host.ts'
import { LinkStore } from './link-store.ts'
import { LINKING_CALLS } from './thread-calls.ts'
import { threadLog } from './thread-log.ts'

/** Data that the watching thread hands to it. Of the configuration only what it needs: the rest names secrets. */
export type LinkingData = {
  readonly config: Pick<ServerConfig, 'storage' | 'logging'>
  readonly committed: CommittedIndex
  /** The link to the writing thread. */
  readonly writer: MessagePort
  readonly shared: Pick<SharedTelemetry, 'metrics' | 'levels'>
}

/** The one message of the thread to its starter. */
export type LinkingStarted = { readonly kind: 'linking' }

function start(parent: MessagePort, { config, committed, writer, shared }: LinkingData): void {
  const world = realWorld()
  const log = threadLog(shared, LINKING_ROW, config)
  const store = newStore(config.storage, committed, log)
  const row = rowOf(shared.metrics, LINKING_ROW)
  const links = new LateLinks(async () => {
    await store.use()
    return beginLinks({ world, owner, store: store.source, log, counts: linkCounts(row) })
  })
  const owner = connectOwner(writer, { control: links, takeStore: (presence) => store.take(presence), log })
  sampleThread(world, row, () => {
    row[CELL.logQueued] = process.stderr.writableLength
  })
  connectPeer({
    channel: portChannel(parent),
    asks: NO_CALLS,
    answers: LINKING_CALLS,
    handlers: {
      stop: () => {
        void links
          .close()
          .then(() => store.close())
          .finally(() => process.exit(0))
      },
    },
    onFault: faultLog(log),
  })
  parent.postMessage({ kind: 'linking' } satisfies LinkingStarted)
}

function newStore(storage: StorageConfig, committed: CommittedIndex, log: Log): LinkStore {
  return new LinkStore({
    openStore: () => openLinkedStore(storage),
    committed: new CommittedFollower(committed),
    onLost: (cause) => {
      // The group starts another thread in its place.
      log('error', 'The thread of the links could not open the store: the thread is replaced', { cause: String(cause) })
      process.exit(1)
    },
  })
}

if (parentPort !== null) start(parentPort, workerData as LinkingData)
