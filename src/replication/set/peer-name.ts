// The names of the clusters of a set, as certificates and stored keys have them.
//
//   SET.FAMILY.rep                            the server name of a set, by which one port serves several sets
//   rep://SET/FAMILY/primary/NODE             a node of the primary
//   rep://SET/FAMILY/secondary/ID             a secondary
//
// SET is the set's cluster id, a UUID. NODE and ID are any text: all but letters, digits, '-' and '_' is
// percent-encoded, so one text has one encoding.
import type { ReplicationFamily } from '../../storage/peer-log.ts'

/** A set of clusters in one family of replication. */
export type SetName = { readonly setId: string; readonly family: ReplicationFamily }
/** A cluster of a set; of the primary, one node. `id` is the name of that node, or of the secondary. */
export type PeerName = SetName & { readonly role: 'primary' | 'secondary'; readonly id: string }

/** Both families, as they are written everywhere. */
export const REPLICATION_FAMILIES: readonly ReplicationFamily[] = ['dr', 'performance']
const ROLES: readonly PeerName['role'][] = ['primary', 'secondary']

/** Longest id of a secondary or a node. Percent-encoded three times as long, it is part of a stored key. */
export const MAX_PEER_ID_BYTES = 256
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const CONTROL = /\p{Cc}/u

/** True for a text with the form of a set's id. */
export const isSetId = (text: string): boolean => UUID.test(text)

/** Why the text cannot be the id of a secondary or a node, to continue a sentence; undefined for a good one. */
export function faultOfPeerId(id: string): string | undefined {
  if (id === '') return 'is empty'
  if (Buffer.byteLength(id) > MAX_PEER_ID_BYTES) return `has more than ${MAX_PEER_ID_BYTES} bytes`
  // Ids stand in logs, on terminals and in certificates.
  return !id.isWellFormed() || CONTROL.test(id) ? 'holds a control character or a broken one' : undefined
}

/** The id as one segment of a URI or of a stored key. The id has no fault. */
export function peerSegment(id: string): string {
  return encodeURIComponent(id).replace(/[.!~*'()]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)
}

/** The id of a segment; undefined for a text that `peerSegment` does not give. */
export function peerOfSegment(segment: string): string | undefined {
  if (segment.length > 3 * MAX_PEER_ID_BYTES) return undefined
  try {
    const id = decodeURIComponent(segment)
    return faultOfPeerId(id) === undefined && peerSegment(id) === segment ? id : undefined
  } catch (cause) {
    if (cause instanceof URIError) return undefined
    throw cause
  }
}

/** The server name of a set: it selects the certificate of the server and the authority of its clients. */
export const serverNameOf = ({ setId, family }: SetName): string => `${setId}.${family}.rep`

/** The set that a server name stands for; undefined for any other name. */
export function setOfServerName(name: string): SetName | undefined {
  const [setId = '', family] = name.split('.')
  const found = REPLICATION_FAMILIES.find((each) => each === family)
  const set = found === undefined || !isSetId(setId) ? undefined : { setId, family: found }
  return set !== undefined && serverNameOf(set) === name ? set : undefined
}

/** The name of a peer as its certificate has it. */
export const uriOfPeer = ({ setId, family, role, id }: PeerName): string =>
  `rep://${setId}/${family}/${role}/${peerSegment(id)}`

/** The peer that a URI names; undefined for a text that `uriOfPeer` does not give. */
export function peerOfUri(uri: string): PeerName | undefined {
  const [, , setId = '', familyText, roleText, segment = ''] = uri.split('/', 7)
  const family = REPLICATION_FAMILIES.find((each) => each === familyText)
  const role = ROLES.find((each) => each === roleText)
  const id = peerOfSegment(segment)
  if (family === undefined || role === undefined || id === undefined || !isSetId(setId)) return undefined
  const peer = { setId, family, role, id }
  return uriOfPeer(peer) === uri ? peer : undefined
}
