// The two sides of following another cluster: what has the links, and what writes the store. They are on two threads
// of a server, or in one. Each is handed the other as one of these types; all that they tell each other is plain data.
//
//   peers ═ links ═ LinkHost ── asks ──▶ LinkOwner      records of the set, the log's keeper, what is applied
//                   LinkControl ◀── tells ── its owner  what it serves and dials, who is cut off
import type { LinkAddress, LinkFailure, LinkIdentity } from '../../lib/links.ts'
import type { Adopted, KeyLeaf, TreeBucket, TreePage } from '../../storage/contract.ts'
import type { History, LogHold, ReplicationFamily } from '../../storage/peer-log.ts'
import type { Message, Place } from '../protocol/messages.ts'
import type { SetReach } from '../reach.ts'
import type { PeerRefusal } from '../set/admission.ts'
import type { WhichFormers } from '../set/formers.ts'
import type { SetName } from '../set/peer-name.ts'
import type { RenewedLeaf } from '../set/secondary-operations.ts'
import type { SinkBatch, SinkProgress } from '../sink/sink-parts.ts'
import type { SecondaryStanding } from '../source/decision.ts'
import type { Judged } from '../source/source-reach.ts'
import type { SecondaryProgress } from '../synchronous/synchronous-writes.ts'

/** What a node says of itself to every peer. */
export type NodeFacts = {
  /** The version of its program. */
  readonly version: string
  /** The id of its own cluster. */
  readonly clusterId: string
  /** Where its cluster port can be reached, `https://host:port`; empty if that is not known. */
  readonly clusterAddresses: readonly string[]
  /** Where its API can be reached; '' if that is not known. */
  readonly apiAddress: string
}

/** The part of this cluster in a set that it is primary of: links of that set are accepted. */
export type PrimaryPart = {
  readonly role: 'primary'
  readonly set: SetName
  /** The leaf of this node for servers. The same object as long as it is the same leaf. */
  readonly identity: LinkIdentity
  /** The ids of secondaries that writes wait for: what they have is told at once. Missing: there are none. */
  readonly synchronous?: readonly string[]
}

/** The part of this cluster in a set that it follows: a link is dialed, and dialed again. */
export type SecondaryPart = {
  readonly role: 'secondary'
  readonly set: SetName
  readonly id: string
  /** The leaf of this secondary. */
  readonly identity: LinkIdentity
  /** From when on the leaf is to be renewed, by the wall clock. */
  readonly renewalDueMs: number
  /** Cluster addresses of the primary, in the order in which they are tried. */
  readonly addresses: readonly string[]
}

/**
 * The part of a cluster that has the place of a former primary, until that one knows: it is called, and called again.
 * Who calls comes as the secondary that was promoted in its place, which is this cluster or one before it.
 */
export type FormerPart = {
  readonly role: 'former'
  readonly set: SetName
  readonly id: string
  /** The history that began when it was replaced: it names the former primary. */
  readonly replacedBy: Buffer
  readonly identity: LinkIdentity
  /** Cluster addresses of the former primary, in the order in which they are tried. */
  readonly addresses: readonly string[]
  readonly takeover: Takeover
}

/** What a former primary is told: who has its place, with the key that the secondary was let in with. */
export type Takeover = {
  readonly epoch: number
  /** The history of its log that began with the promotion. */
  readonly historyId: Buffer
  readonly receiver: Buffer
  /** What is applied of the log of the former primary; undefined: nothing that is known of. */
  readonly followed: Place | undefined
  /** The histories of those that had the place before, oldest first. */
  readonly before: readonly Buffer[]
}

/** A part in a set. */
export type SetPart = PrimaryPart | SecondaryPart | FormerPart

/** What the host of the links does from now on. While the server is sealed there are no addresses and no parts. */
export type LinkState = {
  readonly facts: NodeFacts
  /** Where the cluster port is opened. */
  readonly listenAt: readonly LinkAddress[]
  readonly parts: readonly SetPart[]
}

/** A question to a primary, over a link of its own. */
type AnyKnock = {
  readonly set: SetName
  readonly id: string
  readonly identity: LinkIdentity
  readonly address: string
  readonly facts: NodeFacts
}

/** What an activation asks, before this cluster has a part in the set. */
export type ActivationKnock = AnyKnock & {
  readonly nonce: Buffer
  /** The X25519 key that keys are to be sealed for. */
  readonly receiver: Buffer
  /**
   * 'look': would this secondary be let in? Nothing is changed on either side. 'claim': it asks for the keys.
   * 'confirm': it has stored them.
   */
  readonly what: 'look' | 'claim' | 'confirm'
}

