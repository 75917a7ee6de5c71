// A seal whose key lies outside the store, so that the server opens when it starts, without shares.
import type { KeyObject } from 'node:crypto'

/** A seal that opens the server by itself; the assembly makes it from the configuration. */
export type AutoSeal = {
  readonly type: 'static'
  /** Id of the key that seals now; a store sealed by a previous key is moved to it. */
  readonly keyId: string
  /**
   * Returns the key of that id; undefined if the configuration does not name it. It is read again at each call, so that
   * a sealed server holds no key.
   * @throws AutoSealFailed
   */
  readonly key: (keyId: string) => KeyObject | undefined
}

/** Why the server does not open by itself: one sentence for the log, without a byte of a key (threats S-03). */
export class AutoSealFailed extends Error {
  override name = 'AutoSealFailed'
}
