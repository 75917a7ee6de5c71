// What an activation token carries: all that a cluster needs to be let in as a secondary, once. It holds no key of any
// data; those come over the link that it opens.
//
//   bundle   format u8 = 1 or 2 | family u8 (1 dr, 2 performance) | set id 16 | epoch u32 | history id 16
//            | ends u64 (ms since 1970, by the issuer's clock) | nonce 32 | id length u16 | id
//            | authority length u16 | authority (DER) | leaf length u16 | leaf (DER) | leaf key 32
//            | cluster address length u16 | cluster address | API address length u16 | API address (empty: not known)
//            | in format 2: next authority length u16 | next authority (DER)
import { Secret } from '../../crypto/primitives/secret.ts'
import { secretBytes } from '../../crypto/primitives/secret-bytes.ts'
import { MAX_CERTIFICATE_BYTES } from '../../crypto/signatures/certificate.ts'
import { StorageCorrupt } from '../../storage/errors.ts'
import { RecordReader } from '../../storage/log/record-reader.ts'
import { CertificateRefused, publicKeyOf, readAuthority, readLeaf } from './certificates.ts'
import { faultOfApiAddress, faultOfClusterAddress, MAX_ADDRESS_CHARACTERS } from './peer-address.ts'
import {
  faultOfPeerId,
  isSetId,
  MAX_PEER_ID_BYTES,
  type PeerName,
  REPLICATION_FAMILIES,
  type SetName,
} from './peer-name.ts'

/** The content of an activation token. Its secrets print as nothing; the holder calls `wipeActivation` when done. */
export type ActivationBundle = SetName & {
  /** The id of the secondary. */
  readonly id: string
  /** Certificates in DER. */
  readonly authority: Buffer
  /** The authority that is about to follow: the primary may show a leaf of either. */
  readonly nextAuthority: Buffer | undefined
  readonly leaf: Buffer
  readonly leafKey: Secret
  /** The right to be let in, once. The issuer keeps its digest. */
  readonly nonce: Secret
  /** When that right ends. For messages alone: the issuer judges, since the clock here may be off. */
  readonly endsAtMs: number
  readonly clusterAddress: string
  /** Empty if the issuer does not know it. */
  readonly apiAddress: string
  readonly epoch: number
  readonly historyId: Buffer
}

/** Why an activation token is not taken; the message is a sentence, and tells no secret. */
export class ActivationRefused extends Error {
  override name = 'ActivationRefused'
  /**
   * 'form': the text is none. 'version': a newer program made it. 'damaged': it was changed or cut. 'family': it is for
   * the other family. 'receiver': it was sealed for a key that this cluster does not have.
   */
  readonly reason: 'form' | 'version' | 'damaged' | 'family' | 'receiver'
  constructor(reason: ActivationRefused['reason'], message: string) {
    super(message)
    this.reason = reason
  }
}

const FORMAT = { oneAuthority: 1, twoAuthorities: 2 } as const
const UUID_BYTES = 16
const HISTORY_ID_BYTES = 16
/** 256 bits: it cannot be guessed, so a plain digest is kept of it. */
export const NONCE_BYTES = 32
const LEAF_KEY_BYTES = 32
const FIXED_BYTES = 2 + UUID_BYTES + 4 + HISTORY_ID_BYTES + 8 + NONCE_BYTES + LEAF_KEY_BYTES + 5 * 2
/** Longest encoded bundle: in base64, and sealed, it stays below 8 KiB. Certificates are far below their limit. */
export const MAX_ACTIVATION_BYTES =
  FIXED_BYTES + MAX_PEER_ID_BYTES + 2 * MAX_CERTIFICATE_BYTES + 2 * MAX_ADDRESS_CHARACTERS

/** The bundle's bytes; the caller wipes them. @throws RangeError for a text that no bundle can have */
export function encodeActivation(bundle: ActivationBundle): Buffer {
  const fault = faultOfTexts(bundle)
  if (fault !== undefined) throw new RangeError(`No activation token can be made: ${fault}`)
  const { family, setId, id, authority, nextAuthority, leaf, leafKey, nonce, endsAtMs, epoch, historyId } = bundle
  const texts = [id, bundle.clusterAddress, bundle.apiAddress].map((text) => Buffer.from(text))
  const [idBytes, clusterAddress, apiAddress] = texts as [Buffer, Buffer, Buffer]
  const parts = [idBytes, authority, leaf, clusterAddress, apiAddress]
  const nextBytes = nextAuthority === undefined ? 0 : 2 + nextAuthority.length
  const out = secretBytes(parts.reduce((sum, { length }) => sum + length, FIXED_BYTES + nextBytes))
  let at = out.writeUInt8(nextAuthority === undefined ? FORMAT.oneAuthority : FORMAT.twoAuthorities)
  at = out.writeUInt8(REPLICATION_FAMILIES.indexOf(family) + 1, at)
  at += Buffer.from(setId.replaceAll('-', ''), 'hex').copy(out, at)
  at = out.writeUInt32BE(epoch, at)
  at += historyId.copy(out, at)
  at = out.writeBigUInt64BE(BigInt(endsAtMs), at)
  at += nonce.reveal().copy(out, at)
  const put = (part: Buffer): void => {
    at = out.writeUInt16BE(part.length, at)
    at += part.copy(out, at)
  }
  for (const part of [idBytes, authority, leaf]) put(part)
  at += leafKey.reveal().copy(out, at)
  for (const part of [clusterAddress, apiAddress]) put(part)
  if (nextAuthority !== undefined) put(nextAuthority)
  return out
}

