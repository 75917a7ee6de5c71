// What operators do with replication, and what status tells of it, as the endpoints see it. The thread that writes
// carries it out (src/assembly/replication).
import type { PrimaryStatus, SecondaryStatus } from '../replication/link/link-sides.ts'
import type { FilterOperation, NamedSecondary } from '../replication/set/paths-filter.ts'
import type { SecondaryIdentity, SetState, Successor } from '../replication/set/records.ts'
import type { SynchronousTold } from '../replication/synchronous/synchronous-writes.ts'
import type { UndoneHead } from '../replication/undone/undone-records.ts'
import type { StorageClass } from '../storage/contract.ts'
import type { ReplicationFamily } from '../storage/peer-log.ts'

/** What `primary/secondary-token` was given. */
export type WantedToken = {
  readonly id: string
  readonly ttlMs: number
  /** The text of `secondary/generate-public-key`; '' if the token is to be wrapped. */
  readonly publicKey: string
}

/** An activation token. `wrapped`: the text still has to be wrapped. `replaced`: what the id stood for until now. */
export type IssuedToken = {
  readonly kind: 'wrapped' | 'sealed'
  readonly text: string
  readonly replaced: 'nothing' | 'unused token' | 'claimed token' | 'secondary'
  /** The id had a filter, which does not hold for who comes with this token. */
  readonly hadFilter: boolean
}

/** What is to be seen to after a demotion, by the ids of secondaries. */
export type Demoted = {
  /** Connected, and may lack a part of the log. */
  readonly behind: readonly string[]
  /** Had a filter, which the next primary does not know of. */
  readonly filtered: readonly string[]
}

/** What `secondary/enable` was given; '' for what was left out. */
export type GivenActivation = {
  readonly token: string
  readonly primaryApiAddress: string
  readonly caFile: string
  readonly caPath: string
}

/** What `secondary/promote` was given. `clusterAddress`: '' for none. `force`: what is missing here is lost. */
export type GivenPromotion = { readonly clusterAddress: string; readonly force: boolean }

/** Whether the former primary of a promoted cluster knows of it. `nobody`: there is none to call. */
export type ToldFormer = 'told' | 'untold' | 'nobody'
/** Who knows of a promotion. */
export type Promoted = {
  readonly former: ToldFormer
  /** How many primaries before that one do not know that they were replaced. */
  readonly others: number
}

/** One look of the check before an activation. */
export type ActivationCheck = {
  readonly what: 'token' | 'api' | 'cluster port' | 'version' | 'clock' | 'admission'
  readonly result: 'good' | 'bad' | 'not looked at'
  /** What was found, and what to do about it. */
  readonly sentence: string
}

/** What is known of a family that is not disabled, besides what the store tells (replication-facts.ts). */
export type FamilyTold = {
  readonly state: SetState
  /** The version of this program, by which clusters judge whether one can follow another. */
  readonly programVersion: string
  /** On a primary: ids of all tokens but those revoked, and the links of secondaries. */
  readonly knownSecondaries: readonly string[]
  readonly secondaries: readonly SecondaryStatus[]
  /** True where the links could not be asked: what is told of them is empty, and says nothing. */
  readonly isSilent: boolean
  /** Why no secondary reaches this cluster: sentences about its cluster ports, none of which could be opened. */
  readonly portFaults: readonly string[]
  /** On a secondary: who it is, and its link; undefined on a primary. */
  readonly identity: SecondaryIdentity | undefined
  readonly primary: PrimaryStatus | undefined
  /** On a primary: the secondaries that writes wait for. */
  readonly synchronous: readonly SynchronousTold[]
  /** On a primary: secondaries that it handed over to, and of which it has heard nothing since. */
  readonly mayHaveTakenOver: readonly string[]
  /** Who took over from this cluster, as far as it knows. */
  readonly successor: Successor | undefined
  /** Why the former primary of a promoted cluster does not know of it yet; undefined: it does, or there was none. */
  readonly untold: string | undefined
  /** Records that this cluster had and its primary did not, which are kept aside; undefined: that cannot be read. */
  readonly undoneRecords: number | undefined
  /** Filters of secondaries; of a primary for performance alone. */
  readonly filters: readonly ToldFilter[]
  /** On a secondary: a filter keeps something from it, as its primary told it last. */
  readonly isFiltered: boolean
  /** On a promoted cluster: what of its former primary's log it had then; undefined: that is not known, or nothing. */
  readonly promotedFrom: { readonly historyId: Buffer; readonly index: number } | undefined
}

/** A filter in the status, which anyone may read: it names no paths. */
export type ToldFilter = { readonly id: string; readonly mode: WantedFilter['mode']; readonly paths: number }

/** A set of records that were undone, or are about to be, when this cluster began to follow another one. */
export type UndoneSet = Omit<UndoneHead, 'keyring'> & { readonly id: string }

/** What an undone record did to one entry. */
export type UndoneOperation = {
  readonly kind: 'put' | 'delete'
  readonly class: StorageClass
  /** UUID of the mount, or `system`. */
  readonly mount: string
  /** The path of the entry, without its namespace. */
  readonly path: string
  /** Whether the value can be shown: a key that is here opens it, and it is not one that opens the barrier. */
  readonly isOpen: boolean
  /** The value in clear, if it was asked for; the caller wipes it. */
  readonly value: Buffer | undefined
}

