// Checks the log from its first record to its last. Each record must be whole and follow the one before. Each of its
// operations must replace what earlier records left.
import type { DatabaseSync } from 'node:sqlite'
import type { SavedTree } from '../backend.ts'
import { classify } from '../classes.ts'
import type { Change, ChangeOperation, LogRecord } from '../contract.ts'
import { StorageCorrupt, StorageRefused } from '../errors.ts'
import { chainOf, decodeChange, nextChain } from '../log/change-record.ts'
import { leafOf, NO_LEAF } from '../log/leaf.ts'
import { TREE_VERSION, type Tree } from '../log/tree.ts'
import type { History, Origin, Position } from '../peer-log.ts'
import type { LatestOperations } from '../sqlite/latest-operations.ts'
import { bytesOf, numberOf } from '../sqlite/sqlite-columns.ts'
import type { Found, VerifyKeys } from '../verify-keys.ts'

/** What the check of the log needs. */
export type LogVerifierParts = {
  readonly position: Position
  readonly histories: readonly History[]
  /** Index of the oldest record that must be there; undefined if it was not noted. */
  readonly firstKept: number | undefined
  readonly saved: SavedTree | undefined
  /** If undefined, leaves are not computed and the tree is not brought up to date. */
  readonly keys: VerifyKeys | undefined
  /** Takes up what the log says last about each key. */
  readonly latest: LatestOperations
  /** The saved tree; records after the save are applied to it. */
  readonly tree: Tree
  readonly found: Found
}

/** Reads the table `log` once. Its public members are final after `run`. */
export class LogVerifier {
  /** Index of the oldest record; one more than the last index if there is none. */
  firstIndex: number
  /** True if the tree has taken up every record since it was saved, or since the beginning. */
  canJudgeTree = true
  /** Index of the last record that is missing or damaged, 0 for none. It may have written any entry. */
  lastLost = 0
  readonly #parts: LogVerifierParts
  /** The last of each family. */
  readonly #origins = new Map<Origin['family'], Origin>()
  /** The chain is undefined behind a record that could not be read. */
  #previous: { readonly index: number; readonly chain: Buffer | undefined } | undefined

  constructor(parts: LogVerifierParts) {
    this.#parts = parts
    this.firstIndex = parts.position.index + 1
  }

  /**
   * True if no record is missing that can have written an entry after the record `index`. Without an index: true if no
   * record is missing at all.
   */
  knowsLatest(index: number | undefined): boolean {
    return index === undefined ? this.firstIndex === 1 && this.lastLost === 0 : this.lastLost < index
  }

  /** Checks all records, and that the log ends where `meta` says. Calls `onStep` after each record. */
  run(database: DatabaseSync, onStep: () => void): void {
    const rows = database.prepare('SELECT idx, record FROM log ORDER BY idx').iterate()
    for (const row of rows) {
      this.#verifyRecord({ index: numberOf(row.idx), record: bytesOf(row.record) })
      onStep()
    }
    this.#verifyEnd()
  }