/** Reads a bundle; the caller wipes the bytes, and the bundle. Its times are not judged. @throws ActivationRefused */
export function decodeActivation(bytes: Buffer): ActivationBundle {
  if (bytes.length === 0 || bytes.length > MAX_ACTIVATION_BYTES)
    throw new ActivationRefused('damaged', `An activation token holds 1 to ${MAX_ACTIVATION_BYTES} bytes`)
  if (bytes[0] !== FORMAT.oneAuthority && bytes[0] !== FORMAT.twoAuthorities)
    throw new ActivationRefused('version', 'The activation token was made by a newer version of the program')
  try {
    return readActivation(new RecordReader(bytes, 'activation token'))
  } catch (cause) {
    if (cause instanceof StorageCorrupt || cause instanceof CertificateRefused)
      throw new ActivationRefused('damaged', cause.message)
    throw cause
  }
}

function readActivation(reader: RecordReader): ActivationBundle {
  const format = reader.u8('format')
  const family = REPLICATION_FAMILIES[reader.u8('family') - 1]
  if (family === undefined) throw reader.fault('its family is not known')
  const setId = uuidOf(reader.bytes(UUID_BYTES, 'set id'))
  const epoch = reader.u32('epoch')
  const historyId = Buffer.from(reader.bytes(HISTORY_ID_BYTES, 'history id'))
  const endsAtMs = reader.u64('end')
  const nonce = reader.bytes(NONCE_BYTES, 'nonce')
  const id = textOf(reader, 'id', MAX_PEER_ID_BYTES)
  const authority = Buffer.from(partOf(reader, 'authority', MAX_CERTIFICATE_BYTES))
  const leaf = Buffer.from(partOf(reader, 'leaf', MAX_CERTIFICATE_BYTES))
  const leafKey = reader.bytes(LEAF_KEY_BYTES, 'leaf key')
  const clusterAddress = textOf(reader, 'cluster address', MAX_ADDRESS_CHARACTERS)
  const apiAddress = textOf(reader, 'API address', MAX_ADDRESS_CHARACTERS)
  const hasNext = format === FORMAT.twoAuthorities
  const nextAuthority = hasNext ? Buffer.from(partOf(reader, 'next authority', MAX_CERTIFICATE_BYTES)) : undefined
  if (!reader.atEnd) throw reader.fault('something follows it')
  const fault = faultOfTexts({ setId, id, clusterAddress, apiAddress })
  if (fault !== undefined) throw reader.fault(fault)
  requireLeaf({ setId, family, role: 'secondary', id }, authority, leaf, leafKey)
  if (nextAuthority !== undefined) readAuthority({ setId, family }, nextAuthority)
  // Secrets are copied last, so that no error leaves one behind.
  const secrets = { leafKey: new Secret(leafKey), nonce: new Secret(nonce) }
  const certificates = { authority, nextAuthority, leaf }
  return { setId, family, id, ...certificates, endsAtMs, clusterAddress, apiAddress, epoch, historyId, ...secrets }
}

type Texts = Pick<ActivationBundle, 'setId' | 'id' | 'clusterAddress' | 'apiAddress'>

function faultOfTexts({ setId, id, clusterAddress, apiAddress }: Texts): string | undefined {
  if (!isSetId(setId)) return 'its set id is no UUID'
  const faults = [
    ['id', faultOfPeerId(id)],
    ['cluster address', faultOfClusterAddress(clusterAddress)],
    ['API address', apiAddress === '' ? undefined : faultOfApiAddress(apiAddress)],
  ]
  const [what, fault] = faults.find(([, one]) => one !== undefined) ?? []
  return fault === undefined ? undefined : `its ${what} ${fault}`
}

/** @throws CertificateRefused unless the leaf is that of this peer, by this authority, for this key */
function requireLeaf(peer: PeerName, authority: Buffer, leaf: Buffer, leafKey: Buffer): void {
  const shown = readLeaf(readAuthority(peer, authority), leaf)
  const isOurs = shown.peer.id === peer.id && shown.peer.role === peer.role
  if (!isOurs || !shown.leaf.spki.equals(publicHalfOf(leafKey)))
    throw new CertificateRefused('The certificate in the activation token is not that of its secondary')
}

function publicHalfOf(key: Buffer): Buffer {
  try {
    return publicKeyOf(key)
  } catch {
    // The number is zero, or above the order of the curve; what the runtime says of it may quote it.
    return Buffer.alloc(0)
  }
}

function partOf(reader: RecordReader, name: string, max: number): Buffer {
  const length = reader.u16(`length of the ${name}`)
  if (length > max) throw reader.fault(`its ${name} is above ${max} bytes`)
  return reader.bytes(length, name)
}

function textOf(reader: RecordReader, name: string, max: number): string {
  const length = reader.u16(`length of the ${name}`)
  if (length > max) throw reader.fault(`its ${name} is above ${max} bytes`)
  return reader.text(length, name)
}

function uuidOf(bytes: Buffer): string {
  const hex = bytes.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

/** Overwrites the bundle's secrets. */
export function wipeActivation({ leafKey, nonce }: Pick<ActivationBundle, 'leafKey' | 'nonce'>): void {
  leafKey.wipe()
  nonce.wipe()
}

/** The authorities that a bundle has its cluster trust. */
export const authoritiesIn = ({
  authority,
  nextAuthority,
}: Pick<ActivationBundle, 'authority' | 'nextAuthority'>): Buffer[] =>
  nextAuthority === undefined ? [authority] : [authority, nextAuthority]
