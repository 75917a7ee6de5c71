// The restore of a snapshot, on the writing thread. The snapshot is staged and checked first. Then all threads let go
// of the store, and the files change places.
import { fail, type Refusal } from '../api/errors.ts'
import type { ByteStream } from '../api/request.ts'
import type { StoredDevice } from '../audit/device-store.ts'
import type { Log } from '../lib/log.ts'
import type { World } from '../lib/world.ts'
import { HISTORY_ID_BYTES } from '../storage/backend.ts'
import { Barrier } from '../storage/barrier.ts'
import type { Store } from '../storage/contract.ts'
import type { Staging } from '../storage/driver.ts'
import { Sealed, StorageCorrupt } from '../storage/errors.ts'
import type { Position } from '../storage/peer-log.ts'
import { SnapshotDamaged } from '../storage/snapshot/snapshot-format.ts'
import { readSnapshot } from '../storage/snapshot/snapshot-stream.ts'
import type { StagedCheck } from '../storage/snapshot/staged-check.ts'
import { stageSnapshot } from '../storage/snapshot/staged-store.ts'
import { AutoSealFailed } from '../system/seal/auto-seal.ts'
import { KEY_USE } from '../system/seal/key-use.ts'
import type { Seal } from '../system/seal/seal.ts'
import { openSnapshotKeyring } from '../system/snapshot-keyring.ts'
import type { Restored } from '../system/system.ts'
import { RestoredAudit } from './restored-audit.ts'
import { isWho, LACKS, OTHER_OF_SET, ownWho, RestoredCluster } from './restored-cluster.ts'
import { isOfReplication, keptReplication, REPLICATION_LOST, replicationDigest } from './restored-replication.ts'
import { isOfSeal, RestoredSeal } from './restored-seal.ts'
import { sealedMeanwhile, type UnsealController } from './unseal-controller.ts'

/** The operations that a store needs for a restore; a store in memory has none. */
export type Restorable = {
  readonly staging: Staging
  /** The position of the store as it is. */
  position(): Promise<Position>
  /** Makes what was staged durable and checks it, without holding up this thread. @throws SnapshotDamaged */
  check(check: StagedCheck): Promise<void>
  /** Puts the staged store in the place of the present one, which no thread may have open. */
  adopt(): Promise<void>
}

/** The parts that a restore works with. */
export type RestoreParts = {
  readonly restorable: Restorable | undefined
  /** The store as it is. */
  readonly store: Pick<Store, 'get' | 'scan' | 'list' | 'histories'>
  readonly seal: Seal
  readonly opening: Pick<UnsealController, 'replaceStore'>
  readonly barrier: Barrier
  readonly world: World
  /** The devices at the time of the call; the server must be open. */
  readonly auditDevices: () => readonly StoredDevice[]
  readonly log: Log
}

/** Restores snapshots, one at a time. */
export class Restore {
  readonly #parts: RestoreParts
  #isRunning = false

  constructor(parts: RestoreParts) {
    this.#parts = parts
  }

