// The one way from stored bytes to a record, and back. A record is JSON, `{"format":1,…}`. Its members and their kinds
// are defined once, and its TypeScript type follows from them. Each member is checked when a record is read: the caller
// gets all of it or an error.
import { isJsonObject, JsonError, type JsonValue, parseStoredJson } from '../lib/json.ts'
import { type GroupOf, group, type Kind, type Members, Misfit, type Others } from '../lib/member-kinds.ts'
import { StorageCorrupt } from './errors.ts'

/** The codec of one kind of record. */
export type StoredRecord<T> = {
  /** Begins messages: `A mount entry`. */
  readonly what: string
  readonly kind: Kind<T>
  /** @throws StorageCorrupt that names the record and the member, and never a value */
  readonly decode: (bytes: Buffer) => T
  readonly encode: (record: T) => Buffer
}

/** The type of the records of a codec. */
export type RecordOf<R> = R extends StoredRecord<infer T> ? T : never

const FORMAT = 1

/**
 * Makes the codec of a record. If `members` has no `format`, the format stands in the stored bytes alone. `others` says
 * whether members that this version does not know are kept: most are, so that an older program loses nothing.
 */
export function storedRecord<const M extends Members>(
  what: string,
  members: M,
  others: Others = 'kept',
): StoredRecord<GroupOf<M>> {
  const kind = group(members, others)
  const hasFormat = Object.hasOwn(members, 'format')
  const needsNoCopy = hasFormat || others === 'dropped'
  return {
    what,
    kind,
    decode: (bytes) => {
      const value = parsed(what, bytes)
      if (!isJsonObject(value) || value.format !== FORMAT) throw new StorageCorrupt(`${what} has an unknown format`)
      if (needsNoCopy) return fitting(what, kind, value)
      const { format: _format, ...rest } = value
      return fitting(what, kind, rest)
    },
    encode: (record) => encodeStored(hasFormat ? record : { format: FORMAT, ...record }),
  }
}

/** Reads JSON without a `format` member, for formats that are numbered elsewhere. @throws StorageCorrupt as `decode` */
export function decodeStored<T>(what: string, kind: Kind<T>, bytes: Buffer): T {
  return fitting(what, kind, parsed(what, bytes))
}

/** JSON in UTF-8, as it is stored, without adding a `format`. */
export function encodeStored(value: object): Buffer {
  return Buffer.from(JSON.stringify(value))
}

function parsed(what: string, bytes: Buffer): JsonValue {
  try {
    return parseStoredJson(bytes)
  } catch (cause) {
    throw cause instanceof JsonError ? new StorageCorrupt(`${what} is ${cause.message}`, { cause }) : cause
  }
}

function fitting<T>(what: string, kind: Kind<T>, value: JsonValue): T {
  try {
    return kind.read(value)
  } catch (cause) {
    if (!(cause instanceof Misfit)) throw cause
    const { path, isMissing } = cause
    if (path === '') throw new StorageCorrupt(`${what} is of another kind`, { cause })
    throw new StorageCorrupt(isMissing ? `${what} lacks "${path}"` : `${what} has a "${path}" that cannot be`, {
      cause,
    })
  }
}
