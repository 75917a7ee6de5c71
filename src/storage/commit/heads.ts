import type { ChangeOperation, EntryHead } from '../contract.ts'

/** Class and leaf of each written key, as they will be after the changes so far; undefined: no entry. */
export type Heads = Map<string, EntryHead | undefined>

/** Makes the heads those behind a change. */
export function moveHeads(heads: Heads, operations: readonly ChangeOperation[]): void {
  for (const { kind, key, class: storageClass, newLeaf } of operations) {
    heads.set(key, kind === 'put' ? { class: storageClass, leaf: newLeaf } : undefined)
  }
}
