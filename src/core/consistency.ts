// What clients see of the way from one cluster of a set to another. An answer to a write says how far the logs were
// (X-Vault-Index), and a later request may ask for as much. What a secondary had its primary write is awaited, so that
// whoever wrote it can read it. docs/consistency.md says what follows from it.
import type { KeyObject } from 'node:crypto'
import { fail } from '../api/errors.ts'
import type { NodeRole } from '../api/node-role.ts'
import type { Arrivals } from '../replication/consistency/arrivals.ts'
import type { IndexKey } from '../replication/consistency/index-key.ts'
import { decodeIndex, encodeIndex, type IndexValue } from '../replication/consistency/index-value.ts'
import { type Gap, gapsOf, isLost } from '../replication/consistency/lost-writes.ts'
import type { ConsistencySettings } from '../replication/consistency/settings.ts'
import type { ReadStore } from '../storage/contract.ts'
import { startAbove } from '../storage/log/histories.ts'
import type { Position } from '../storage/peer-log.ts'
import type { WireHeaders } from './exchange.ts'
import type { WrittenAt } from './handed.ts'
import { type PrimaryWrites, primaryWrites } from './primary-writes.ts'

/** The header of answers and requests. */
export const INDEX_HEADER = 'X-Vault-Index'
/** The header of requests that says what becomes of those which are too early. */
export const INCONSISTENT_HEADER = 'X-Vault-Inconsistent'
/** Clients keep two states at most: those of two clusters that neither contains the other's. */
const MAX_STATES = 2
const MAX_WISHES = 2
/** A cluster has one node, so there is none to forward to: such a request waits as any other. */
const WISHES = ['forward-active-node', 'fail', 'await-state']

/** What consistency needs of a thread. */
export type ConsistencyParts = {
  readonly settings: ConsistencySettings
  readonly key: IndexKey
  readonly arrivals: Arrivals
  readonly nodeRole: () => NodeRole
  /** The id of this cluster; '' before it has one. */
  readonly clusterId: () => string
  readonly store: Pick<ReadStore, 'histories'>
  /** The gaps in the numbers of the set, as they are stored. */
  readonly lostWrites: () => Promise<readonly Gap[]>
  /**
   * False while a secondary is compared with its primary. Its place in the log is that of the primary then, and what is
   * here is not: neither the changes up to there, nor what was lost before.
   */
  readonly isWhole: () => Promise<boolean>
  /**
   * The history that the log of a primary was in when it was demoted, until it applies something of another primary;
   * undefined on other clusters.
   */
  readonly ownHistory: () => Promise<Buffer | undefined>
  /** As the pipeline has it. */
  readonly catchUp: () => Promise<void> | undefined
}

type Role = 'primary' | 'secondary'

/** The headers and the waiting, on one thread. Nothing of it happens while performance replication is off. */
export class Consistency {
  readonly #parts: ConsistencyParts

  constructor(parts: ConsistencyParts) {
    this.#parts = parts
  }

  /** What this cluster is in the set whose clusters all serve clients; undefined: it is in none. */
  get role(): Role | undefined {
    const { performance } = this.#parts.nodeRole()
    return performance === 'primary' || performance === 'secondary' ? performance : undefined
  }

  /**
   * Waits until this thread shows the states that the headers name. Undefined if they name none.
   * @throws Refusal for headers without meaning, and for a state that is not here in time, or never will be
   */
  states({ index, inconsistent }: WireHeaders): Promise<void> | undefined {
    if ((index === undefined && inconsistent === undefined) || this.role === undefined) return undefined
    const ms = this.#waitOf(inconsistent)
    const texts = index?.split(',').map((text) => text.trim()) ?? []
    if (texts.length > MAX_STATES) throw invalid(INDEX_HEADER, `has more than ${MAX_STATES} values`)
    return texts.length === 0 ? undefined : this.#states(texts, ms)
  }

