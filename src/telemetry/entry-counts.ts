// How many tokens, leases and entities there are, without asking the store each time: counted once after unseal, from a
// view that stands still, and from then on by what commits add and remove.
import type { Change, Snapshot, Store } from '../storage/contract.ts'
import { add, CELL, type CellRow } from './cells.ts'

/** Keys below these are what is counted; each has its number. */
const FOLDERS = [
  { prefix: 'root/sys/token/id/', cell: CELL.tokens },
  { prefix: 'root/sys/token/expiry/', cell: CELL.leases },
  { prefix: 'root/sys/identity/entity/', cell: CELL.entities },
] as const
const PAGE = 1_000
/** Between pages, so that a count of millions delays nobody. */
const PAUSE_MS = 2

export class EntryCounts {
  readonly #store: Store
  readonly #row: CellRow
  readonly #sleep: (ms: number) => Promise<void>
  /** What commits changed since the view was opened, while it is being counted: by index and folder. */
  #changes: { readonly index: number; readonly differences: readonly number[] }[] | undefined
  #isCounted = false
  #isOn = false
  /** Grows with each start and stop: a count that is older ends. */
  #turn = 0

  constructor(store: Store, row: CellRow, sleep: (ms: number) => Promise<void>) {
    this.#store = store
    this.#row = row
    this.#sleep = sleep
    store.onCommit((change) => this.#committed(change))
  }

  /** After unseal; nothing happens where it was started. Ends by itself when the counts are there; never throws. */
  async start(): Promise<void> {
    if (this.#isOn) return
    this.#isOn = true
    const turn = ++this.#turn
    this.#changes = []
    try {
      const snapshot = await this.#store.snapshot()
      try {
        await this.#count(snapshot, () => turn === this.#turn)
      } finally {
        await snapshot.close()
      }
    } catch {
      // The store was closed or put away: the next unseal counts anew.
      if (turn === this.#turn) this.stop()
    }
  }

  /** Before seal: nothing is known of the store until the next unseal. */
  stop(): void {
    this.#turn++
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

/** How many more there are in each folder. What had no leaf was not there. */
function differencesOf({ operations }: Change): number[] {
  const differences = FOLDERS.map(() => 0)
  for (const { kind, key, oldLeaf } of operations) {
    const at = FOLDERS.findIndex(({ prefix }) => key.startsWith(prefix))
    if (at === -1 || (kind === 'put') !== (oldLeaf.length === 0)) continue
    differences[at] = (differences[at] as number) + (kind === 'put' ? 1 : -1)
  }
  return differences
}
