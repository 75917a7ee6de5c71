// What is checked of a peer's changes before anything of them is written, and what they become here. Nothing here
// reads or writes. A fault of the changes is a PeerFault, which becomes an outcome of `Store.adopt`, never an error of
// this node.
import { strict as assert } from 'node:assert'
import type { KeyObject } from 'node:crypto'
import { classify, requireValue, SENT_CLASSES, scopeOfKey } from '../classes.ts'
import type { Adopted, AdoptedChange, AdoptOptions, ChangeOperation, EntryHead, StoredEntry } from '../contract.ts'
import { MAX_TRANSACTION_BYTES } from '../contract.ts'
import { StorageRefused, UnknownPrefix } from '../errors.ts'
import { CHAIN_BYTES, NO_ORIGINS } from '../log/change-record.ts'
import { faultOfKnown } from '../log/histories.ts'
import { leafOf, NO_LEAF } from '../log/leaf.ts'
import { laterOrigins } from '../log/move.ts'
import type { Origin, ReplicationFamily } from '../peer-log.ts'
import { type Heads, moveHeads } from './heads.ts'
import type { OpenTransaction } from './open-transaction.ts'

const NO_VALUE = Buffer.alloc(0)

/** A change that cannot be applied here. It is caught below the contract. */
export class PeerFault extends Error {
  override name = 'PeerFault'
  readonly outcome: Adopted
  constructor(outcome: Exclude<Adopted, { readonly kind: 'adopted' }>) {
    super(outcome.sentence)
    this.outcome = outcome
  }
}

type Gap = Extract<Adopted, { readonly kind: 'gap' }>
/** The changes that are new here, and what is known of the peers' logs behind them. No origins: nothing moves. */
type NewChanges = {
  readonly kind: 'new'
  readonly changes: readonly AdoptedChange[]
  readonly origins: readonly Origin[]
}

/** Leaves out what was applied already. Tells a gap if something may be missing between that and the changes. */
export function newChanges(
  changes: readonly AdoptedChange[],
  options: AdoptOptions,
  applied: readonly Origin[],
): NewChanges | Gap {
  const { mode, after, at } = options
  const { family } = after
  const last = applied.find((origin) => origin.family === family)
  const origins = changes.map((change) => change.origins.find((origin) => origin.family === family))
  const wrong = changes.findIndex(
    (change, number) => origins[number] === undefined || !areOrigins(change.origins) || !isTime(change.committedAtMs),
  )
  if (wrong !== -1 || (at !== undefined && (at.family !== family || !areOrigins([at])))) {
    return gap('A change does not say where it stands in the log of the peer')
  }
  const named = [...changes.flatMap((change) => change.origins), ...(at === undefined ? [] : [at])]
  const fault = named.map(faultOfKnown).find((each) => each !== undefined)
  if (fault !== undefined) return gap(`The log of the peer is damaged: ${fault}`)
  const places = origins.filter((origin) => origin !== undefined)
  if (!areInOrder(places)) return gap('The changes are not in the order of the log of the peer')
  const known = last === undefined ? -1 : places.findLastIndex((place) => isUpTo(place, last))
  const seen = places[known]
  if (seen !== undefined && last !== undefined && seen.index === last.index && !seen.chain.equals(last.chain)) {
    return gap(`Change ${seen.index} of the peer is not the one that was applied here under this index`)
  }
  if (seen === undefined && !isConnected(after, last, mode)) {
    return gap(`The changes follow index ${after.index} of the peer, here ${last?.index ?? 'nothing'} was applied last`)
  }
  const fresh = changes.slice(known + 1)
  const isFurther = at !== undefined && (mode === 'anew' || !(last !== undefined && isUpTo(at, last)))
  const behind = fresh.reduce((sum, change) => laterOrigins(sum, change.origins), NO_ORIGINS)
  const moved = isFurther ? laterOrigins(behind, [at]) : behind
  return faultOfState(options, laterOrigins(applied, moved)) ?? { kind: 'new', changes: fresh, origins: moved }
}

