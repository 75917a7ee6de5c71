// What the ends of links count for the metrics of the server. This room knows no metrics: who begins the links hands
// in where the counts go.
import type { ReplicationFamily } from '../storage/peer-log.ts'

/** What is counted, of each family by itself. */
export type Counted =
  | 'links'
  | 'copies'
  | 'comparisons'
  | 'divergences'
  | 'sentRecords'
  | 'appliedRecords'
  | 'sentBytes'
  | 'receivedBytes'

/** Adds to a count of one family. */
export type Count = (what: Counted, by: number) => void

/** The counts of each family. */
export type LinkCounts = (family: ReplicationFamily) => Count
