// The parts that this cluster has in its sets, as its links play them: with which certificate it serves, and whom it
// follows. Made from the records of the sets.
import { P256 } from '../../crypto/forms/ec-curves.ts'
import { loadScalar } from '../../crypto/forms/ec-private-key.ts'
import { readCertificate } from '../../crypto/signatures/certificate.ts'
import type { LinkIdentity } from '../../lib/links.ts'
import type { World } from '../../lib/world.ts'
import type { PrimaryPart, SecondaryPart, SetPart } from '../../replication/link/link-sides.ts'
import { newLeaf, newLeafKey, publicKeyOf, renewalDueMs } from '../../replication/set/certificates.ts'
import { REPLICATION_FAMILIES, type SetName, serverNameOf } from '../../replication/set/peer-name.ts'
import { storedAuthority } from '../../replication/set/primary-operations.ts'
import { readState, type SetReader } from '../../replication/set/records.ts'
import { ownIdentity } from '../../replication/set/secondary-operations.ts'
import type { ReplicationFamily } from '../../storage/peer-log.ts'

type Served = {
  readonly serverName: string
  readonly identity: LinkIdentity
  readonly fromMs: number
  readonly dueMs: number
}

/** Makes the parts. Leaves for servers are made once, and anew when they are due: they are stored nowhere. */
export class OwnParts {
  readonly #world: Pick<World, 'clock' | 'random'>
  readonly #served = new Map<ReplicationFamily, Served>()

  constructor(world: Pick<World, 'clock' | 'random'>) {
    this.#world = world
  }

  /** The parts now. `node` is the name of this node among those of its cluster. */
  async read(tx: SetReader, node: string): Promise<SetPart[]> {
    const parts: SetPart[] = []
    for (const family of await ownFamilies(tx)) {
      const state = await readState(tx, family)
      if (state === undefined) continue
      const set = { setId: state.setId, family }
      const part = state.mode === 'primary' ? await this.#primary(tx, set, node) : await this.#secondary(tx, set)
      if (part !== undefined) parts.push(part)
    }
    return parts
  }

  /** Forgets the private keys of this node's leaves. */
  forget(): void {
    this.#served.clear()
  }

  async #primary(tx: SetReader, set: SetName, node: string): Promise<PrimaryPart> {
    const nowMs = this.#world.clock.nowMs()
    const known = this.#served.get(set.family)
    // One that was made while the clock was ahead is taken by nobody until then.
    const isGood = known !== undefined && nowMs >= known.fromMs && nowMs < known.dueMs
    if (isGood && known.serverName === serverNameOf(set)) return { role: 'primary', set, identity: known.identity }
    const served = await this.#newServed(tx, set, node)
    this.#served.set(set.family, served)
    return { role: 'primary', set, identity: served.identity }
  }

  async #newServed(tx: SetReader, set: SetName, node: string): Promise<Served> {
    const { random, clock } = this.#world
    const authority = await storedAuthority(tx, set.family)
    const scalar = newLeafKey(random)
    try {
      const peer = { ...set, role: 'primary', id: node } as const
      const certificate = newLeaf(authority, peer, publicKeyOf(scalar), { random, nowMs: clock.nowMs() })
      const identity = { key: loadScalar(P256, scalar), certificate, trusted: [authority.certificate] }
      const read = readCertificate(certificate)
      return { serverName: serverNameOf(set), identity, fromMs: read.notBeforeMs, dueMs: renewalDueMs(read) }
    } finally {
      scalar.fill(0)
      authority.key.fill(0)
    }
  }

  async #secondary(tx: SetReader, set: SetName): Promise<SecondaryPart | undefined> {
    const found = await ownIdentity(tx, set.family)
    if (found === undefined) return undefined
    const { record, authority, own, leaf } = found
    const identity = { key: loadScalar(P256, own.key), certificate: own.certificate, trusted: [authority] }
    own.key.fill(0)
    const addresses = [...new Set([record.clusterAddress, ...record.knownAddresses])]
    return { role: 'secondary', set, id: record.id, identity, renewalDueMs: renewalDueMs(leaf), addresses }
  }
}

/**
 * The families in which the records are of this cluster itself. What a DR secondary has of the other one is a copy of
 * what its primary is there: with it, it would serve that one's secondaries, or take its place.
 */
async function ownFamilies(tx: SetReader): Promise<readonly ReplicationFamily[]> {
  const mode = (await readState(tx, 'dr'))?.mode
  return mode === 'secondary' || mode === 'bootstrapping' ? ['dr'] : REPLICATION_FAMILIES
}
