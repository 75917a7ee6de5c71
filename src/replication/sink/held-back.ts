// Entries that would show a mount or a namespace before all of it is here: they are held back while two trees are
// compared, and come last (Interface 2.5). They are kept in memory alone, since a comparison begins anew after a crash.
import { namespaceEntryOf } from '../../storage/classes.ts'
import type { AdoptedChange, AdoptOptions, ChangeOperation, StoredEntry } from '../../storage/contract.ts'

type State = NonNullable<AdoptOptions['state']>
type Taken = { readonly changes: readonly AdoptedChange[]; readonly state: State | undefined }

/** What one secondary holds back. */
export class HeldBack {
  readonly #isThere: (key: string) => Promise<boolean>
  readonly #entries = new Map<string, StoredEntry>()

  /** `isThere` tells whether the store has an entry: what can be seen already stays so. */
  constructor(isThere: (key: string) => Promise<boolean>) {
    this.#isThere = isThere
  }

  /** Another comparison begins: what is missing is found to be so again. */
  clear(): void {
    this.#entries.clear()
  }

  /** What this cluster is not to have any more never comes to be seen. */
  keepOnly(isReached: (key: string) => boolean): void {
    for (const key of this.#entries.keys()) if (!isReached(key)) this.#entries.delete(key)
  }

  /** What came, without what is held back of it. */
  async without({ changes, state }: Taken): Promise<Taken> {
    const left: AdoptedChange[] = []
    for (const change of changes) {
      const operations: ChangeOperation[] = []
      for (const operation of change.operations) if (!(await this.#holds(operation))) operations.push(operation)
      left.push({ ...change, operations })
    }
    if (state === undefined) return { changes: left, state }
    const entries: StoredEntry[] = []
    for (const entry of state.entries) if (!(await this.#keeps(entry))) entries.push(entry)
    for (const key of state.gone) this.#entries.delete(key)
    return { changes: left, state: { ...state, entries } }
  }

  /** All that is held back, as it is now. */
  get entries(): readonly StoredEntry[] {
    return [...this.#entries.values()]
  }

  async #holds({ kind, key, class: of, newLeaf: leaf, value }: ChangeOperation): Promise<boolean> {
    return kind === 'delete' ? this.#entries.delete(key) : this.#keeps({ key, class: of, leaf, value })
  }

  async #keeps(entry: StoredEntry): Promise<boolean> {
    const { key } = entry
    if (!showsSomething(key) || (!this.#entries.has(key) && (await this.#isThere(key)))) return false
    // What came is a view of a message that has long been read when this is stored.
    this.#entries.set(key, { ...entry, leaf: Buffer.from(entry.leaf), value: Buffer.from(entry.value) })
    return true
  }
}

/** True for the entries of mounts and namespaces. */
function showsSomething(key: string): boolean {
  const [, folder, of] = key.split('/', 3)
  return (folder === 'core' && of === 'mounts') || namespaceEntryOf(key) !== undefined
}