/** Whether a primary that this secondary may follow answers at an address. Nothing begins there. */
export type PingKnock = AnyKnock & { readonly what: 'ping'; readonly standing: FollowerStanding }

/** What an activation asks of a primary, a promoted cluster tells its former one, or a secondary looks for. */
export type Knock =
  | ActivationKnock
  | PingKnock
  | (AnyKnock & { readonly what: 'took-over'; readonly takeover: Takeover })

/** How the question of a secondary ended, whether its primary hands over to it. */
export type HandOver =
  /**
   * The primary writes no more, and all that it wrote is applied here. `grantsNothing`: it keeps to the blocks of
   * messages that it has granted by now, also where it does not hear what becomes of this (asked-takeover.ts).
   */
  | { readonly kind: 'drained'; readonly grantsNothing: boolean }
  /** There is no link that the log comes over, or it has ended. */
  | { readonly kind: 'no-link' }
  /** The primary did not answer in time. */
  | { readonly kind: 'failed'; readonly sentence: string }

/** How a question to the primary of the family performance ended. What is in the bodies is not known here. */
export type AskOutcome =
  | { readonly kind: 'answer'; readonly body: Buffer }
  /** Nothing was done: there is no link, or as much is asked already as may be at once. */
  | { readonly kind: 'no-link' }
  | { readonly kind: 'busy' }
  /** There will be no answer, and whether anything was done is not known. */
  | { readonly kind: 'silent' }

/** What a primary hands over to a secondary that it lets in. All of it is ciphertext. */
export type KeyPackage = {
  /** The seal of the primary, sealed for the receiver of the claim (src/system/seal/seal-bundle.ts). */
  readonly seal: Buffer
  /** Its records at core/keyring and core/leaf-key, as they are stored. */
  readonly keyring: Buffer
  readonly leafKey: Buffer
  readonly epoch: number
}

/** How a knock ended. `sentence` is for the operator, names the address, and tells no secret. */
export type Knocked =
  | { readonly kind: 'welcome'; readonly version: string; readonly clockSkewMs: number }
  | { readonly kind: 'package'; readonly package: KeyPackage; readonly clockSkewMs: number }
  /** There was no link. `cut`: there was one, and it ended before the answer. */
  | { readonly kind: 'no-link'; readonly reason: LinkFailure | 'cut'; readonly sentence: string }
  /** The primary said no. */
  | { readonly kind: 'refused'; readonly code: Message<'refused'>['code']; readonly sentence: string }

/** The state of the link to a primary, with the words of status (Interface 2.5). */
export type ConnectionState = 'ready' | 'connecting' | 'idle' | 'transient_failure'

/** What is known of one peer by heartbeats. Times of a link that is gone stay as they were. */
export type PeerStatus = {
  readonly isConnected: boolean
  readonly apiAddress: string
  readonly clusterAddress: string
  /** Wall clock of this node at the last heartbeat; undefined: there was none. */
  readonly lastBeatMs: number | undefined
  readonly roundTripMs: number | undefined
  /** How far the clock of the peer is ahead; negative if it is behind. */
  readonly clockSkewMs: number | undefined
  /** Age of what of the primary's log the secondary has for certain. */
  readonly canaryAgeMs: number | undefined
}

/** A secondary as the primary sees its link. */
export type SecondaryStatus = PeerStatus & {
  readonly family: ReplicationFamily
  readonly id: string
  /** The id of its own cluster, as it said it last; '' if that is not known. */
  readonly clusterId: string
  /** Index of this log up to which it has all for good. */
  readonly acknowledgedIndex: number | undefined
}

/** A primary as the secondary sees its link. */
export type PrimaryStatus = {
  readonly family: ReplicationFamily
  readonly connection: ConnectionState
  /** Why nothing is followed until someone looks, or until the next try; undefined while it is followed. */
  readonly idle: { readonly reason: string; readonly sentence: string } | undefined
  /** The primary was there and would not have this cluster follow, for this reason, since it was followed last. */
  readonly refused: string | undefined
  /** What is being done over the link that is there now, or was last. */
  readonly progress: SinkProgress | undefined
  /** Index of the primary's last change, and when that was committed there. */
  readonly primaryIndex: number | undefined
  /** How long what was applied last is behind the primary; 0 if nothing is missing. */
  readonly lagMs: number | undefined
  readonly primaryVersion: string | undefined
  /**
   * How long the log came in before it was applied last, without a word of the primary where it ends: on a slow link
   * that word comes behind all of it. Undefined: there was none at all.
   */
  readonly unheardMs: number | undefined
  readonly peers: readonly PeerStatus[]
}