  #verifyRecord({ index, record }: LogRecord): void {
    const before = this.#verifyPlace(index, record)
    const change = this.#decoded(index, record)
    const chain = this.#previous?.chain
    this.#previous = { index, chain: change?.chain }
    if (change === undefined) {
      this.#lost(index)
      return
    }
    if (chain !== undefined && !nextChain(chain, record).equals(change.chain)) {
      this.#parts.found(`Log record ${index} does not continue the chain of log record ${before}`)
    }
    const { saved, keys, tree, position } = this.#parts
    if (index === saved?.index && !saved.chain.equals(change.chain)) {
      this.#parts.found(`Log record ${index} is not the one that the saved tree stands for`)
    }
    for (const operation of change.operations) this.#verifyOperation(index, operation)
    if (keys !== undefined && index > (saved?.index ?? 0)) tree.apply(change.operations, keys.bucketKey)
    this.#verifyNoted(change)
    if (change.epoch > position.epoch) {
      this.#parts.found(`Log record ${index} has epoch ${change.epoch}, the store is in epoch ${position.epoch}`)
    }
  }

  /** Checks that no record is missing before this one. Returns the index that it must have been linked to. */
  #verifyPlace(index: number, record: Buffer): number {
    if (this.#previous === undefined) {
      this.#verifyBeginning(index, record)
      return index - 1
    }
    const before = this.#previous.index
    const begun = this.#parts.histories.find(({ startIndex }) => startIndex === index)
    // The first of a history stands above its parent, and its chain begins with the history.
    if (begun?.parent !== undefined) {
      const { parent } = begun
      if (parent.index > before) this.#missing(before + 1, parent.index)
      else if (parent.index < before || this.#previous.chain?.equals(parent.chain) === false) {
        this.#parts.found(`Log record ${before} is not the one that the history of log record ${index} goes on from`)
      }
      this.#previous = { index: before, chain: begun.id }
    } else if (index !== before + 1) {
      this.#missing(before + 1, index - 1)
      this.#previous = { index: index - 1, chain: undefined }
    }
    return before
  }

  #verifyBeginning(index: number, record: Buffer): void {
    const { histories, firstKept, saved, found } = this.#parts
    this.firstIndex = index
    const begun = histories.find(({ id, startIndex }) => {
      return (startIndex === index || startIndex === 1) && nextChain(id, record).equals(chainOf(record))
    })
    this.#previous = { index: index - 1, chain: begun?.id }
    // A history that began before any record stands above the place that was noted for the first one.
    if (firstKept === index || (begun?.parent !== undefined && firstKept === begun.parent.index + 1)) return
    if (firstKept === undefined && (begun !== undefined || (saved !== undefined && saved.index >= index - 1))) return
    found(
      firstKept === undefined
        ? `The log begins with record ${index}: the records before it are missing, and no saved tree stands for them`
        : `The log begins with record ${index}: it was kept from record ${firstKept} on`,
    )
    this.#lost(index)
  }

  #missing(first: number, last: number): void {
    const { found } = this.#parts
    found(first === last ? `Log record ${first} is missing` : `Log records ${first} to ${last} are missing`)
    this.#lost(last)
  }

  /** Checks what `meta` notes of records of a kind: it may stand above the last one here, and not below. */
  #verifyNoted({ index, operations, beginsHistory, origins }: Change): void {
    const { position, histories, found } = this.#parts
    for (const [storageClass, noted] of [
      ['replicated', position.lastReplicatedIndex],
      ['local', position.lastLocalIndex],
    ] as const) {
      if (index <= noted || !operations.some((operation) => operation.class === storageClass)) continue
      found(`Log record ${index} has ${storageClass} operations, and the store says that ${noted} was the last such`)
    }
    if (beginsHistory !== undefined) {
      const isListed = histories.some(({ id, startIndex }) => startIndex === index && id.equals(beginsHistory))
      if (!isListed) found(`Log record ${index} begins a history that is not in the list`)
    }
    for (const origin of origins) this.#origins.set(origin.family, origin)
  }

  /** Notes that a record is missing or damaged, and what can no longer be told. */
  #lost(index: number): void {
    this.lastLost = Math.max(this.lastLost, index)
    if (index > (this.#parts.saved?.index ?? 0)) this.canJudgeTree = false
  }

  #decoded(index: number, record: Buffer): Change | undefined {
    try {
      const change = decodeChange(record, `log record ${index}`)
      if (change.index === index) return change
      this.#parts.found(`Log record ${index} says that it is number ${change.index}`)
    } catch (error) {
      if (!(error instanceof StorageCorrupt)) throw error
      this.#parts.found(error.message)
    }
    return undefined
  }

  #verifyOperation(index: number, operation: ChangeOperation): void {
    const { latest, found, keys } = this.#parts
    const { kind, class: storageClass, scope, key, oldLeaf, newLeaf, value } = operation
    const where = `Log record ${index}, entry ${key}:`
    if (!isOfItsClass(operation)) found(`${where} it cannot be of the class ${storageClass} and mount ${scope.mount}`)
    const before = latest.get(key)
    if (this.knowsLatest(before?.index) && !oldLeaf.equals(before?.leaf ?? NO_LEAF)) {
      found(`${where} its old leaf is not the one that record ${before?.index ?? 0} left`)
    }
    if (keys !== undefined && kind === 'put' && storageClass !== 'ignored') {
      const leaf = leafOf(keys.leafKey, storageClass, scope.mount, key, value)
      if (!leaf.equals(newLeaf)) found(`${where} its new leaf is not that of its value`)
    }
    latest.put(index, operation)
  }

  #verifyEnd(): void {
    const { position, found, saved } = this.#parts
    const isNew = this.#previous === undefined && position.chain.equals(position.historyId)
    const last = this.#previous ?? { index: isNew ? position.index : 0, chain: position.historyId }
    if (last.index !== position.index) {
      found(`The log ends with record ${last.index}, the store is at index ${position.index}`)
      this.#lost(position.index)
    } else if (last.chain !== undefined && !last.chain.equals(position.chain)) {
      found(`The chain of the last log record, ${last.index}, is not the one that the store names`)
    }
    for (const { family, ...origin } of this.#origins.values()) {
      const noted = position.origins.find((each) => each.family === family)
      if (noted?.index === origin.index && noted.historyId.equals(origin.historyId) && noted.chain.equals(origin.chain))
        continue
      // The place moves on without a record where a change of the peer comes to nothing here.
      if (noted !== undefined && noted.index > origin.index) continue
      found(`The last origin of the family ${family} in the log is not the one that the store names`)
    }
    if (saved?.index === position.index && !saved.chain.equals(position.chain)) {
      found(`The tree was saved behind another record ${position.index} than the last one`)
    }
    const hasOldTree = saved !== undefined && saved.version !== TREE_VERSION
    if (hasOldTree || (saved === undefined && this.firstIndex > 1)) this.canJudgeTree = false
  }
}

function isOfItsClass({ scope, key, class: storageClass }: ChangeOperation): boolean {
  try {
    return classify(scope, key) === storageClass
  } catch (error) {
    if (error instanceof StorageRefused) return false
    throw error
  }
}
