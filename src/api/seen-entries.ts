// What an engine may know of the clusters that could take the place of this one.
/** What clusters that may be promoted have got of the entries of one mount. */
export type SeenEntries = {
  /** Finds out how far they are. It is called before a transaction, not within one. */
  look(): Promise<void>
  /** How many changes of the entry one of them had not got when that was found out last; never too few. */
  unseen(path: string): number
  /** True if one of them may have been promoted, by what was known last: it counts on what it knew then. */
  mayBeReplaced(): boolean
  /** False if no secondary for performance had the id when that was found out last. */
  mayFollow(secondary: string): boolean
}