/** A record that was undone. */
export type UndoneRecord = {
  /** In the log of this cluster. */
  readonly index: number
  /** In the log of the primary that wrote it; undefined where that was this cluster. */
  readonly primaryIndex: number | undefined
  readonly committedAtMs: number
  readonly operations: readonly UndoneOperation[]
}

/** Which records are to be shown: those behind the index `after`. */
export type WantedUndone = {
  readonly id: string
  readonly after: number
  readonly limit: number
  readonly withValues: boolean
}

/** Records that were undone, which stay kept until they are deleted. */
export type UndoneRecords = {
  /** Oldest first. */
  list(): Promise<readonly UndoneSet[]>
  /** Undefined without such a set. `isEnd`: there are no more. */
  show(
    wanted: WantedUndone,
  ): Promise<{ readonly records: readonly UndoneRecord[]; readonly isEnd: boolean } | undefined>
  /** False without such a set. */
  remove(id: string): Promise<boolean>
}

/** Which mounts and namespaces a secondary is to get; full paths, each with its last '/'. */
export type WantedFilter = { readonly mode: 'allow' | 'deny'; readonly paths: readonly string[] }

/** Full paths of what a secondary does not get, in order. */
export type FilteredPaths = { readonly mounts: readonly string[]; readonly namespaces: readonly string[] }
/** Full paths of mounts and namespaces that a change of a filter brings to a secondary, or takes from it. */
export type FilterEffect = { readonly appearing: readonly string[]; readonly vanishing: readonly string[] }

/** Filters of secondaries for performance. */
export type PathsFilters = {
  /** The secondary that has this id, or whose cluster has it. All others take the id of its token. */
  named(given: string, operation: FilterOperation): Promise<NamedSecondary>
  /** Undefined for a secondary without one. */
  read(id: string): Promise<WantedFilter | undefined>
  write(id: string, filter: WantedFilter): Promise<void>
  /** What `write` would do now; nothing is changed. */
  preview(id: string, filter: WantedFilter): Promise<FilterEffect>
  remove(id: string): Promise<void>
  /** What is kept from the secondary now. */
  filtered(id: string): Promise<FilteredPaths>
  /** On a secondary: what its primary keeps from it now. The id must be its own, or that of its cluster. */
  filteredHere(id: string): Promise<FilteredPaths>
}

/** The operations. Each throws a Refusal that says what is wrong and what to do; nothing was changed then. */
export type ReplicationOperations = {
  enablePrimary(family: ReplicationFamily, clusterAddress: string): Promise<void>
  disablePrimary(family: ReplicationFamily): Promise<void>
  secondaryToken(family: ReplicationFamily, wanted: WantedToken): Promise<IssuedToken>
  /** Resolves when nothing more is sent to it. True: it had a filter, which is gone with it. */
  revokeSecondary(family: ReplicationFamily, id: string): Promise<boolean>
  /** Returns the ids of secondaries that do not trust the next authority yet. */
  rotateAuthority(family: ReplicationFamily): Promise<readonly string[]>
  /** The public half of a new key, as text. */
  generatePublicKey(family: ReplicationFamily): Promise<string>
  /** Resolves when the primary has let this cluster in, and its keys have taken the place of the own ones. */
  enableSecondary(family: ReplicationFamily, given: GivenActivation): Promise<void>
  /**
   * The index of the log of this cluster up to which all of its secondaries have what is of the class; Infinity if it
   * has none. Not to be called within a transaction.
   */
  acknowledged(storageClass: StorageClass): Promise<number>
  /**
   * True if a secondary that gets entries of the class asked to take over, and this cluster does not know what became
   * of that. Not to be called within a transaction.
   */
  mayBeReplaced(storageClass: StorageClass): Promise<boolean>
  /** Ids of the secondaries of a family that are let in; none unless this cluster is its primary. */
  secondaryIds(family: ReplicationFamily): Promise<readonly string[]>
  /** A former primary that is told writes nothing. Else it is called until it is. */
  promote(family: ReplicationFamily, given: GivenPromotion): Promise<Promoted>
  demote(family: ReplicationFamily): Promise<Demoted>
  disableSecondary(family: ReplicationFamily): Promise<void>
  /** With a blank token the cluster follows no primary any more. `force`: one of another set, too. */
  updatePrimary(family: ReplicationFamily, given: GivenActivation, force: boolean): Promise<void>
  /**
   * The primary has other addresses: the first that it answers at is tried first from now on, the others behind it.
   */
  movePrimary(family: ReplicationFamily, addresses: readonly string[]): Promise<void>
  /** The looks of `enableSecondary`, and nothing is changed. */
  check(family: ReplicationFamily, given: GivenActivation): Promise<readonly ActivationCheck[]>
  readonly undone: UndoneRecords
  readonly filters: PathsFilters
  /** Dials anew, though the last link ended with an error. */
  recover(): Promise<void>
  /** Has a secondary compare what it has with its primary. */
  compareAgain(family: ReplicationFamily): Promise<void>
  /** Undefined for a family that is disabled. */
  told(family: ReplicationFamily): Promise<FamilyTold | undefined>
}