/** Entries of an earlier or later moment than that of the changes would undo some, or be undone by them. */
function faultOfState({ mode, after, at, state }: AdoptOptions, reached: readonly Origin[]): Gap | undefined {
  if (state === undefined) return undefined
  assert(mode !== 'follow', 'entries are taken while a copy or a comparison is running')
  const place = reached.find(({ family }) => family === after.family)
  const isThere = at !== undefined && place?.index === at.index && place.historyId.equals(at.historyId)
  return isThere ? undefined : gap('The entries are not as of the place that the changes lead to')
}

/** The change that makes the entries here those that the peer told of, behind `changes`; none if it told of none. */
export function changeOfState(
  changes: readonly AdoptedChange[],
  { state }: AdoptOptions,
  before: Heads,
  nowMs: number,
): AdoptedChange[] {
  if (state === undefined) return []
  const heads: Heads = new Map(before)
  for (const { operations } of changes) moveHeads(heads, operations)
  const puts = state.entries.filter((entry) => !isSame(entry, heads.get(entry.key))).map(putOf)
  const deletes = state.gone.flatMap((key) => deleteOf(key, heads.get(key)))
  return [{ origins: NO_ORIGINS, committedAtMs: Math.floor(nowMs), operations: [...puts, ...deletes] }]
}

/** The keys that the peer told of. */
export function keysOfState({ state }: AdoptOptions): string[] {
  return state === undefined ? [] : [...state.entries.map(({ key }) => key), ...state.gone]
}

/** A piece that comes again costs nothing. */
function isSame({ class: storageClass, leaf }: StoredEntry, head: EntryHead | undefined): boolean {
  return head !== undefined && head.class === storageClass && head.leaf.equals(leaf)
}

function putOf({ key, class: storageClass, leaf, value }: StoredEntry): ChangeOperation {
  const scope = scopeOfKey(key, storageClass)
  return { kind: 'put', class: storageClass, scope, key, oldLeaf: NO_LEAF, newLeaf: leaf, value }
}

function deleteOf(key: string, head: EntryHead | undefined): ChangeOperation[] {
  if (head === undefined) return []
  const { class: storageClass, leaf } = head
  const scope = scopeOfKey(key, storageClass)
  return [{ kind: 'delete', class: storageClass, scope, key, oldLeaf: leaf, newLeaf: NO_LEAF, value: NO_VALUE }]
}

/** True if nothing lies between what was applied last and the place behind which the changes begin. */
function isConnected(after: AdoptOptions['after'], last: Origin | undefined, mode: AdoptOptions['mode']): boolean {
  // A copy begins somewhere: what lay before it is in the copied entries.
  if (mode === 'anew') return true
  if (last === undefined) return mode === 'redo'
  return last.historyId.equals(after.historyId) && after.index <= last.index
}

function isUpTo(place: Origin, last: Origin): boolean {
  return place.historyId.equals(last.historyId) && place.index <= last.index
}

function areInOrder(places: readonly Origin[]): boolean {
  return places.every((place, at) => {
    const before = places[at - 1]
    return before === undefined || !place.historyId.equals(before.historyId) || place.index > before.index
  })
}

function areOrigins(origins: readonly Origin[]): boolean {
  const families = new Set(origins.map(({ family }) => family))
  return (
    families.size === origins.length &&
    origins.every(
      ({ historyId, index, chain }) =>
        historyId.length === CHAIN_BYTES && chain.length === CHAIN_BYTES && Number.isSafeInteger(index) && index > 0,
    )
  )
}

function isTime(ms: number): boolean {
  return Number.isSafeInteger(ms) && ms >= 0
}

function gap(sentence: string): Gap {
  return { kind: 'gap', sentence }
}

