// What an engine may know of the clusters that could take the place of this one.
/** What clusters that may be promoted have got of the entries of one mount. */
export type SeenEntries = {
  /** Finds out how far they are. It is called before a transaction, not within one. */
  look(): Promise<void>
  /** False while one of them had not got the last change of the entry when that was found out last. */
  has(path: string): boolean
}