  /**
   * Waits until this cluster shows what the primary wrote, and notes what became of it. All threads show it then: each
   * catches up with the last commit before its next request.
   */
  async arrived(written: WrittenAt | undefined, noted = primaryWrites.getStore()): Promise<void> {
    const { arrivals, settings, lostWrites } = this.#parts
    if (written === undefined) return
    if (noted !== undefined) noted.index = Math.max(noted.index, written.index)
    if (settings.heldMs === 0) return
    // It is done, so nothing that goes wrong here may become a refusal.
    try {
      const isHere = await arrivals.wait((position) => this.#hasApplied(written.index, position), settings.heldMs)
      // Its number is reached as well where another cluster took over meanwhile, which never got it.
      if (isHere && !isLost(written.index, await lostWrites())) return
    } catch {
      // The store is closed.
    }
    if (noted !== undefined) noted.isLate = true
  }

  /** What is told of a write whose traces are still on their way. */
  get lateWarning(): string {
    const { heldMs } = this.#parts.settings
    return `The primary has done this, but it was not here after ${heldMs} ms: this cluster may not show it yet`
  }

  /** The value for an answer given at this position. A promise if something has to be read for it. */
  valueAt(position: Position, there: PrimaryWrites | undefined): string | undefined | Promise<string | undefined> {
    const cluster = this.#parts.clusterId()
    // The request may have been the one that ended replication.
    if (this.role === undefined || cluster === '') return undefined
    const encoded = (key: KeyObject | undefined, replicated: number): string | undefined =>
      key && encodeIndex(key, { cluster, local: position.index, replicated })
    const key = this.#parts.key.get()
    const shared = this.#sharedAt(position, there)
    if (!(key instanceof Promise) && typeof shared === 'number') return encoded(key, shared)
    // The write is done, so its answer does not fail for want of a header.
    return Promise.all([key, shared]).then(
      ([found, replicated]) => encoded(found, replicated),
      () => undefined,
    )
  }

  /** The last change of the set that this cluster shows at the position. */
  #sharedAt(position: Position, there: PrimaryWrites | undefined): number | Promise<number> {
    if (this.role === 'primary') return position.lastReplicatedIndex
    if (there !== undefined && there.index > 0) return Math.max(appliedIn(position), there.index)
    return this.#hasOwnLog(position).then((isOwn) => (isOwn ? position.lastReplicatedIndex : appliedIn(position)))
  }

  #waitOf(inconsistent: string | undefined): number {
    const { waitMs, awaitStateMs } = this.#parts.settings
    if (inconsistent === undefined) return waitMs
    const wishes = inconsistent.split(',').map((wish) => wish.trim())
    if (wishes.length > MAX_WISHES || !wishes.every((wish) => WISHES.includes(wish)))
      throw invalid(INCONSISTENT_HEADER, `must be one or two of ${WISHES.join(', ')}`)
    if (wishes.includes('await-state')) return awaitStateMs
    return wishes.includes('fail') ? 0 : waitMs
  }

  async #states(texts: readonly string[], ms: number): Promise<void> {
    const { key, arrivals, catchUp } = this.#parts
    const wanted = readAll(await key.get(), texts)
    await this.#refuseLost(wanted)
    if (!(await arrivals.wait((position) => this.#areThere(wanted, position), ms))) throw fail('state_missing', [])
    // Another cluster may have taken over meanwhile, whose numbers are higher.
    await this.#refuseLost(wanted)
    // The caches of this thread come after the store.
    await catchUp()
  }

  #areThere(wanted: readonly IndexValue[], position: Position): boolean | Promise<boolean> {
    const own = wanted.filter(({ cluster }) => cluster === this.#parts.clusterId())
    if (own.some(({ local }) => local > position.index)) return false
    const replicated = Math.max(...wanted.map((each) => each.replicated))
    return this.role === 'secondary' ? this.#hasApplied(replicated, position) : replicated <= position.index
  }

  /** True if this secondary shows the log of the set up to there. */
  async #hasApplied(index: number, position: Position): Promise<boolean> {
    const isHere = index <= appliedIn(position) || (index <= endOfOwn(position) && (await this.#hasOwnLog(position)))
    return isHere && this.#parts.isWhole()
  }

  /**
   * True on a former primary whose log is that of its set still. In another history the log is another one: of a
   * restore, or of a cluster that took the place of the former primary. The position is to be older than the look,
   * since the first thing that another primary sends ends it.
   */
  async #hasOwnLog({ historyId }: Position): Promise<boolean> {
    return (await this.#parts.ownHistory())?.equals(historyId) === true
  }

  /** @throws Refusal if one of the states is of a write that was lost */
  async #refuseLost(wanted: readonly IndexValue[]): Promise<void> {
    const { store, lostWrites } = this.#parts
    const own = gapsOf(await store.histories())
    const ofSet = await lostWrites()
    for (const { cluster, local, replicated } of wanted) {
      const isOwn = cluster === this.#parts.clusterId() && isLost(local, own)
      if (isOwn || isLost(replicated, ofSet)) throw fail('write_lost', [])
    }
  }
}

/** How far the log of the primary is applied here. */
const appliedIn = ({ origins }: Position): number => origins.find(({ family }) => family === 'performance')?.index ?? 0

/**
 * How far a former primary has the log of its set. It writes on for itself, and may come to the numbers that a promoted
 * cluster gives to changes of the set: those begin at a place above the last that it shared.
 */
const endOfOwn = ({ index, lastReplicatedIndex }: Position): number =>
  Math.min(index, startAbove(lastReplicatedIndex) - 1)

function readAll(key: KeyObject | undefined, texts: readonly string[]): readonly IndexValue[] {
  return texts.map((text) => {
    const value = key && decodeIndex(key, text)
    if (value === undefined) throw invalid(INDEX_HEADER, 'is not a value that a cluster of this set gave')
    return value
  })
}

const invalid = (header: string, what: string) => fail('consistency_header', [header, what])
