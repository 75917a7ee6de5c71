// The messages between a primary and a secondary of one family, version 1 of the protocol. A message is a frame type
// and members in a fixed order (binary.ts); docs of each say who sends it and when.
//
// One rule holds for all that is sent of a store's entries: it is as of a stated place of the primary's log, and the
// log up to that place was sent before it. So what the secondary has is right for the place it stands at, piece by
// piece, and no long view of the primary is needed.
import { strict as assert } from 'node:assert'
import { MAX_KEY_BYTES, MAX_TRANSACTION_BYTES, MAX_VALUE_BYTES } from '../../storage/contract.ts'
import { StorageCorrupt, UnknownFormat } from '../../storage/errors.ts'
import { CHAIN_BYTES } from '../../storage/log/change-record.ts'
import { MAX_HISTORIES } from '../../storage/log/histories.ts'
import { LEAF_BYTES } from '../../storage/log/leaf.ts'
import { RecordReader } from '../../storage/log/record-reader.ts'
import { PAGE_ENTRY_BYTES } from '../../storage/log/tree.ts'
import {
  bytesUpTo,
  fixed,
  flag,
  group,
  list,
  MessageWriter,
  mapOf,
  numbered,
  optional,
  setOf,
  shownText,
  storedKey,
  text,
  u8,
  u16,
  u32,
  u64,
  type WireGroup,
  type WireKind,
  type WireMembers,
  type WireValue,
} from './binary.ts'
import { framesOf, ProtocolFault, type RawMessage } from './frames.ts'

/** The versions of the protocol that this program speaks. */
export const PROTOCOL = { oldest: 1, newest: 1 } as const

const KIB = 1024
const MIB = 1024 * KIB
const DIGEST_BYTES = 32
/** Longest id that an operator may give a secondary. */
export const MAX_SECONDARY_ID_BYTES = 256
/** A cluster of more nodes than this is not foreseen. */
const MAX_ADDRESSES = 64
const MAX_ADDRESS_BYTES = 512
const MAX_SENTENCE_BYTES = 1 * KIB
/** Records that one run may have; a source ends a run long before, by its bytes. */
export const MAX_RUN_RECORDS = 4_096
/** Entries, keys or buckets that one message may have. */
export const MAX_LISTED = 65_536
const MAX_SCOPES = 65_536
/** Mounts and namespaces of a filtered secondary. */
const MAX_REACHED = 65_536
/** Name of a namespace behind the id of the one that it lies in. */
const MAX_ENTRY_BYTES = 512
const UUID_BYTES = 36
const REACH_BYTES = MAX_REACHED * (2 * UUID_BYTES + MAX_ENTRY_BYTES)
/** Promotions that a cluster remembers: the latest. */
export const MAX_PROMOTIONS = 64
/** Pages whose digests one message may have: 4 MiB of them. */
export const MAX_PAGES = 1_024
/** A scope is `NAMESPACE/MOUNT-UUID` or `NAMESPACE/system`. */
const MAX_SCOPE_BYTES = 1 * KIB
const CERTIFICATE_BYTES = 16 * KIB
/** Most authorities of a set that are trusted at a time: the present one, the one before, and the next one. */
export const MAX_AUTHORITIES = 3
/** An X25519 public key, and the nonce of an activation token (src/replication/set). */
const RECEIVER_BYTES = 32
const NONCE_BYTES = 32
/** A record has its keys and values, and some 100 bytes for each operation. A longer one is not sent. */
export const MAX_RECORD_BYTES = 2 * MAX_TRANSACTION_BYTES

/** Longest body of a question to the primary: the largest request of usual listeners, and what goes with it. */
export const MAX_ASK_BYTES = 33 * MIB
/** Longest body of an answer. A batch has more of it than it had of a request. */
export const MAX_ANSWER_BYTES = 64 * MIB

