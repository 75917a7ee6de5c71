// The clusters of a soak: a primary, its secondary for disaster recovery, which changes places with it, and a region.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { locationIn } from '../../../../src/storage/drivers.ts'
import type { Position, ReplicationFamily } from '../../../../src/storage/peer-log.ts'
import { operationToken, promote } from '../../../fixtures/failing-over.ts'
import { activate, addRegion, Cluster, takeBack } from '../../../fixtures/real-cluster.ts'
import { until } from '../../../fixtures/until.ts'
import { SHORT_TTL, SOAK_USER } from './soak-clients.ts'

/**
 * So much of the log is reached within minutes. With the default, stores would grow all the time, and with them the
 * pages of them that each connection keeps in memory, up to 32 MiB.
 */
const LOG_BYTES = 8 * 1_048_576
/** What one thread did and another has not heard of yet is seen with two alone. */
const THREADS = 2
/** A secondary that fell behind has old shares until it is level. */
const MOST_SHARES = 5
const MOST_STOPS = 5
const PROBE = { policy: 'path "probe" { capabilities = ["read"] }' }
const PERFORMANCE = 'sys/replication/performance'

/** Three clusters, and who is what. */
export class SoakSet {
  readonly region: Cluster
  readonly root: string
  #primary: Cluster
  #standIn: Cluster
  #operationToken = ''
  /** Of the unseal key, the newest first. */
  #shares: readonly string[] = []
  /** How often each cluster was started. */
  readonly lives = new Map<Cluster, number>()

  private constructor(root: string, primary: Cluster, standIn: Cluster, region: Cluster) {
    this.root = root
    this.#primary = primary
    this.#standIn = standIn
    this.region = region
    for (const each of this.all) this.lives.set(each, 1)
  }

  static async make(root: string): Promise<SoakSet> {
    const made: Cluster[] = []
    try {
      for (const name of ['one', 'two', 'region'])
        made.push(await Cluster.make(name, root, { threads: THREADS, logBytes: LOG_BYTES }))
      const set = new SoakSet(root, ...(made as [Cluster, Cluster, Cluster]))
      await set.#begin()
      return set
    } catch (cause) {
      for (const each of made) await each.end()
      throw cause
    }
  }

