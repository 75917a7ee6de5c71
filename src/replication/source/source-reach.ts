// Which part of the log a source sends where a filter keeps some of it from its secondary. The filter is judged by the
// thread that writes, from one view of the store; here it is known which records may ask for another judgement.
//
// A record is sent only if nothing up to it can have changed what the secondary is to have. So a mount that was made,
// moved or forbidden is judged before the first byte of it could go out.

import { namespaceEntryOf } from '../../storage/classes.ts'
import type { ChangeOperation, LogRecord } from '../../storage/contract.ts'
import { classesOf, decodeChange } from '../../storage/log/change-record.ts'
import { areSameReach, reachedKeys, reachedScopes, type SetReach } from '../reach.ts'

/** What the thread that writes finds, as of an index. */
export type Judged = { readonly index: number; readonly reach: SetReach | undefined }

/** What is new about a judgement. `grown`: the log does not bring all of what is reached now. */
export type Changed = 'nothing' | 'told' | 'grown'

/** Parts of the keys that decide what is reached. Keys stand in clear in records, so it is enough to look for these. */
const DECIDING = ['/core/mounts/', '/core/namespace/', '/core/leaving-namespace/'].map((text) => Buffer.from(text))

/** True for a record that may make, move or remove a mount or a namespace. */
export const isOfPlaces = (record: Buffer): boolean => DECIDING.some((part) => record.includes(part))

/** What one secondary gets, as its source knows it. */
export class SourceReach {
  readonly #filterKey: Buffer
  #judged: Judged = { index: 0, reach: undefined }
  #isKeyReached: ((key: string) => boolean) | undefined
  #isScopeReached = reachedScopes(undefined)

  /** `filterKey`: the stored key of the filter of this secondary. */
  constructor(filterKey: string) {
    this.#filterKey = Buffer.from(filterKey)
  }

  get reach(): SetReach | undefined {
    return this.#judged.reach
  }

  /** Undefined: every key is. */
  get isKeyReached(): ((key: string) => boolean) | undefined {
    return this.#isKeyReached
  }

  get isScopeReached(): (scope: string) => boolean {
    return this.#isScopeReached
  }

  /** The first records, as long as the present judgement holds for them. */
  judgedOf(records: readonly LogRecord[]): readonly LogRecord[] {
    const end = records.findIndex(({ index, record }) => index > this.#judged.index && this.#decides(record))
    return end === -1 ? records : records.slice(0, end)
  }

  #decides(record: Buffer): boolean {
    if (record.includes(this.#filterKey)) return true
    return this.#judged.reach !== undefined && isOfPlaces(record)
  }

  /** Takes a judgement. `since` are the records of places that are not sent yet, up to its index. */
  take(judged: Judged, since: readonly LogRecord[]): Changed {
    const before = this.#judged.reach
    this.#judged = judged
    if (areSameReach(before, judged.reach)) return 'nothing'
    this.#isKeyReached = judged.reach && reachedKeys(judged.reach)
    this.#isScopeReached = reachedScopes(judged.reach)
    return isGrown(before, judged.reach, since) ? 'grown' : 'told'
  }
}

/** True if something is reached that was not before, and was not made since then. */
function isGrown(before: SetReach | undefined, now: SetReach | undefined, since: readonly LogRecord[]): boolean {
  if (before === undefined) return false
  if (now === undefined) return true
  const more = [...now.mounts].filter((mount) => !before.mounts.has(mount))
  const within = [...now.namespaces].filter(([id]) => !before.namespaces.has(id)).map(([, entry]) => entry)
  if (more.length === 0 && within.length === 0) return false
  const made = madeIn(since)
  return !more.every((mount) => made.has(mount)) || !within.every((entry) => made.has(entry))
}

/** Mounts that were made, and names of entries of namespaces that were. A mount that only moved was there before. */
function madeIn(records: readonly LogRecord[]): ReadonlySet<string> {
  const made = new Set<string>()
  for (const { index, record } of records) {
    if (classesOf(record)?.has('replicated') === false) continue
    const { operations } = decodeChange(record, `log record ${index}`)
    const isNew = ({ kind, oldLeaf }: ChangeOperation): boolean => kind === 'put' && oldLeaf.length === 0
    const left = new Set(operations.filter(({ kind }) => kind === 'delete').map(({ key }) => entryOf(key)))
    for (const operation of operations) {
      const entry = entryOf(operation.key)
      if (entry !== undefined && isNew(operation) && !left.has(entry)) made.add(entry)
    }
  }
  return made
}

/** The mount, or the namespace, whose entry it is. */
const entryOf = (key: string): string | undefined => {
  const [, folder, of, mount] = key.split('/', 4)
  return folder === 'core' && of === 'mounts' ? mount : namespaceEntryOf(key)
}