/** What the host tells for status. */
export type LinkStatus = {
  /** True where nobody could be asked: the rest is empty, and says nothing. */
  readonly isSilent: boolean
  /** Ports that are open, and sentences about those that could not be opened. */
  readonly ports: readonly number[]
  readonly faults: readonly string[]
  /** Connected secondaries, and those that were connected since the start. */
  readonly secondaries: readonly SecondaryStatus[]
  readonly primaries: readonly PrimaryStatus[]
  /** Former primaries that do not know yet that this cluster took over, and why. */
  readonly untold: readonly { readonly family: ReplicationFamily; readonly sentence: string }[]
}

/** What the host of the links does for its owner. */
export interface LinkControl {
  /**
   * Takes over a state. Resolves when links are closed that have no part in it any more, and ports that could be opened
   * are open. A port that could not be opened is tried again; status says why.
   */
  play(state: LinkState): Promise<void>
  /** Closes what a secondary has open. Resolves when nothing more is sent to it. */
  disconnect(family: ReplicationFamily, id: string): Promise<void>
  /** Asks a primary, once. Never rejects for what the network or the peer does. */
  knock(knock: Knock): Promise<Knocked>
  /** Asks the primary that is followed to write no more, and waits until all that it wrote is applied. */
  handOver(family: ReplicationFamily, withinMs: number): Promise<HandOver>
  /** Tells it that it may write again, if there is a link. */
  takeBack(family: ReplicationFamily): Promise<void>
  /**
   * Asks the primary of the family performance for what it alone may do. It never rejects, and never waits for a link.
   * How long an answer is waited for is up to the caller.
   */
  ask(call: string, body: Buffer): Promise<AskOutcome>
  /** The seal of this id is in force: connected secondaries get it, and the primary hears that it is here. */
  sealChanged(sealId: string): void
  /** Ends the pause of a secondary that follows nothing: it dials anew. With a link it does nothing. */
  recover(family: ReplicationFamily): Promise<void>
  /** Has a secondary compare what it has with its primary, though it may see no reason to. */
  compareAgain(family: ReplicationFamily): Promise<void>
  status(): Promise<LinkStatus>
}

/** A peer as it came. `certificate` is the leaf that it proved to have the key of. */
export type Arrival = {
  readonly set: SetName
  readonly id: string
  readonly certificate: Buffer
}

/** What a primary answers a secondary that may follow, and what its link works with. */
export type Greeted = {
  readonly epoch: number
  readonly histories: readonly History[]
  /** As in SourceParts. */
  readonly abandoned: readonly string[]
  readonly followed: readonly Place[]
}

/** What a primary is asked, by the host on behalf of secondaries. */
export interface PrimaryOwner {
  /**
   * `receiver`: the key that it wants keys sealed for, which must be the one that it was let in with. `instance`: how
   * often another cluster has taken over who it is; none before the last one is admitted. `clusterId`: which it is.
   */
  admit(arrival: Arrival, receiver: Buffer, instance: number, clusterId: string): Promise<Greeted | PeerRefusal>
  /** `isLook`: whether the claim would be allowed; nothing is changed. */
  claim(
    arrival: Arrival,
    claim: { readonly nonce: Buffer; readonly receiver: Buffer; readonly isLook: boolean },
  ): Promise<KeyPackage | 'welcome' | PeerRefusal>
  confirm(
    arrival: Arrival,
    claim: { readonly nonce: Buffer; readonly receiver: Buffer },
  ): Promise<'confirmed' | PeerRefusal>
  /** A new leaf for the public key, and all authorities of the set that are trusted. */
  renew(
    arrival: Arrival,
    spki: Buffer,
  ): Promise<{ readonly certificate: Buffer; readonly trusted: readonly Buffer[] } | PeerRefusal>
  /** All authorities of the set that this secondary is to trust; undefined: it has said that it does. */
  trustFor(arrival: Arrival): Promise<readonly Buffer[] | undefined>
  /** The secondary has stored, durably, that it trusts the authorities of these fingerprints. */
  trusts(arrival: Arrival, fingerprints: readonly Buffer[]): Promise<void>
  /** Notes how far a secondary is, and where. Called now and then. */
  note(
    arrival: Arrival,
    noted: { readonly acknowledged: number | undefined; readonly addresses: readonly string[]; readonly api: string },
  ): Promise<void>
  /** The seal, sealed for this receiver; undefined if `sealId` is its id. */
  sealFor(arrival: Arrival, receiver: { readonly key: Buffer; readonly sealId: string }): Promise<Buffer | undefined>
  /** As the verbs of SourceKeeper. The name of a hold is made of the family and the id. */
  hold(arrival: Arrival, hold: Pick<LogHold, 'kind' | 'from'>): Promise<void>
  tree(): Promise<{ readonly index: number; readonly pages: readonly TreePage[] }>
  keysIn(buckets: readonly TreeBucket[]): Promise<{ readonly index: number; readonly keys: readonly KeyLeaf[] }>
  /** Over what is reached (reach.ts). */
  root(
    family: ReplicationFamily,
    reach: SetReach | undefined,
  ): Promise<{ readonly index: number; readonly root: Buffer }>
  /** What the filter of a secondary for performance lets it have, judged as of an index. */
  reachOf(arrival: Arrival): Promise<Judged>
  /** As `HandOver`: nothing more is written for a while, since this secondary is to be promoted. Resolves then. */
  drain(arrival: Arrival): Promise<{ readonly grantsNothing: boolean } | PeerRefusal>
  /** It was not promoted. */
  resume(arrival: Arrival): Promise<void>
  /** It was promoted: this cluster writes nothing from now on. Resolves when that holds. */
  tookOver(
    arrival: Arrival,
    takeover: Takeover & { readonly clusterId: string; readonly apiAddress: string },
  ): Promise<'fenced' | PeerRefusal>
  /** Answers what a secondary asks, which may be any call with any body. A rejection tells it nothing. */
  handed(arrival: Arrival, call: string, body: Buffer): Promise<Buffer>
  /** What secondaries that writes wait for have. Never rejects. */
  reached(progress: readonly SecondaryProgress[]): Promise<void>
  /** A secondary compared and has another root still: a tree is wrong, and it may be the one here. */
  differs(arrival: Arrival): Promise<void>
}

