// Checks of the tree and its reindex, for operators and for links, and what is remembered of them. One runs at a time.
//
//   root/core/tree-checks   of class ignored: JSON, {"format":1,"buckets":N,"entries":N,…} (TREE_HEALTH)
//
// What a secondary follows is repaired from its primary: a wrong entry gets the leaf of its bytes, so that a comparison
// sees that they differ. What this cluster alone has cannot be repaired by anybody here. There an entry gets a new leaf
// only if its value opens, so that damage is never passed on to secondaries as if it had been written.
import type { NodeRole } from '../api/node-role.ts'
import type { Log } from '../lib/log.ts'
import { count, nullable } from '../lib/member-kinds.ts'
import type { Clock } from '../lib/world.ts'
import type { Barrier } from '../storage/barrier.ts'
import { isBehindBarrier, SENT_CLASSES } from '../storage/classes.ts'
import {
  type NamedKeys,
  type Reindexed,
  type ReindexOptions,
  ROOT_NAMESPACE,
  type ScrubProgress,
  type Store,
  type StoredEntry,
  systemScope,
  type TreeReport,
} from '../storage/contract.ts'
import { isClosed, StorageCorrupt } from '../storage/errors.ts'
import type { Invalidation } from '../storage/invalidation.ts'
import type { ReplicationFamily } from '../storage/peer-log.ts'
import type { SealedStorage, View } from '../storage/sealed-storage.ts'
import { type RecordOf, storedRecord } from '../storage/stored-record.ts'
import { refusalOfSet } from './replication-refusal.ts'

/** What checks found last, and when. */
export const TREE_HEALTH = storedRecord('What checks of the tree found', {
  /** Buckets and entries that were wrong and were not made right since. */
  buckets: count,
  entries: count,
  checkedAtMs: nullable(count),
  reindexedAtMs: nullable(count),
})
/** What checks found last, and when. */
export type TreeHealth = RecordOf<typeof TREE_HEALTH>

/** What status shows. */
export type TreeTold = TreeHealth & {
  /** A reindex that is running. */
  readonly reindex: ScrubProgress | undefined
}

/** How often things were checked and found since the start; for metrics. */
export type TreeCounts = { readonly checks: number; readonly found: number }

/** What an operator asks of a reindex. */
export type WantedReindex = Pick<ReindexOptions, 'mode' | 'skipFlush'>

/** A check, and what follows from it by itself. */
export type Checked = { readonly report: TreeReport; readonly atMs: number; readonly isMended: boolean }

/** The parts of the checks. */
export type TreeChecksParts = {
  readonly storage: Pick<SealedStorage, 'view' | 'barrier'>
  readonly invalidation: Pick<Invalidation, 'register'>
  /** The store, on the thread that writes it. */
  readonly store: Pick<Store, 'checkTree' | 'reindex'> | undefined
  readonly clock: Clock
  readonly log: Log
  readonly nodeRole: () => NodeRole
  /** Has a link compare; undefined where there are none. */
  readonly compareAgain: ((family: ReplicationFamily) => Promise<void>) | undefined
}

const NAME = 'tree-checks'
const UNCHECKED: TreeHealth = { buckets: 0, entries: 0, checkedAtMs: null, reindexedAtMs: null }
/** Checks that nobody asked for come no sooner one after the other. */
const SUSPECT_EVERY_MS = 10 * 60_000

/** The checks of one server. But for the constructor all is for the thread that writes. */
export class TreeChecks {
  readonly #parts: TreeChecksParts
  readonly #view: View
  #health: TreeHealth | undefined
  /** Settles when what runs now has ended. */
  #running: Promise<unknown> | undefined
  #reindex: ScrubProgress | undefined
  #counts: TreeCounts = { checks: 0, found: 0 }
  #suspectedAtMs = Number.NEGATIVE_INFINITY

  constructor(parts: TreeChecksParts) {
    this.#parts = parts
    this.#view = parts.storage.view(systemScope, `${ROOT_NAMESPACE}/core/`)
    const forget = (): void => {
      this.#health = undefined
    }
    parts.invalidation.register({ prefix: `core/${NAME}`, changed: forget, reset: forget })
  }

