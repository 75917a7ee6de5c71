// How appended changes move the position of a store. Every backend applies this in the step that writes the changes.
import type { Origin, Position } from '../peer-log.ts'
import type { EncodedChange } from './change-record.ts'

/** What a run of changes alters of a position. An undefined member stays as it is. */
export type Move = {
  /** Index that the store must be at before. */
  readonly from: number
  readonly index: number
  readonly chain: Buffer
  readonly epoch: number
  readonly historyId: Buffer | undefined
  readonly lastReplicatedIndex: number | undefined
  readonly lastLocalIndex: number | undefined
  /** The last of each family that the changes name. */
  readonly origins: readonly Origin[]
}

/** The move of changes that are appended together; undefined for none, or if they do not follow each other. */
export function moveOf(changes: readonly EncodedChange[]): Move | undefined {
  const [first] = changes
  const last = changes.at(-1)?.change
  if (first === undefined || last === undefined || changes.some(isOutOfPlace)) return undefined
  let historyId: Buffer | undefined
  let lastReplicatedIndex: number | undefined
  let lastLocalIndex: number | undefined
  let origins: readonly Origin[] = []
  for (const { change } of changes) {
    historyId = change.beginsHistory ?? historyId
    for (const operation of change.operations) {
      if (operation.class === 'replicated') lastReplicatedIndex = change.index
      else if (operation.class === 'local') lastLocalIndex = change.index
    }
    origins = laterOrigins(origins, change.origins)
  }
  const { index, chain, epoch } = last
  return { from: indexBefore(first), index, chain, epoch, historyId, lastReplicatedIndex, lastLocalIndex, origins }
}

/** The position behind the changes. */
export function movedOn(position: Position, move: Move): Position {
  return {
    index: move.index,
    chain: move.chain,
    epoch: move.epoch,
    historyId: move.historyId ?? position.historyId,
    lastReplicatedIndex: move.lastReplicatedIndex ?? position.lastReplicatedIndex,
    lastLocalIndex: move.lastLocalIndex ?? position.lastLocalIndex,
    origins: laterOrigins(position.origins, move.origins),
  }
}

/** Index of the change before: a new history stands far above its parent. */
function indexBefore({ change, history }: EncodedChange): number {
  return history?.parent?.index ?? change.index - 1
}

function isOutOfPlace(change: EncodedChange, at: number, changes: readonly EncodedChange[]): boolean {
  const before = changes[at - 1]
  return before !== undefined && indexBefore(change) !== before.change.index
}

/** What is known of both families after later origins, of which there is at most one a family. */
export function laterOrigins(known: readonly Origin[], later: readonly Origin[]): readonly Origin[] {
  if (later.length === 0) return known
  return [...known.filter(({ family }) => !later.some((each) => each.family === family)), ...later]
}