  /**
   * Restores the snapshot in `stream`. `force` permits one of another cluster, and one that lacks what a filter kept
   * from the cluster that made it.
   * @throws Refusal if it is damaged or not of this cluster; the store is then as it was
   */
  async run(stream: ByteStream, force: boolean): Promise<Restored> {
    const { restorable, seal, opening } = this.#parts
    if (restorable === undefined) throw fail('not_offered', ['A store in memory cannot be restored'])
    if (this.#isRunning) throw fail('already_in_progress', ['A restore is under way'])
    this.#isRunning = true
    const pieces = stream[Symbol.asyncIterator]()
    const { openings } = seal
    try {
      const { replication, ...restored } = await this.#stage(
        { [Symbol.asyncIterator]: () => pieces },
        force,
        restorable,
      ).catch((cause) => {
        // An activation removes what was staged, so that nothing is found there.
        throw seal.openings === openings ? cause : sealedMeanwhile()
      })
      try {
        await opening.replaceStore(openings, this.#lookAtReplication(replication), () => restorable.adopt())
      } finally {
        await restorable.staging.drop()
      }
      for (const sentence of restored.warnings) this.#parts.log('warn', sentence)
      return { ...restored, isSealed: seal.status().sealed }
    } catch (cause) {
      const isUnfit = cause instanceof AutoSealFailed
      if (isUnfit || cause instanceof SnapshotDamaged || cause instanceof StorageCorrupt) {
        throw fail('snapshot_refused', [`${cause.message}. Nothing was changed`], cause)
      }
      throw cause
    } finally {
      this.#isRunning = false
      // The rest of the stream is thrown away at its source, so that nothing holds its way here open.
      pieces.return?.().catch(() => {})
    }
  }

  async #stage(
    stream: AsyncIterable<Uint8Array>,
    force: boolean,
    restorable: Restorable,
  ): Promise<Omit<Restored, 'isSealed'> & { readonly replication: string }> {
    const { seal, barrier, world } = this.#parts
    if (barrier.sealed) throw new Sealed('The server is sealed')
    const read = await readSnapshot(stream)
    const { header } = read
    const isOurs = header.clusterId === seal.status().cluster?.id
    if (!isOurs && !force) {
      throw fail('snapshot_refused', [`The snapshot is of the cluster ${header.clusterId}, not of this one: see force`])
    }
    let isSealChecked = false
    const audit = new RestoredAudit(this.#parts.auditDevices())
    const restoredSeal = new RestoredSeal()
    const restoredCluster = new RestoredCluster()
    let opened: Barrier | undefined
    const told: string[] = []
    // Before its records are read.
    const replication = await replicationDigest(this.#parts.store, barrier)
    await stageSnapshot(read, {
      staging: restorable.staging,
      position: await restorable.position(),
      historyId: world.random.bytes(HISTORY_ID_BYTES),
      nowMs: world.clock.nowMs(),
      ticks: world.ticks,
      openKeyring: (records) => {
        opened = this.#openKeyring(records, isOurs)
        isSealChecked = opened !== undefined
        return opened
      },
      inspect: (key, value) => {
        audit.see(key)
        restoredSeal.see(key, value)
        restoredCluster.see(key, value)
      },
      // Left out, since the snapshot cannot know how often its key has encrypted after it was made, here or elsewhere.
      isLeftOut: (key) => key === KEY_USE || isOfSeal(key) || isOfReplication(key) || isWho(key),
      added: async (leafKey) => {
        const lack = restoredCluster.lack(opened)
        if (lack !== undefined && !force) throw fail('snapshot_refused', [`${LACKS[lack]}: see force`])
        if (lack !== undefined) told.push(LACKS[lack])
        const entries = await restoredSeal.entries(seal, opened, world.random)
        // Other data have another keyring, which no secondary of this cluster could follow.
        if (opened === undefined || !restoredSeal.isOf(seal.rootKey)) {
          told.push(...(await this.#lostReplication()))
          return [...entries, restoredCluster.theirs()]
        }
        if (leafKey === undefined) throw new StorageCorrupt('The snapshot has a keyring and no leaf key')
        const restored = { barrier: opened, leafKey, histories: header.histories }
        const kept = await keptReplication(this.#parts.store, barrier, restored)
        // What was taken back meanwhile would pass by a look at the end alone.
        if (kept.digest !== replication) throw changedMeanwhile()
        if (!isOurs) told.push(OTHER_OF_SET)
        return [...entries, await ownWho(this.#parts.store, barrier, opened), ...kept.entries]
      },
      check: (staged) => restorable.check(staged),
    })
    const warnings = [...audit.warnings(), ...told]
    return { entries: header.entries, index: header.index, isSealChecked, warnings, replication }
  }

  /**
   * Throws a refusal if the records of replication are others than when the snapshot was begun. The first look is made
   * on the open server. Another one goes on with the keys of that, since the server is closed by then.
   */
  #lookAtReplication(digest: string): () => Promise<void> {
    let present: Barrier | undefined
    return async () => {
      const { store, barrier, world } = this.#parts
      const isFirst = present === undefined
      present ??= new Barrier(world.random, barrier.keyring)
      const now = await replicationDigest(store, present).catch((cause) => {
        // There may be a record under a data key that was added meanwhile.
        if (isFirst || !(cause instanceof StorageCorrupt)) throw cause
        return undefined
      })
      if (now === digest) return
      throw changedMeanwhile()
    }
  }

  async #lostReplication(): Promise<readonly string[]> {
    const isInSet = (await this.#parts.store.list('root/core/replication/', { limit: 1 })).length > 0
    return isInSet ? [REPLICATION_LOST] : []
  }

  #openKeyring(records: ReadonlyMap<string, Buffer>, saysOurs: boolean): Barrier | undefined {
    const { seal, barrier, world } = this.#parts
    return openSnapshotKeyring({
      records,
      ours: { rootKey: seal.rootKey, keyring: barrier.keyring },
      saysOurs,
      autoKey: (keyId) => seal.autoKey(keyId),
      random: world.random,
    })
  }
}

const changedMeanwhile = (): Refusal =>
  fail('changed_meanwhile', ['Replication was changed while the snapshot was on its way: send it again'])