  get counts(): TreeCounts {
    return this.#counts
  }

  /** For status, which is asked for when something is broken: what cannot be read counts as never checked. */
  async told(): Promise<TreeTold> {
    const known = await this.#known().catch(() => UNCHECKED)
    return { ...known, reindex: this.#reindex }
  }

  /**
   * Compares the tree with the entries. What is wrong on a secondary is mended behind it, with the help of its primary.
   * @throws Refusal while one runs
   */
  async check(): Promise<Checked> {
    const report = await this.#alone(() => this.#check())
    const isMended = isWrong(report) && this.#followed.length > 0
    if (isMended) this.#inBackground('What a check found could not be mended', () => this.#mend())
    return { report, atMs: this.#parts.clock.nowMs(), isMended }
  }

  /** Begins a reindex, and returns while it runs. @throws Refusal while one runs */
  begin(wanted: WantedReindex): void {
    this.#requireNone()
    this.#inBackground('The reindex has failed', async () => {
      await this.#make(wanted)
      await this.#compare()
    })
  }

  /** For a link that compared, and sees another root than its primary still. Waits for what runs. */
  async mend(): Promise<void> {
    await this.settled()
    await this.#alone(() => this.#make({ mode: 'values', skipFlush: false }))
  }

  /** Resolves when nothing runs. */
  async settled(): Promise<void> {
    while (this.#running !== undefined) await this.#running.catch(() => {})
  }

  /** A secondary compared, and sees another root still: checks soon, unless that was done a while ago. */
  suspect(): void {
    const nowMs = this.#parts.clock.monotonicMs()
    if (this.#running !== undefined || nowMs - this.#suspectedAtMs < SUSPECT_EVERY_MS) return
    this.#suspectedAtMs = nowMs
    this.#parts.log('warn', 'A secondary compares once more: the tree here is checked, it may be what is wrong')
    this.#inBackground('The tree could not be checked', () => this.#check())
  }

  get #store(): NonNullable<TreeChecksParts['store']> {
    if (this.#parts.store === undefined) throw new Error('Only the thread that writes checks the tree')
    return this.#parts.store
  }

  /** Families whose data come from a primary. */
  get #followed(): readonly ReplicationFamily[] {
    const { dr, performance } = this.#parts.nodeRole()
    const isFollowed = (state: NodeRole['dr']): boolean => state === 'secondary' || state === 'bootstrapping'
    return [
      ...(isFollowed(dr) ? (['dr'] as const) : []),
      ...(isFollowed(performance) ? (['performance'] as const) : []),
    ]
  }

  #requireNone(): void {
    if (this.#running === undefined) return
    const message = 'The tree is being checked or made anew already: the status shows how far a reindex is'
    throw refusalOfSet({ status: 400, message })
  }

  async #alone<T>(work: () => Promise<T>): Promise<T> {
    this.#requireNone()
    const running = work()
    this.#running = running
    try {
      return await running
    } finally {
      this.#running = undefined
      this.#reindex = undefined
    }
  }

