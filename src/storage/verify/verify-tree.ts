// Checks the saved tree, and whether the entries are those that saved tree and log stand for. This finds an entry that
// was removed or put back in an older state, even if the log no longer reaches back to its last write.
import type { DatabaseSync } from 'node:sqlite'
import type { SavedTree } from '../backend.ts'
import { classOfNumber } from '../log/leaf.ts'
import { type BucketAddress, bucketOf, faultOfPage, TREE_VERSION, type Tree, treeScopeOf } from '../log/tree.ts'
import type { Position } from '../peer-log.ts'
import { numberOf, textOf } from '../sqlite/sqlite-columns.ts'
import type { Found, VerifyKeys } from '../verify-keys.ts'

/** Most keys that a finding names of one bucket. */
const MAX_NAMED = 8

/** Reports faults of the saved tree, and returns it if it can be used. */
export function verifySavedTree(saved: SavedTree | undefined, position: Position, found: Found): SavedTree | undefined {
  if (saved === undefined) return undefined
  if (saved.index > position.index) {
    found(`The tree was saved at index ${saved.index}, the store is at ${position.index}: the end of the log is lost`)
    return undefined
  }
  const fault = saved.pages.find((page) => faultOfPage(page) !== undefined)
  // Pages of other scopes say nothing about this tree; that there was a save still vouches for the log's beginning.
  if (fault === undefined) return saved.version === TREE_VERSION ? saved : { ...saved, pages: [] }
  found(`The saved tree is damaged: page ${fault.page} of ${fault.class} ${fault.scope} ${faultOfPage(fault)}`)
  return undefined
}

/** Two trees that must be equal. */
export type TreesToCompare = {
  /** Made from the saved tree and the log. */
  readonly expected: Tree
  /** Made from the entries. */
  readonly rebuilt: Tree
  readonly keys: VerifyKeys
  readonly found: Found
}

/** Reports each bucket in which the trees differ, with the keys of its entries: one of them is at fault. */
export function compareTrees(database: DatabaseSync, { expected, rebuilt, keys, found }: TreesToCompare): void {
  const differences = new Map(expected.differences(rebuilt).map((each) => [bucketName(each), { ...each, named: [''] }]))
  if (differences.size === 0) return
  for (const row of database.prepare('SELECT key, class FROM data ORDER BY key').iterate()) {
    const key = textOf(row.key)
    const storageClass = classOfNumber(numberOf(row.class))
    if (storageClass === undefined || storageClass === 'ignored') continue
    const bucket = bucketOf(keys.bucketKey, key)
    const address = { class: storageClass, scope: treeScopeOf(key), page: bucket >>> 8, place: bucket & 0xff }
    differences.get(bucketName(address))?.named.push(key)
  }
  for (const { named, ...address } of differences.values()) found(sentenceOf(address, named.slice(1)))
}

function bucketName({ class: storageClass, scope, page, place }: BucketAddress): string {
  return `${storageClass} ${scope} ${page} ${place}`
}

function sentenceOf(address: BucketAddress, keys: readonly string[]): string {
  const bucket = `bucket ${address.page}/${address.place} of ${address.class} ${address.scope}`
  const where = `The tree differs from the entries in ${bucket}`
  if (keys.length === 0) return `${where}: an entry is missing there`
  const more = keys.length > MAX_NAMED ? ` and ${keys.length - MAX_NAMED} more` : ''
  const named = keys.slice(0, MAX_NAMED).join(', ')
  return `${where}: one of its entries is missing or not the last that was written (${named}${more})`
}
