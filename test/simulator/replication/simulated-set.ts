// The world of one run: time, network, disks, and the clusters of two sets, one of each family, that one primary has.
import './light-crypto.ts'
import type { LinkLimits } from '../../../src/replication/link/end-parts.ts'
import type { LinkControl, LinkOwner } from '../../../src/replication/link/link-sides.ts'
import type { LinkTimes } from '../../../src/replication/link/link-times.ts'
import type { SourceStore } from '../../../src/replication/source/source-parts.ts'
import { NOT_SYNCHRONOUS, type SynchronousSettings } from '../../../src/replication/synchronous/settings.ts'
import type { Backend } from '../../../src/storage/backend.ts'
import type { HoldCaps } from '../../../src/storage/peer-log.ts'
import type { KeyringRotation } from '../../../src/system/seal/keyring-rotation.ts'
import { type PseudoRandom, pseudoRandom } from '../../fixtures/pseudo-random.ts'
import { NOW } from '../../fixtures/set-cluster.ts'
import { SeededStream } from '../seeded-stream.ts'
import type { StoreImage } from '../simulated-backend.ts'
import { SimulatedNetwork } from '../simulated-network.ts'
import { VirtualTime } from '../virtual-time.ts'
import type { SetWatcher } from './set-watcher.ts'
import { SimulatedCluster } from './simulated-cluster.ts'

/** What of the keyring's upkeep replication works with. */
export type ChangingKeys = Pick<KeyringRotation, 'adopt' | 'beginHistory'>

/** Where a test plants a fault: between the parts of the program, and never in them. */
export type Seams = {
  readonly owner?: (owner: LinkOwner, cluster: SimulatedCluster) => LinkOwner
  readonly source?: (store: SourceStore, cluster: SimulatedCluster) => SourceStore
  readonly control?: (control: LinkControl, cluster: SimulatedCluster) => LinkControl
  readonly rotation?: (rotation: ChangingKeys, cluster: SimulatedCluster) => ChangingKeys
  /** The serving thread has a keyring so long after it was told. */
  readonly announcedLateMs?: number
  /** True while commits are not told to the serving thread. */
  readonly isUnpublished?: (cluster: SimulatedCluster) => boolean
  /** Parts of the tree, as a store names them. */
  readonly scopes?: (scopes: readonly string[]) => readonly string[]
  /** After each commit of a client, before its answer. */
  readonly acknowledging?: (cluster: SimulatedCluster) => Promise<void>
  readonly holdCaps?: HoldCaps
  readonly times?: Partial<LinkTimes>
}

/** Short times, so that a run needs few beats to see what takes a link long. */
export const SHORT_TIMES: Partial<LinkTimes> = {
  greetingMs: 2_000,
  knockMs: 3_000,
  beatMs: 400,
  silenceMs: 2_000,
  takeoverRetryMs: 500,
  takeoverMs: 2_000,
  rootMs: 1_200,
  noteMs: 2_000,
  firstRetryMs: 50,
  longestRetryMs: 800,
  healthyMs: 5_000,
  idleMs: 3_000,
  fullMs: 1_000,
  portMs: 500,
  closingMs: 300,
}

/** Little of the log is kept, so that a run sees it end. */
const RETENTION = { bytes: 1_500, ms: 3_600_000_000 }
const HOLD_CAPS = { secondary: 4_000, copy: 6_000 }
/** Of the log, so many records stay whatever the limits say; a real store keeps 10,000. */
export const LEAST_RECORDS = 4

/** What the clusters of a run begin with. */
export type Beginning = { readonly primary: StoreImage; readonly secondaries: ReadonlyMap<string, StoreImage> }

export class SimulatedSet {
  readonly seed: number
  readonly seams: Seams
  readonly time: VirtualTime
  readonly network: SimulatedNetwork
  readonly diskTimers
  readonly limits: LinkLimits
  readonly times: Partial<LinkTimes>
  readonly retention = RETENTION
  readonly holdCaps = HOLD_CAPS
  /** Which secondaries for disaster recovery writes of their primary wait for. */
  readonly synchronous: SynchronousSettings
  watcher: SetWatcher
  /** All that there are. */
  readonly clusters: SimulatedCluster[] = []

  constructor(
    seed: number,
    watcher: (set: SimulatedSet) => SetWatcher,
    { seams = {}, limits, synchronous }: SetOptions,
  ) {
    this.seed = seed
    this.synchronous = synchronous ?? NOT_SYNCHRONOUS
    this.seams = seams
    this.limits = limits
    this.times = { ...SHORT_TIMES, ...seams.times }
    this.time = new VirtualTime(NOW, this.choices('order of threads').int, 'promises')
    const { clock, timers } = this.time.newThread()
    this.diskTimers = this.time.newThread().timers
    this.network = new SimulatedNetwork({ clock, timers, random: this.stream('network') })
    this.watcher = watcher(this)
  }

  /** Random bytes of that name. */
  stream(name: string): SeededStream {
    return new SeededStream(this.seed, name)
  }

  /** Choices of that name. */
  choices(name: string): PseudoRandom {
    return pseudoRandom(this.stream(name).below(2 ** 32))
  }

  /** Waits in the time of the run. */
  pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.diskTimers.after(ms, resolve))
  }

  newCluster(name: string, image: StoreImage): SimulatedCluster {
    const cluster = new SimulatedCluster(this, name, image)
    this.clusters.push(cluster)
    return cluster
  }

  /** The log of a run is short: what a real store keeps whatever the limits say would be all of it. */
  backend(backend: Backend): Backend {
    return { ...backend, indexBefore: (count) => backend.indexBefore(Math.min(count, LEAST_RECORDS)) }
  }

  ownerOf(cluster: SimulatedCluster, owner: LinkOwner): LinkOwner {
    return this.watcher.owner(cluster, this.seams.owner?.(owner, cluster) ?? owner)
  }

  sourceOf(cluster: SimulatedCluster, store: SourceStore): SourceStore {
    return this.seams.source?.(store, cluster) ?? store
  }

  controlOf(cluster: SimulatedCluster, control: LinkControl): LinkControl {
    const { roles, performance } = this.watcher
    return performance.control(cluster, roles.control(cluster, this.seams.control?.(control, cluster) ?? control))
  }

  rotationOf(cluster: SimulatedCluster, rotation: ChangingKeys): ChangingKeys {
    const own: ChangingKeys = {
      adopt: (...adopted) => rotation.adopt(...adopted),
      beginHistory: (...begun) => rotation.beginHistory(...begun),
    }
    return this.seams.rotation?.(own, cluster) ?? own
  }
}

export type SetOptions = {
  readonly seams?: Seams
  readonly limits: LinkLimits
  readonly synchronous?: SynchronousSettings
}
