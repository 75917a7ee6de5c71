import type { KeyObject } from 'node:crypto'

/** A seal that opens the server without anybody: it has a key outside the storage. */
export type AutoSeal = {
  readonly type: 'static'
  /** The key that seals. */
  readonly keyId: string
  /**
   * The key of this name, read anew each time, so that none is kept while the server is sealed; undefined where the
   * configuration does not name it.
   * @throws AutoSealFailed
   */
  readonly key: (keyId: string) => KeyObject | undefined
}

/** Why the server does not open by itself, in one sentence for its operator, without a byte of a key. */
export class AutoSealFailed extends Error {
  override name = 'AutoSealFailed'
}