/** Where a secondary stands when it greets its primary. */
export type FollowerStanding = SecondaryStanding & {
  readonly epoch: number
  readonly histories: readonly History[]
  /** Public half of the key that its primary seals for. */
  readonly receiver: Buffer
  /** The id of its seal. */
  readonly sealId: string
  /** How often another cluster has taken over who this secondary is. */
  readonly instance: number
  /** Digest of what its filter lets it have, as it was told last; undefined: everything. */
  readonly reach: Buffer | undefined
}

/** What the registry of the primary asks of a secondary. */
export type ShownStanding = Pick<FollowerStanding, 'receiver' | 'instance'>

/** What a secondary is asked, by the host on behalf of its primary. */
export interface SecondaryOwner {
  standing(family: ReplicationFamily): Promise<FollowerStanding>
  /** What of `standing` the registry asks for, for links that have nothing to do with the log. */
  shown(family: ReplicationFamily): Promise<ShownStanding>
  /**
   * Says to the primary what it must still hear of the activation, before anything is followed: undefined if it has
   * heard all.
   */
  unconfirmed(family: ReplicationFamily): Promise<{ readonly nonce: Buffer; readonly receiver: Buffer } | undefined>
  /** The primary has heard that the activation of this nonce was stored. */
  confirmed(family: ReplicationFamily, nonce: Buffer): Promise<void>
  /** The primary told where it is. */
  primaryIsAt(family: ReplicationFamily, addresses: readonly string[], apiAddress: string): Promise<void>
  /** A renewed leaf with all authorities that are trusted, and its private number, which is wiped by the callee. */
  renewed(family: ReplicationFamily, leaf: RenewedLeaf): Promise<void>
  /** All authorities of the set that are trusted from now on. Resolves when they are stored, durably. */
  trustCame(family: ReplicationFamily, trusted: readonly Buffer[]): Promise<void>
  /**
   * The primary's seal, sealed for the receiver of `standing`, in the place of the one of this id. Resolves with the id
   * of the seal that this cluster has then, durably: one that cannot be taken over leaves the former one.
   */
  sealCame(family: ReplicationFamily, sealed: Buffer, instead: string): Promise<string>
  /** As the verbs of SinkKeeper. */
  take(family: ReplicationFamily, batch: SinkBatch): Promise<Adopted>
  ownTree(): Promise<readonly TreePage[]>
  ownKeysIn(buckets: readonly TreeBucket[]): Promise<readonly KeyLeaf[]>
  ownRoot(family: ReplicationFamily): Promise<Buffer>
  ownReach(family: ReplicationFamily): Promise<SetReach | undefined>
  /** Former primaries know that this cluster has their place. */
  takeoverKnown(family: ReplicationFamily, which: WhichFormers): Promise<void>
  /** The former primary that was replaced by this history says that another cluster took over before. */
  conflict(family: ReplicationFamily, replacedBy: Buffer, sentence: string): Promise<void>
  mend(family: ReplicationFamily): Promise<void>
}

/** The side that writes the store. */
export type LinkOwner = PrimaryOwner & SecondaryOwner
