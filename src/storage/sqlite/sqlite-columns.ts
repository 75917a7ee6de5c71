// Columns as the rest of the program needs them. A damaged file can hold a value of any kind.
import { StorageCorrupt } from '../errors.ts'

/** A column that must hold a number. @throws StorageCorrupt */
export function numberOf(column: unknown): number {
  if (typeof column !== 'number') throw new StorageCorrupt('A stored number is not one')
  return column
}

/** A copy of a column that must hold bytes. @throws StorageCorrupt */
export function bytesOf(column: unknown): Buffer {
  if (!(column instanceof Uint8Array)) throw new StorageCorrupt('Stored bytes are not bytes')
  return Buffer.from(column)
}

/** A column that must hold text. @throws StorageCorrupt */
export function textOf(column: unknown): string {
  if (typeof column !== 'string') throw new StorageCorrupt('A stored text is not one')
  return column
}