  #inBackground(failure: string, work: () => Promise<unknown>): void {
    this.#alone(work).catch((cause: unknown) => {
      if (isClosed(cause)) this.#parts.log('info', `${failure}: the server was sealed or stopped. Begin it again`)
      else this.#parts.log('error', failure, { cause: cause instanceof Error ? cause.message : 'unknown' })
    })
  }

  async #check(): Promise<TreeReport> {
    const { log, clock } = this.#parts
    let report: TreeReport
    try {
      report = await this.#store.checkTree()
    } catch (cause) {
      // A row that cannot be read at all.
      if (cause instanceof StorageCorrupt) await this.#found({ entries: 1, checkedAtMs: now(clock) }, true)
      throw cause
    }
    const buckets = bucketsOf(report)
    const { wrongEntries } = report
    const fields = { buckets, ...shown(wrongEntries) }
    if (isWrong(report)) log('error', 'The check of the tree has found damage', fields)
    else log('info', 'The check of the tree has found no damage', { looked_at: report.entries })
    const found = { buckets, entries: wrongEntries.count, checkedAtMs: now(clock) }
    await this.#found(found, isWrong(report))
    return report
  }

  async #mend(): Promise<void> {
    await this.#make({ mode: 'values', skipFlush: false })
    await this.#compare()
  }

  async #make({ mode, skipFlush }: WantedReindex): Promise<void> {
    const { clock, log } = this.#parts
    this.#reindex = { stage: 'building', done: 0, total: 0 }
    const done = await this.#store.reindex({
      mode,
      skipFlush,
      mayRepair: (entry) => this.#mayRepair(entry),
      onProgress: (progress) => {
        this.#reindex = progress
      },
    })
    tell(log, done)
    const known = await this.#known()
    const looked = mode === 'leaves' ? { entries: known.entries } : { checkedAtMs: now(clock), entries: 0 }
    const entries = Math.max(looked.entries, done.left.count)
    const isFound = done.buckets + done.repaired.count + done.left.count > 0
    await this.#found({ ...looked, buckets: 0, entries, reindexedAtMs: now(clock) }, isFound, mode !== 'leaves')
  }

  /** Has the links look for what differs from the primary, since what is here may have been wrong. */
  async #compare(): Promise<void> {
    for (const family of this.#followed) await this.#parts.compareAgain?.(family)
  }

  /** Whether the entry may get the leaf of its bytes. */
  #mayRepair(entry: StoredEntry): boolean {
    const isFetched = this.#followed.some((family) => SENT_CLASSES[family].has(entry.class))
    return isFetched || opens(this.#parts.storage.barrier, entry)
  }

  async #known(): Promise<TreeHealth> {
    if (this.#health === undefined) {
      const stored = await this.#view.get(NAME)
      this.#health = stored === undefined ? UNCHECKED : TREE_HEALTH.decode(stored)
    }
    return this.#health
  }

  /** Remembers what was found. That it cannot be stored does not undo it. */
  async #found(found: Partial<TreeHealth>, isFound: boolean, isCheck = true): Promise<void> {
    const { checks, found: before } = this.#counts
    this.#counts = { checks: checks + (isCheck ? 1 : 0), found: before + (isFound ? 1 : 0) }
    const health = { ...(await this.#known()), ...found }
    try {
      await this.#view.transaction(async (tx) => tx.put(NAME, TREE_HEALTH.encode(health)))
    } catch (cause) {
      const message = cause instanceof Error ? cause.message : 'unknown'
      this.#parts.log('warn', 'What the check of the tree found is not remembered after a restart', { cause: message })
    }
    this.#health = health
  }
}

/** Whether the check found something. */
const isWrong = (report: TreeReport): boolean => bucketsOf(report) + report.wrongEntries.count > 0

/** Wrong buckets, and pages whose hash alone is wrong. */
function bucketsOf({ classes }: TreeReport): number {
  const pages = Object.values(classes).flatMap(({ wrongPages }) => wrongPages)
  const roots = Object.values(classes).filter(({ isRootWrong }) => isRootWrong)
  return roots.length + pages.reduce((sum, { isHashWrong, places }) => sum + places.length + (isHashWrong ? 1 : 0), 0)
}

const shown = ({ count: entries, named }: NamedKeys) => ({ entries, named: named.join(' ') })

function tell(log: Log, { buckets, repaired, left, entries }: Reindexed): void {
  log('info', 'The tree was made anew', { looked_at: entries, buckets })
  if (repaired.count > 0) {
    log('warn', 'Entries got a new leaf: what they hold is not what was written with the old one', shown(repaired))
  }
  if (left.count > 0) {
    const what = 'Entries are damaged and keep their leaf: nothing here can repair them'
    log('error', `${what}, and a secondary may have them as they were written`, shown(left))
  }
}

/** What does not open was not written so. What lies before the barrier cannot be told. */
function opens(barrier: Barrier, { key, value }: StoredEntry): boolean {
  if (!isBehindBarrier(key)) return false
  try {
    barrier.open(key, value).fill(0)
    return true
  } catch (cause) {
    if (cause instanceof StorageCorrupt) return false
    throw cause
  }
}

const now = (clock: Clock): number => Math.floor(clock.nowMs())