type Here = {
  /** The replication over which the changes come. */
  readonly family: ReplicationFamily
  /** Class and leaf of each key of the changes, as they are now. */
  readonly heads: Heads
  readonly leafKey: KeyObject
  readonly mode: AdoptOptions['mode']
}

/** The changes as they are recorded here. One that changes nothing here has no operations. @throws PeerFault */
export function adoptedChanges(changes: readonly AdoptedChange[], here: Here): AdoptedChange[] {
  const heads: Heads = new Map(here.heads)
  return changes.map((change) => {
    const operations = adoptedOperations(change.operations, { ...here, heads })
    moveHeads(heads, operations)
    return { ...change, operations }
  })
}

function adoptedOperations(operations: readonly ChangeOperation[], here: Here): ChangeOperation[] {
  const keys = new Set<string>()
  let bytes = 0
  const adopted: ChangeOperation[] = []
  for (const operation of operations) {
    const { kind, key, value } = operation
    if (keys.has(key)) throw diverged(key, 'A change has two operations for one key')
    keys.add(key)
    bytes += Buffer.byteLength(key) + value.length
    if (bytes > MAX_TRANSACTION_BYTES) throw diverged(key, `A change has more than ${MAX_TRANSACTION_BYTES} bytes`)
    requireAllowed(operation, here.family)
    requireLeaf(operation, here.leafKey)
    const head = here.heads.get(key)
    requireReplaced(operation, head, here.mode)
    if (kind === 'put' || head !== undefined) adopted.push({ ...operation, oldLeaf: head?.leaf ?? NO_LEAF })
  }
  return adopted
}

/** The key must allow the class that the change states, and the class must be one that goes over the family. */
function requireAllowed({ key, scope, class: storageClass, value }: ChangeOperation, family: ReplicationFamily): void {
  if (!SENT_CLASSES[family].has(storageClass)) {
    throw diverged(key, `Entries of class ${storageClass} are not taken from a peer over ${family} replication`)
  }
  try {
    const own = classify(scope, key)
    if (own !== storageClass) throw diverged(key, `The key is ${own} here, and ${storageClass} at the peer`)
    requireValue(key, value)
  } catch (cause) {
    if (cause instanceof UnknownPrefix) throw new PeerFault({ kind: 'unknown', key, sentence: cause.message })
    if (cause instanceof StorageRefused) throw diverged(key, cause.message)
    throw cause
  }
}

function requireLeaf({ kind, class: storageClass, scope, key, value, newLeaf }: ChangeOperation, leafKey: KeyObject) {
  const leaf = kind === 'put' ? leafOf(leafKey, storageClass, scope.mount, key, value) : NO_LEAF
  if (!leaf.equals(newLeaf)) throw diverged(key, 'The value is not the one that the leaf of the change is of')
  if (kind === 'delete' && value.length > 0) throw diverged(key, 'A delete carries a value')
}

function requireReplaced(operation: ChangeOperation, head: EntryHead | undefined, mode: AdoptOptions['mode']): void {
  const { key, oldLeaf } = operation
  if (head !== undefined && head.class !== operation.class) {
    throw diverged(key, `The entry is ${head.class} here, and ${operation.class} at the peer`)
  }
  if (mode === 'follow' && !oldLeaf.equals(head?.leaf ?? NO_LEAF)) {
    throw diverged(key, 'The entry here is not the one that the change replaced at the peer')
  }
}

function diverged(key: string, sentence: string): PeerFault {
  return new PeerFault({ kind: 'diverged', key, sentence })
}

/**
 * What is written beside the changes of a peer is this cluster's own, and not what they write: else it would depend on
 * the order what is stored. @throws PeerFault
 */
export function requireApart({ writes }: OpenTransaction, ofPeer: Heads): void {
  for (const { key, class: storageClass } of writes.values()) {
    assert(storageClass !== 'replicated', `${key} is ${storageClass} and was written beside the changes of a peer`)
    if (ofPeer.has(key)) throw diverged(key, 'The peer writes an entry that this cluster writes by itself')
  }
}
