// The parts that this cluster has in its sets, as its links play them: with which certificate it serves, and whom it
// follows. Made from the records of the sets.

import { describeCause } from '../../core/describe-cause.ts'
import { DerError } from '../../crypto/encoding/der.ts'
import { P256 } from '../../crypto/forms/ec-curves.ts'
import { loadScalar } from '../../crypto/forms/ec-private-key.ts'
import { x25519Key } from '../../crypto/primitives/hpke.ts'
import { readCertificate } from '../../crypto/signatures/certificate.ts'
import { decodeBase64 } from '../../lib/base64.ts'
import type { LinkIdentity } from '../../lib/links.ts'
import type { Log } from '../../lib/log.ts'
import type { World } from '../../lib/world.ts'
import type { FormerPart, PrimaryPart, SecondaryPart, SetPart } from '../../replication/link/link-sides.ts'
import { readAuthorities, signingAuthority, signingOf, trustedOf } from '../../replication/set/authorities.ts'
import {
  CertificateRefused,
  newLeaf,
  newLeafKey,
  publicKeyOf,
  renewalDueMs,
} from '../../replication/set/certificates.ts'
import { readCalled } from '../../replication/set/formers.ts'
import { REPLICATION_FAMILIES, type SetName, serverNameOf } from '../../replication/set/peer-name.ts'
import { readPromotions, readState, type SecondaryIdentity, type SetReader } from '../../replication/set/records.ts'
import { ownIdentity } from '../../replication/set/secondary-operations.ts'
import { StorageCorrupt } from '../../storage/errors.ts'
import type { ReplicationFamily } from '../../storage/peer-log.ts'

type Served = {
  readonly serverName: string
  readonly identity: LinkIdentity
  /** The authority of the leaf. */
  readonly authority: Buffer
  readonly fromMs: number
  readonly dueMs: number
}

/** Makes the parts. Leaves for servers are made once, and anew when they are due: they are stored nowhere. */
export class OwnParts {
  readonly #world: Pick<World, 'clock' | 'random'>
  readonly #log: Log
  readonly #served = new Map<ReplicationFamily, Served>()
  /** What was made last, of each family. */
  readonly #last = new Map<ReplicationFamily, SetPart>()
  /** Families whose records could not be used, and why. */
  readonly #faults = new Map<ReplicationFamily, string>()

  constructor(world: Pick<World, 'clock' | 'random'>, log: Log) {
    this.#world = world
    this.#log = log
  }

  /**
   * False once a certificate of this node is due, or does not hold yet since the clock was set back; and while records
   * cannot be used.
   */
  get areGood(): boolean {
    return this.#faults.size === 0 && [...this.#served.values()].every((one) => this.#isGood(one))
  }