/** A place in the log of the primary: the history, and index and chain of its last record up to there. */
const place = group({ historyId: fixed(CHAIN_BYTES), index: u64, chain: fixed(CHAIN_BYTES) })
const parent = group({ id: fixed(CHAIN_BYTES), index: u64, chain: fixed(CHAIN_BYTES) })
const history = group({
  id: fixed(CHAIN_BYTES),
  epoch: u32,
  startIndex: u64,
  parent: optional(parent),
  startedAtMs: u64,
})
const addresses = list(text(MAX_ADDRESS_BYTES), MAX_ADDRESSES)
const treeClass = numbered('replicated', 'local')
const scope = text(MAX_SCOPE_BYTES)
const page = { class: treeClass, scope, page: u8 }
const entry = group({ key: storedKey, class: treeClass, leaf: fixed(LEAF_BYTES), value: bytesUpTo(MAX_VALUE_BYTES) })
const keyLeaf = group({ key: storedKey, class: treeClass, leaf: fixed(LEAF_BYTES) })

/** What a filter lets a secondary have: everything, if it says nothing. */
const reach = optional(
  group({
    mounts: setOf(text(UUID_BYTES), MAX_REACHED),
    namespaces: mapOf(text(UUID_BYTES), text(MAX_ENTRY_BYTES), MAX_REACHED),
    lacksNothing: flag,
  }),
)

/** How far a copy or a comparison that was cut off had come, by the secondary's own note. */
const transfer = group({ what: numbered('copy', 'difference'), after: text(MAX_KEY_BYTES) })