  async #begin(): Promise<void> {
    const { primary, standIn, region } = this
    await primary.must('POST', 'sys/mounts/transit', { type: 'transit' })
    await primary.must('POST', 'sys/auth/userpass', { type: 'userpass' })
    const { name, password } = SOAK_USER
    await primary.must('POST', `auth/userpass/users/${name}`, { password, token_ttl: `${SHORT_TTL}s` })
    this.#operationToken = await operationToken(primary)
    await activate(primary, standIn)
    standIn.token = primary.token
    await addRegion(primary, region)
    this.#shares = [primary.share]
  }

  get primary(): Cluster {
    return this.#primary
  }

  get standIn(): Cluster {
    return this.#standIn
  }

  /** Both that are the primary by turns, in an order that does not change. */
  get pair(): readonly Cluster[] {
    return [this.#primary, this.#standIn].sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  get all(): readonly Cluster[] {
    return [this.#primary, this.#standIn, this.region]
  }

  async kill(cluster: Cluster): Promise<void> {
    await cluster.kill()
    this.#keepOutput(cluster)
  }

  async stop(cluster: Cluster): Promise<void> {
    await cluster.stop()
    this.#keepOutput(cluster)
  }

  /** Starts it, and opens it with the newest share that it takes. */
  async restart(cluster: Cluster): Promise<void> {
    await cluster.start()
    this.lives.set(cluster, (this.lives.get(cluster) ?? 0) + 1)
    for (const share of this.#shares) {
      cluster.share = share
      await cluster.unseal()
      const { body } = await cluster.call('GET', 'sys/seal-status', undefined, '')
      if (body.sealed === false) return
    }
    throw new Error(`No share opens ${cluster.name}`)
  }

  async rekey(): Promise<void> {
    const { primary } = this
    const begun = await primary.must('POST', 'sys/rekey/init', { secret_shares: 1, secret_threshold: 1 })
    const done = await primary.must('POST', 'sys/rekey/update', { key: this.#shares[0], nonce: begun.body.nonce })
    const [share] = done.body.keys as readonly [string]
    this.#shares = [share, ...this.#shares].slice(0, MOST_SHARES)
  }

  /** The secondary takes over as planned, takes the former primary back, and the region follows by its address. */
  async handOver(): Promise<void> {
    const [former, next] = [this.#primary, this.#standIn]
    await this.settled()
    await until(async () => {
      const { status, body } = await promote(next, this.#operationToken)
      if (status !== 200 && status !== 503) throw new Error(`promote: ${status} ${JSON.stringify(body)}`)
      return status === 200
    }, `${next.name} is promoted`)
    await takeBack(next, former, this.#operationToken)
    ;[this.#primary, this.#standIn] = [next, former]
    await this.#lead(this.region, { update_primary_addrs: [`https://127.0.0.1:${next.proxy.port}`] })
  }

  /** The primary lets go of a secondary, which comes back with a token. */
  async replace(family: ReplicationFamily): Promise<void> {
    const secondary = family === 'dr' ? this.#standIn : this.region
    const path = `sys/replication/${family}/primary`
    await this.#primary.must('POST', `${path}/revoke-secondary`, { id: secondary.name })
    await until(async () => (await secondary.status(family)).idle_reason === 'revoked', 'the secondary knows')
    if (family === 'dr') return takeBack(this.#primary, secondary, this.#operationToken)
    const { body } = await this.#primary.must('POST', `${path}/secondary-token`, { id: secondary.name })
    await this.#lead(secondary, { token: (body.wrap_info as { readonly token: string }).token })
  }

  async #lead(region: Cluster, body: object): Promise<void> {
    await region.must('POST', `${PERFORMANCE}/secondary/update-primary`, body)
  }

  /** Until nothing is wrong with links and clusters, both secondaries followed, and writes go through everywhere. */
  async settled(): Promise<void> {
    for (const { proxy } of this.all) proxy.heal()
    await until(() => this.#isLinked('dr'), 'the secondary for disaster recovery has its link')
    await until(() => this.#isLinked('performance'), 'the region has its link')
    for (const cluster of [this.#primary, this.region])
      await until(async () => (await cluster.call('PUT', 'sys/policies/acl/probe', PROBE)).status < 300, 'writes go on')
    await this.#followed('dr')
    await this.#followed('performance')
  }

  #secondaryOf(family: ReplicationFamily): Cluster {
    return family === 'dr' ? this.#standIn : this.region
  }

  /** True if both ends show the link. */
  async #isLinked(family: ReplicationFamily): Promise<boolean> {
    const theirs = await this.#primary.status(family)
    const ours = await this.#secondaryOf(family).status(family)
    const peers = (theirs.secondaries ?? []) as readonly Readonly<Record<string, unknown>>[]
    return ours.connection_state === 'ready' && peers.some((peer) => peer.connection_status === 'connected')
  }

  /** Until the secondary has all that the primary had now. */
  async #followed(family: ReplicationFamily): Promise<void> {
    const index = Number((await this.#primary.status(family))[`last_${family}_wal`])
    const secondary = this.#secondaryOf(family)
    await until(async () => {
      const { state, last_remote_wal: applied } = await secondary.status(family)
      return state === 'stream-wals' && Number(applied) >= index
    }, `${secondary.name} has all of its primary`)
  }

  /** Nobody writes any more, and all have the same. */
  async level(): Promise<void> {
    await this.settled()
    await until(async () => {
      const [theirs, ours] = [await this.#primary.status(), await this.#standIn.status()]
      return theirs.merkle_root !== undefined && theirs.merkle_root === ours.merkle_root
    }, 'the pair has one root')
  }

  /**
   * Stops all, once nobody writes and both secondaries have all of the primary. What the primary wrote by itself behind
   * the last look is at the primary alone: then all begin once more.
   */
  async stopLevel(): Promise<void> {
    for (let left = MOST_STOPS; left > 0; left--) {
      await this.level()
      for (const cluster of this.all) await this.stop(cluster)
      if (await this.#areLevel()) return
      for (const cluster of this.all) await this.restart(cluster)
    }
    throw new Error('The primary writes without an end')
  }

  /** By the stores alone. */
  async #areLevel(): Promise<boolean> {
    const primary = await positionIn(this.#primary)
    const appliedBy = async (family: ReplicationFamily): Promise<number> => {
      const { origins } = await positionIn(this.#secondaryOf(family))
      return origins.find((origin) => origin.family === family)?.index ?? 0
    }
    const sent = Math.max(primary.lastReplicatedIndex, primary.lastLocalIndex)
    return (await appliedBy('dr')) >= sent && (await appliedBy('performance')) >= primary.lastReplicatedIndex
  }

  async end(): Promise<void> {
    for (const cluster of this.all) {
      await cluster.end()
      this.#keepOutput(cluster)
    }
  }

  /** A file for each life. */
  #keepOutput(cluster: Cluster): void {
    writeFileSync(join(this.root, `${cluster.name}-${this.lives.get(cluster)}.log`), cluster.output())
  }
}

async function positionIn({ directory }: Cluster): Promise<Position> {
  const reader = await locationIn(directory).openReader()
  try {
    return await reader.position()
  } finally {
    await reader.close()
  }
}