  /** The parts now. `node` is the name of this node among those of its cluster. */
  async read(tx: SetReader, node: string): Promise<SetPart[]> {
    const own = await ownFamilies(tx)
    const parts = new Map<ReplicationFamily, SetPart>()
    const formers: FormerPart[] = []
    for (const family of own) {
      const part = await this.#part(tx, family, node)
      if (part !== undefined) parts.set(family, part)
      if (family === 'dr' && part?.role === 'primary') formers.push(...(await this.#formers(tx, part.set)))
    }
    for (const family of REPLICATION_FAMILIES) {
      if (!own.includes(family)) this.#faults.delete(family)
      const part = parts.get(family)
      if (part?.role !== 'primary') this.#served.delete(family)
      if (part === undefined) this.#last.delete(family)
      else this.#last.set(family, part)
    }
    return [...parts.values(), ...formers]
  }

  /** While the records of a family cannot be used, its links stay as they were, and those of the other go on. */
  async #part(tx: SetReader, family: ReplicationFamily, node: string): Promise<SetPart | undefined> {
    try {
      const state = await readState(tx, family)
      if (state === undefined) {
        this.#faults.delete(family)
        return undefined
      }
      const set = { setId: state.setId, family }
      const part = await (state.mode === 'primary' ? this.#primary(tx, set, node) : this.#secondary(tx, set))
      this.#faults.delete(family)
      return part
    } catch (cause) {
      if (!isUnusable(cause)) throw cause
      const why = describeCause(cause)
      const message = 'The links of a family of replication cannot be made: its records cannot be used'
      if (this.#faults.get(family) !== why) this.#log('error', message, { family, cause: why })
      this.#faults.set(family, why)
      return this.#last.get(family)
    }
  }

  /** A record that cannot be used keeps a former primary from hearing that it was replaced, and nothing else. */
  async #formers(tx: SetReader, set: SetName): Promise<readonly FormerPart[]> {
    const unusable = (cause: unknown): void => {
      if (!isUnusable(cause)) throw cause
      const fields = { family: set.family, cause: describeCause(cause) }
      this.#log('error', 'A former primary cannot be told of the promotion: a record cannot be used', fields)
    }
    try {
      return await formerParts(tx, set, unusable)
    } catch (cause) {
      unusable(cause)
      return []
    }
  }

  /** Forgets the private keys of this node's leaves. */
  forget(): void {
    this.#served.clear()
    this.#last.clear()
    this.#faults.clear()
  }

  async #primary(tx: SetReader, set: SetName, node: string): Promise<PrimaryPart> {
    const authorities = await readAuthorities(tx, set.family)
    const signing = signingOf(authorities, this.#world.clock.nowMs())
    const known = this.#served.get(set.family)
    const isKnown =
      known !== undefined &&
      this.#isGood(known) &&
      known.serverName === serverNameOf(set) &&
      known.authority.equals(signing.certificate)
    const served = isKnown ? known : await this.#newServed(tx, set, node, signing.untilMs)
    const trusting = withTrust(served, trustedOf(authorities))
    this.#served.set(set.family, trusting)
    return { role: 'primary', set, identity: trusting.identity }
  }

  /** One that was made while the clock was ahead is taken by nobody until then. */
  #isGood({ fromMs, dueMs }: Served): boolean {
    const nowMs = this.#world.clock.nowMs()
    return nowMs >= fromMs && nowMs < dueMs
  }

  /** Until `untilMs` at most: then another authority signs. */
  async #newServed(tx: SetReader, set: SetName, node: string, untilMs: number): Promise<Served> {
    const { random, clock } = this.#world
    const authority = await signingAuthority(tx, set.family, clock.nowMs())
    const scalar = newLeafKey(random)
    try {
      const peer = { ...set, role: 'primary', id: node } as const
      const certificate = newLeaf(authority, peer, publicKeyOf(scalar), { random, nowMs: clock.nowMs() })
      const identity = { key: loadScalar(P256, scalar), certificate, trusted: [authority.certificate] }
      const read = readCertificate(certificate)
      const dueMs = Math.min(renewalDueMs(read), untilMs)
      const made = { identity, authority: authority.certificate, fromMs: read.notBeforeMs, dueMs }
      return { serverName: serverNameOf(set), ...made }
    } finally {
      scalar.fill(0)
      authority.key.fill(0)
    }
  }

  async #secondary(tx: SetReader, set: SetName): Promise<SecondaryPart | undefined> {
    const found = await ownIdentity(tx, set.family)
    if (found === undefined) return undefined
    const { record, trusted, own, leaf } = found
    const identity = { key: loadScalar(P256, own.key), certificate: own.certificate, trusted }
    own.key.fill(0)
    const addresses = addressesOf(record)
    return { role: 'secondary', set, id: record.id, identity, renewalDueMs: renewalDueMs(leaf), addresses }
  }
}

/** As it is, if it trusts these already: links parse another object anew. */
function withTrust(served: Served, trusted: readonly Buffer[]): Served {
  const { identity } = served
  const isSame =
    identity.trusted.length === trusted.length && trusted.every((one, at) => identity.trusted[at]?.equals(one))
  return isSame ? served : { ...served, identity: { ...identity, trusted } }
}

const isUnusable = (cause: unknown): boolean =>
  [StorageCorrupt, CertificateRefused, DerError].some((kind) => cause instanceof kind)

/** What former primaries are told that do not know; none of a cluster that was never promoted. */
async function formerParts(
  tx: SetReader,
  set: SetName,
  unusable: (cause: unknown) => void,
): Promise<readonly FormerPart[]> {
  const promotion = (await readPromotions(tx, set.family)).at(-1)
  if (promotion === undefined) return []
  const { epoch } = promotion
  const historyId = decodeBase64(promotion.historyId)
  const called = await readCalled(tx, set.setId, unusable)
  return called.map(({ record, trusted, own, receiver, followed, before, historyId: replacedBy }) => {
    const identity = { key: loadScalar(P256, own.key), certificate: own.certificate, trusted }
    own.key.fill(0)
    const { publicKey } = x25519Key(receiver)
    receiver.fill(0)
    const takeover = { epoch, historyId, receiver: publicKey, followed, before }
    return { role: 'former', set, id: record.id, replacedBy, identity, addresses: addressesOf(record), takeover }
  })
}

const addressesOf = ({ clusterAddress, knownAddresses }: SecondaryIdentity): string[] => [
  ...new Set([clusterAddress, ...knownAddresses]),
]

/**
 * The families in which the records are of this cluster itself. What a DR secondary has of the other one is a copy of
 * what its primary is there: with it, it would serve that one's secondaries, or take its place.
 */
export async function ownFamilies(tx: SetReader): Promise<readonly ReplicationFamily[]> {
  const mode = (await readState(tx, 'dr'))?.mode
  return mode === 'secondary' || mode === 'bootstrapping' ? ['dr'] : REPLICATION_FAMILIES
}