/** The rows: type of the frame, longest payload, members. */
const MESSAGES = {
  /** From the secondary, first. `applied` is missing where nothing of the primary was applied yet. */
  hello: message(1, 256 * KIB, {
    oldest: u16,
    newest: u16,
    recordFormat: u8,
    version: text(64),
    clusterId: text(64),
    secondaryId: text(MAX_SECONDARY_ID_BYTES),
    epoch: u32,
    histories: list(history, MAX_HISTORIES),
    applied: optional(place),
    /** Its operator gave it this primary: what it followed before is no reason to refuse it. */
    isParted: flag,
    transfer: optional(transfer),
    /** Digest of what its filter lets it have, as it was told last (reach.ts); missing: everything. */
    reach: optional(fixed(DIGEST_BYTES)),
    addresses,
    apiAddress: text(MAX_ADDRESS_BYTES),
    /** The X25519 key that keys are sealed for, and the id of the seal that it has (src/system/seal). */
    receiver: fixed(RECEIVER_BYTES),
    sealId: text(UUID_BYTES),
    /** How often another cluster has taken over who this secondary is. */
    instance: u64,
  }),
  /** From the primary: the link is accepted, and this is how the secondary gets what it lacks. */
  welcome: message(2, 256 * KIB, {
    protocol: u16,
    recordFormat: u8,
    version: text(64),
    clusterId: text(64),
    epoch: u32,
    histories: list(history, MAX_HISTORIES),
    addresses,
    sentAtMs: u64,
  }),
  /** From the primary in place of a welcome, then it hangs up. */
  refused: message(3, 4 * KIB, {
    code: numbered(
      'version',
      'unknown-id',
      'revoked',
      'other-set',
      'fenced',
      'not-active',
      'rewound',
      'replaced',
      'busy',
      'not-primary',
      'clock',
      'token',
      'not-activated',
      'conflict',
    ),
    sentence: shownText(MAX_SENTENCE_BYTES),
    retryAfterMs: u32,
    /** Address of the active node, with 'not-active'. */
    address: text(MAX_ADDRESS_BYTES),
  }),
  /**
   * From the primary: what follows is of this kind, from the place `from` on. Behind the welcome, and again where the
   * kind changes. A copy goes on behind the key `after`, a comparison begins with the secondary's `roots`. Courses of a
   * link are numbered: what a secondary asks in one has its number, and is not answered in another.
   */
  course: message(22, REACH_BYTES + 16 * KIB, {
    number: u32,
    what: numbered('stream', 'copy', 'difference'),
    from: place,
    isAnew: flag,
    after: text(MAX_KEY_BYTES),
    sentence: shownText(MAX_SENTENCE_BYTES),
    /** With a comparison: where both parted, if the secondary went on by itself from there. */
    fork: optional(place),
    /**
     * Up to where the primary has the logs of those before, of which the secondary may have more: where it is anew, or
     * the log goes on in the newest history.
     */
    followed: optional(list(place, MAX_PROMOTIONS)),
    /** Where what lies before is not known to be the same: what the secondary is to have. */
    reach: optional(group({ only: reach })),
  }),
  /**
   * From the primary in the family performance: what the secondary is to have from `at` on is another than before. What
   * it has of the rest goes. If there is more of it that the log does not bring, a comparison has begun instead.
   */
  reach: message(35, REACH_BYTES + 1 * KIB, { at: place, only: reach }),
  /**
   * From the primary: the records behind `after` that are for this secondary, without their operations of class
   * ignored, all of the history `historyId`. `at` is where the log stands behind them.
   */
  run: message(4, MAX_RECORD_BYTES + 64 * KIB, {
    after: group({ historyId: fixed(CHAIN_BYTES), index: u64 }),
    historyId: fixed(CHAIN_BYTES),
    records: list(bytesUpTo(MAX_RECORD_BYTES), MAX_RUN_RECORDS),
    at: place,
  }),
  /**
   * From the secondary: how many messages with records or entries it has dealt with since the welcome, and up to which
   * index of the primary all is stored for good and can be seen.
   */
  ack: message(5, 64, { handled: u64, durable: u64 }),
  /** From both, each second. `echo` is the last one that the other end sent. */
  beat: message(6, 64 * KIB, {
    sentAtMs: u64,
    echo: optional(group({ sentAtMs: u64, heldMs: u32 })),
    epoch: u32,
    lastIndex: u64,
    committedAtMs: u64,
    root: optional(group({ index: u64, root: fixed(DIGEST_BYTES) })),
    apiAddress: text(MAX_ADDRESS_BYTES),
    addresses,
  }),
  /** From the primary in a copy: all entries behind `after` up to `upTo` (undefined: to the end), as of `at`. */
  piece: message(7, MAX_VALUE_BYTES + 8 * MIB, {
    at: place,
    after: text(MAX_KEY_BYTES),
    upTo: optional(storedKey),
    entries: list(entry, MAX_LISTED),
    totalEntries: u64,
  }),
  /** From the secondary in a comparison: the roots of its scopes. Answered by `pages`. */
  roots: message(8, 16 * MIB, {
    course: u32,
    scopes: list(group({ class: treeClass, scope, root: fixed(DIGEST_BYTES) }), MAX_SCOPES),
  }),
  /** From the primary: hashes of the pages of each scope whose root differs. A scope that it does not have has none. */
  pages: message(9, 64 * MIB, {
    isLast: flag,
    scopes: list(
      group({ class: treeClass, scope, pages: list(group({ page: u8, hash: fixed(DIGEST_BYTES) }), 256) }),
      MAX_SCOPES,
    ),
  }),
  /** From the secondary: pages whose digests it wants. Answered by `digests`. */
  'pages-wanted': message(10, 2 * MIB, { course: u32, pages: list(group(page), MAX_PAGES) }),
  /** From the primary: the digests of the buckets of each page, of the same tree as `pages`. */
  digests: message(11, 6 * MIB, {
    pages: list(group({ ...page, digests: bytesUpTo(256 * PAGE_ENTRY_BYTES) }), MAX_PAGES),
  }),
  /** From the secondary: buckets that differ. Answered by `listing`. */
  'buckets-wanted': message(12, 8 * MIB, { course: u32, buckets: list(group({ ...page, place: u8 }), MAX_LISTED) }),
  /** From the primary: all keys of the buckets that were asked for, as of `at`. The last listing of them `isLast`. */
  listing: message(13, 80 * MIB, { at: place, isLast: flag, keys: list(keyLeaf, MAX_LISTED) }),
  /** From the secondary: keys whose entries it wants. Answered by `values`. */
  'values-wanted': message(14, 80 * MIB, { course: u32, keys: list(storedKey, MAX_LISTED) }),
  /** From the primary: the entries of those keys as of `at`, and the keys that are gone meanwhile. */
  values: message(15, MAX_VALUE_BYTES + 80 * MIB, {
    at: place,
    entries: list(entry, MAX_LISTED),
    gone: list(storedKey, MAX_LISTED),
    isLast: flag,
  }),
  /** From the secondary: it has all that it asked for in a comparison. Answered by `complete`. */
  'root-wanted': message(23, 16, { course: u32 }),
  /** From the primary behind the last piece of a copy, or as an answer: the root of its tree as of `at`. */
  complete: message(16, 1 * KIB, { at: place, root: fixed(DIGEST_BYTES) }),
  /** From the secondary: it needs a comparison though the primary decided otherwise, since what came did not fit. */
  compare: message(17, 4 * KIB, { course: u32, sentence: shownText(MAX_SENTENCE_BYTES) }),
  /** From the secondary: a request to certify its new public key. Answered by `certificate`. */
  'certificate-wanted': message(18, CERTIFICATE_BYTES, { publicKey: bytesUpTo(1 * KIB) }),
  /**
   * From the primary: a new leaf, and all authorities of the set that are trusted. Without a leaf it was not asked for,
   * and is answered by `trusts`; programs that know of one authority alone pay no heed to it.
   */
  certificate: message(19, 4 * CERTIFICATE_BYTES, {
    certificate: bytesUpTo(CERTIFICATE_BYTES),
    trusted: list(bytesUpTo(CERTIFICATE_BYTES), MAX_AUTHORITIES),
  }),
  /** From the secondary: it has stored that it trusts these authorities, by their fingerprints, and no other. */
  trusts: message(32, 1 * KIB, { fingerprints: list(fixed(DIGEST_BYTES), MAX_AUTHORITIES) }),
  /** From the primary if it is another one: its seal, sealed for this secondary (src/system/seal/seal-bundle.ts). */
  'seal-bundle': message(20, 2 * MIB, { sealed: bytesUpTo(2 * MIB - 64) }),
  /** From the secondary behind a seal bundle, and when its seal changes otherwise: the id of what it has, durably. */
  'seal-kept': message(36, 64, { sealId: text(UUID_BYTES) }),
  /** From a cluster that wants to be let in, first on a link for that. The primary answers with a welcome. */
  knock: message(24, 2 * KIB, {
    oldest: u16,
    newest: u16,
    recordFormat: u8,
    version: text(64),
    clusterId: text(64),
    secondaryId: text(MAX_SECONDARY_ID_BYTES),
    sentAtMs: u64,
  }),
  /**
   * From the same, behind the welcome. 'look' is answered by `done` and changes nothing. 'claim' binds the token to the
   * receiver and is answered by `package`; 'confirm' uses it up and is answered by `done`.
   */
  claim: message(25, 1 * KIB, {
    what: numbered('look', 'claim', 'confirm'),
    nonce: fixed(NONCE_BYTES),
    receiver: fixed(RECEIVER_BYTES),
  }),
  /** From the primary: what opens its data, sealed for the receiver, and the records of its keys. */
  package: message(26, 4 * MIB, {
    seal: bytesUpTo(2 * MIB),
    keyring: bytesUpTo(1 * MIB),
    leafKey: bytesUpTo(1 * KIB),
    epoch: u32,
  }),
  /**
   * From a secondary that is to be promoted: the primary shall write no more. Answered by `drained`, behind all of the
   * log. `number` counts the questions of this link: an answer may come when its question was taken back, and the
   * primary writes again.
   */
  drain: message(28, 16, { number: u32 }),
  /**
   * From the primary: it writes no more for a while, since the question of this number, and has sent its log up to
   * here, which is its end. `grantsNothing`: as long as it does not know what becomes of that, it grants no messages of
   * keys either, nor does another cluster in its place.
   */
  drained: message(29, 256, { number: u32, at: place, grantsNothing: flag }),
  /** From the secondary: it was not promoted, so that the primary may write again. */
  resume: message(30, 16, {}),
  /**
   * From a cluster that was promoted, in the place of a claim: its former primary shall write no more. Answered by
   * `done`. It may have taken the place of others that did so before: `before` has their histories, oldest first, and
   * it comes as the secondary that the first of them was. `receiver` is the key that this one was let in with;
   * `followed` is what is applied of the log of the former primary.
   */
  'took-over': message(31, 4 * KIB, {
    epoch: u32,
    historyId: fixed(CHAIN_BYTES),
    apiAddress: text(MAX_ADDRESS_BYTES),
    receiver: fixed(RECEIVER_BYTES),
    followed: optional(place),
    before: list(fixed(CHAIN_BYTES), MAX_PROMOTIONS),
  }),
  /** From the primary: what was asked for is done, or would be. */
  done: message(27, 16, {}),
  /**
   * From a secondary whose requests its primary carries out, on a link for that: what it asks. `number` is one that no
   * other question of the link has. Only those who answer know the calls, and what is in their bodies.
   */
  ask: message(33, MAX_ASK_BYTES + 1 * KIB, { number: u64, call: text(64), body: bytesUpTo(MAX_ASK_BYTES) }),
  /**
   * From the primary: the answer to the question of this number, in any order. 'busy': nothing was done, since too
   * much waits. 'lost': there is no answer, and whether anything was done is not known. Both have no body.
   */
  answered: message(34, MAX_ANSWER_BYTES + 1 * KIB, {
    number: u64,
    how: numbered('answer', 'busy', 'lost'),
    body: bytesUpTo(MAX_ANSWER_BYTES),
  }),
  /** From both: why this end hangs up. */
  fault: message(21, 4 * KIB, {
    reason: numbered('version', 'damaged', 'closing'),
    sentence: shownText(MAX_SENTENCE_BYTES),
  }),
} as const

