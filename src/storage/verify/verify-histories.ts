// Checks the list of histories, against itself and against the position.
import type { DatabaseSync } from 'node:sqlite'
import { faultOfHistories } from '../log/histories.ts'
import type { History, Position } from '../peer-log.ts'
import { readHistories } from '../sqlite/sqlite-position.ts'
import type { Found } from '../verify-keys.ts'

/** Reports faults of the list, and returns it. @throws StorageCorrupt if it cannot be read */
export function verifyHistories(database: DatabaseSync, position: Position, found: Found): readonly History[] {
  const histories = readHistories(database)
  const fault = faultOfHistories(histories)
  if (fault !== undefined) found(`The list of histories ${fault}`)
  const present = histories.at(-1)
  if (present !== undefined && !(present.id.equals(position.historyId) && present.epoch === position.epoch)) {
    found('The list of histories does not end with that of the store')
  }
  return histories
}
