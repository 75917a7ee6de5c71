// Counts tokens, leases and entities without asking the store each time: once after unseal, from a snapshot, and from
// then on by what commits add and remove.
import type { Change, Snapshot, Store } from '../storage/contract.ts'
import { add, CELL, type CellRow } from './cells.ts'

/** Folders of the store whose keys are counted, each with its gauge. */
const FOLDERS = [
  { prefix: 'root/sys/token/id/', cell: CELL.tokens },
  { prefix: 'root/sys/token/expiry/', cell: CELL.leases },
  { prefix: 'root/sys/identity/entity/', cell: CELL.entities },
] as const
const PAGE = 1_000
/** Pause between pages, so that a count of millions delays no request. */
const PAUSE_MS = 2

/** The gauges of stored entries. Runs in the thread that writes, whose store reports every commit. */
export class EntryCounts {
  readonly #store: Store
  readonly #row: CellRow
  readonly #sleep: (ms: number) => Promise<void>
  /**
   * Changes by commits since the snapshot was opened, kept while it is being counted; one difference for each folder.
   */
  #changes: { readonly index: number; readonly differences: readonly number[] }[] | undefined
  #isCounted = false
  #isOn = false
  /** Incremented by each start and stop, so that a count begun before can tell that it is outdated. */
  #round = 0

  constructor(store: Store, row: CellRow, sleep: (ms: number) => Promise<void>) {
    this.#store = store
    this.#row = row
    this.#sleep = sleep
    store.onCommit((change) => this.#committed(change))
  }

  /**
   * Counts after unseal; does nothing if already started. Resolves when the gauges are set, or the count was stopped;
   * never rejects.
   */
  async start(): Promise<void> {
    if (this.#isOn) return
    this.#isOn = true
    const round = ++this.#round
    this.#changes = []
    try {
      const snapshot = await this.#store.snapshot()
      try {
        await this.#count(snapshot, () => round === this.#round)
      } finally {
        await snapshot.close()
      }
    } catch {
      // The store was closed or replaced: the next unseal counts anew.
      if (round === this.#round) this.stop()
    }
  }

  /** Sets the gauges to 0, called after seal: a sealed server does not tell what its store holds. */
  stop(): void {
    this.#round++
    this.#isOn = false
    this.#changes = undefined
    this.#isCounted = false
    for (const { cell } of FOLDERS) this.#row[cell] = 0
  }

  async #count(snapshot: Snapshot, isWanted: () => boolean): Promise<void> {
    const counts: number[] = []
    for (const { prefix } of FOLDERS) {
      let count = 0
      for (let after = ''; ; ) {
        if (!isWanted()) return
        const entries = await snapshot.scan(prefix, after, PAGE)
        count += entries.length
        if (entries.length < PAGE) break
        after = entries.at(-1)?.key ?? ''
        await this.#sleep(PAUSE_MS)
      }
      counts.push(count)
    }
    if (!isWanted()) return
    FOLDERS.forEach(({ cell }, at) => {
      this.#row[cell] = counts[at] as number
    })
    const changes = this.#changes ?? []
    this.#changes = undefined
    this.#isCounted = true
    for (const { index, differences } of changes) if (index > snapshot.index) this.#apply(differences)
  }

  #committed(change: Change): void {
    if (!this.#isCounted && this.#changes === undefined) return
    const differences = differencesOf(change)
    if (this.#isCounted) this.#apply(differences)
    else this.#changes?.push({ index: change.index, differences })
  }

  #apply(differences: readonly number[]): void {
    for (const [at, { cell }] of FOLDERS.entries()) add(this.#row, cell, differences[at] as number)
  }
}

/** Returns how many entries each folder gained. An empty old leaf means that the entry did not exist before. */
function differencesOf({ operations }: Change): number[] {
  const differences = FOLDERS.map(() => 0)
  for (const { kind, key, oldLeaf } of operations) {
    const at = FOLDERS.findIndex(({ prefix }) => key.startsWith(prefix))
    if (at === -1 || (kind === 'put') !== (oldLeaf.length === 0)) continue
    differences[at] = (differences[at] as number) + (kind === 'put' ? 1 : -1)
  }
  return differences
}