type Rows = typeof MESSAGES
/** The kinds of message. */
export type MessageKind = keyof Rows
type MembersOf<K extends MessageKind> = WireValue<Rows[K]['members']>
/** A message of the kind `K`; of any kind without it. */
export type Message<K extends MessageKind = MessageKind> = { [N in K]: { readonly kind: N } & MembersOf<N> }[K]
/** A place of the primary's log, as messages carry it. */
export type Place = WireValue<typeof place>
/** An entry with what is stored with it, as messages carry it. */
export type SentEntry = WireValue<typeof entry>

type Row<M extends WireMembers> = {
  readonly type: number
  readonly most: number
  readonly members: WireKind<WireGroup<M>>
}

function message<const M extends WireMembers>(type: number, most: number, members: M): Row<M> {
  return { type, most, members: group(members) }
}

type AnyRow = { readonly type: number; readonly most: number; readonly members: WireKind<object> }
const KINDS = Object.entries(MESSAGES) as unknown as readonly (readonly [MessageKind, AnyRow])[]
const BY_TYPE: ReadonlyMap<number, readonly [MessageKind, AnyRow]> = new Map(KINDS.map((row) => [row[1].type, row]))

/** The kind of message that a type of frame stands for; undefined for an unknown type. */
export function kindOf(type: number): MessageKind | undefined {
  return BY_TYPE.get(type)?.[0]
}

/** Longest payload of a type of frame; undefined for an unknown type. For FrameReader. */
export function mostOf(type: number): number | undefined {
  return BY_TYPE.get(type)?.[1].most
}

/** The frames of a message. Its buffers are copied. */
export function encodeMessage(sent: Message): Buffer[] {
  const row = MESSAGES[sent.kind] as unknown as AnyRow
  const writer = new MessageWriter()
  row.members.write(writer, sent as never)
  const parts = writer.parts()
  assert(parts.reduce((sum, part) => sum + part.length, 0) <= row.most, `a message "${sent.kind}" is too long`)
  return framesOf(row.type, parts)
}

/**
 * Reads what the frames of a message carried. Buffers of the message are views of the payload.
 * @throws ProtocolFault that names the message and the member, and never a value of it
 */
export function decodeMessage({ type, payload }: RawMessage): Message {
  const [kind, row] = BY_TYPE.get(type) ?? []
  if (kind === undefined || row === undefined) throw new ProtocolFault('version', `Frame type ${type} is unknown`)
  const reader = new RecordReader(payload, `message "${kind}"`)
  try {
    const members = row.members.read(reader, '')
    if (!reader.atEnd) throw reader.fault('something follows its last member')
    return { kind, ...members } as Message
  } catch (cause) {
    if (!(cause instanceof StorageCorrupt)) throw cause
    throw new ProtocolFault(cause instanceof UnknownFormat ? 'version' : 'damaged', cause.message, { cause })
  }
}
